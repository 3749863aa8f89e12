import { words as steps } from "~/components/trace/words";
import { count, plural, series } from "~/lib/format";
import { toolName } from "~/lib/steps";
import type { Budget, ErrorCode, FactType, HeldBackReason, TagsMatch } from "~/platform/bindings";

/** Words of the screen of questions. */
export const strings = {
  title: "Reflect",
  questions: "Questions",
  newQuestion: "New question",
  earlier: "Earlier questions",
  noEarlier: "Questions you ask are kept here, with their answers and how they came about.",
  states: { running: "Running", failed: "Failed", cancelled: "Stopped" },
  question: "Question",
  placeholder: "Ask this bank something",
  ask: "Ask",
  askAgain: "Ask again",
  stop: "Stop",
  empty: "Write a question first.",
  reply: "Reply",
  work: "Answer and evidence",
  evidenceEdge: "Width of the evidence",
  stripEdge: "Width of the questions",
  traceEdge: "Height of the trace",

  options: {
    label: "Options",
    budget: "Budget",
    budgets: { low: "low", mid: "mid", high: "high" } satisfies Record<Budget, string>,
    budgetHelp: {
      low: "A few searches, quickest.",
      mid: "What most questions need.",
      high: "Looks further before it answers.",
    } satisfies Record<Budget, string>,
    tokens: "Answer up to",
    tokensField: "Tokens of the answer at most",
    tokensHelp: "From 64 to 16,384. Empty for the usual size.",
    tokensShown: (tokens: number | null) =>
      tokens === null ? "the usual size" : plural(tokens, "token"),
    tags: "Tags",
    tagsField: "Only memories with these tags",
    tagsHelp: "Separated by commas. Empty reads everything.",
    tagsShown: (tags: string[], match: TagsMatch) =>
      tags.length === 0 ? "any" : `${tags.map((tag) => `#${tag}`).join(" ")}, ${matchWords[match]}`,
    match: "How tags are compared",
    kinds: "Kinds",
    kindsField: "Kinds that are read",
    kindsShown: (kinds: FactType[]) =>
      kinds.length === 3 ? "all" : kinds.map((kind) => kindWords[kind].toLowerCase()).join(", "),
    excludeModels: "Leave out mental models",
    allRules: "Obey all rules",
    byGroups: "by an expression",
    byGroupsAbout: "This question was asked with an expression over tags. Tags take its place.",
    dropGroups: "Read everything",
    schema: "Fields",
    schemaNone: "none",
    schemaBroken: "not usable yet",
    schemaFields: (fields: number) => plural(fields, "field"),
    schemaUnusable: "The fields cannot be used yet; open them and see what is wrong.",
    schemaOf: "the answer",
    schemaBack: "Back to the question",
  },

  cost: {
    free: "Answered without a language model: nothing is spent.",
    nothing: "No language model, nothing spent",
    before: (
      calls: number,
      tokens: number,
      [fewest, most]: [number, number],
      [least, greatest]: [number, number],
      runs: number,
    ) =>
      `Probably ${plural(calls, "model call")} and ${about(tokens)} tokens (${span(count(fewest), count(most))} calls, ${span(about(least), about(greatest))} tokens), ${
        runs === 0
          ? "worked out from sizes: too few questions like it were asked here yet."
          : `as the last ${count(runs)} like it.`
      }`,
    took: (calls: number, input: number, output: number) =>
      `${plural(calls, "model call")}, ${plural(input, "token")} in, ${count(output)} out`,
    expected: (calls: number, tokens: number) =>
      `expected ${plural(calls, "call")} and ${about(tokens)} tokens`,
    ceiling: "The tokens of this day are spent: automatic work waits, a question still runs.",
  },

  compare: {
    open: "Compare",
    again: "Ask again and compare",
    with: "Compare with",
    title: "Two questions side by side",
    body: "What they share and where they differ",
    close: "Back to the answer",
    sides: ["This one", "The other"],
    asked: "How each was asked and what it took",
    alike: "The same in both:",
    answers: "Answers",
    answerOf: (side: string) => `Answer, ${side.toLowerCase()}`,
    evidence: "Evidence",
    only: (side: string, items: number) =>
      items === 0 ? `${side} has no source of its own.` : `Only ${side.toLowerCase()}: ${items}`,
    shared: (items: number) => `In both: ${plural(items, "source")}`,
    stepsOf: (side: string) => `Trace, ${side.toLowerCase()}`,
    noAnswer: "There is no answer.",
    allKinds: "all",
    none: "none",
    when: "When",
    by: "Written by",
    extractive: "statements of the bank, no language model",
    model: "a language model",
    rules: "Rules in force",
    took: "Took",
    calls: "Model calls",
    searches: "Searches",
    tokens: "Tokens",
    sources: "Sources",
  },

  file: {
    open: "Export",
    title: "Export this question",
    about: "Neither holds a key, nor what must stay on this computer.",
    part: "What is written",
    parts: { answer: "The answer, Markdown", record: "The whole record, JSON" },
    partsHelp: {
      answer: "With its sources as footnotes.",
      record: "Question, answer, sources and trace.",
    },
    folder: "Folder",
    folderHelp: "No file in it is written over.",
    blank: "Say into which folder.",
    choose: "Choose a folder",
    chooseTitle: "Folder for the file",
    act: "Export",
    cancel: "Cancel",
    saved: (path: string) => `Written to ${path}.`,
  },
  withheld: (sources: number) =>
    `${plural(sources, "source")} that must stay on this computer ${sources === 1 ? "was" : "were"} left out, with what rests on ${sources === 1 ? "it" : "them"}.`,

  sample: {
    title: "Ask what the bank knows",
    about:
      "An answer names the memories that it rests on, sentence by sentence. You can look at each, and at how they were found.",
    questions: "From this bank",
    none: "This bank has no memories yet. Add some, then ask.",
    toMemories: "Go to memories",
  },

  live: {
    label: "Progress",
    answer: "Answer so far",
    starting: "Getting ready",
    turn: (i: number, n: number) => `Turn ${i} of at most ${n}`,
    model: "The language model is thinking",
    waiting: (seconds: number | null) =>
      seconds === null
        ? "Waiting: the language model is busy with other work"
        : `Waiting: the language model takes no more requests for ${plural(seconds, "second")}`,
    tool: (tool: string, reason: string | null) =>
      reason ? `${toolName(tool)}: ${reason}` : toolName(tool),
    toolDone: (tool: string, results: number) => `${toolName(tool)}, ${plural(results, "result")}`,
    guard: steps.guards,
    closing: {
      done: "Writing the answer",
      iterations: "The last turn is used; writing the answer",
      text_stop: "Writing the answer",
      context: "The window of the model is nearly full; writing the answer",
    },
    structured: "Filling the fields",
    elapsed: (seconds: number) => `${seconds} s`,
    tokens: (tokens: number) => plural(tokens, "token"),
    done: "The answer is here.",
    stopped: "Stopped.",
    stopping: "Stopping",
    elsewhere: "This question is still being answered.",
  },

  answer: {
    label: "Answer",
    source: (number: number, text: string) => `source ${number}: ${text}`,
    noSource: "No source given",
    wholeOnly:
      "The sources were named for the answer as a whole, not sentence by sentence. They stand beside it.",
    extractive: "No language model wrote this",
    extractiveAbout: "The sentences are statements of the bank, chosen and put in order.",
    confidence: {
      found: "Found",
      nearest: "Nearest match",
      nothing: "Nothing found",
    },
    nearest: "These statements are leads, not an answer.",
    nothing:
      "The bank holds nothing about this. Other words may find it; so may a wider scope, or adding what you know.",
    nothingMore: "Other words may find it; so may a wider scope, or adding what you know.",
    widen: "Ask without limits",
    addFact: "Add a fact",
    dropped: (count: number) =>
      `${plural(count, "source")} that nothing had found ${count === 1 ? "was" : "were"} left out.`,
    pending: (count: number) =>
      `${plural(count, "fact")} not folded into observations yet when this was asked.`,
    copy: "Copy",
    notCopied: "The answer was not copied.",
    copyText: "As text",
    copyMarkdown: "As Markdown with sources",
    copyJson: "As JSON",
    save: "Save as model",
    noText: "There is no answer to save.",
    cancelled: "This question was stopped before it was answered.",
    structured: "Fields",
    tokens: (input: number, output: number) => `${plural(input, "token")} in, ${count(output)} out`,
    shape: "How the fields are shown",
    shapes: { fields: "Fields", json: "JSON" },
    nothingMatches: "Nothing in the answer fits the fields that were asked for.",
    noFields: "The fields could not be filled:",
  },

  evidence: {
    label: "Evidence",
    tabs: {
      world: "World",
      experience: "Experience",
      observation: "Observations",
      "mental-models": "Models",
      directives: "Directives",
    } as Record<string, string>,
    none: "Nothing of this kind was used.",
    cited: (times: number) =>
      times === 0
        ? "not tied to a sentence"
        : times === 1
          ? "cited once"
          : times === 2
            ? "cited twice"
            : `cited ${times} times`,
    foundBy: (tools: string[]) => `Found by ${series(tools.map(toolName)).toLowerCase()}`,
    unused: (count: number) => `Show ${count} retrieved and not used`,
    notUsed: "Retrieved, not used",
  },

  rules: {
    label: "Rules of this answer",
    applied: "Rules applied",
    held: {
      scope: "Held back: scope",
      inactive: "Held back: switched off",
      extractive: "Held back: no language model",
    } satisfies Record<HeldBackReason, string>,
    unnamed: "a rule without a name",
  },

  twoMinds: {
    title: "One question, two dispositions",
    about:
      "Both are asked at once and kept among your questions. Each costs what a question costs.",
    back: "Back to the directives",
    sides: { left: "Left disposition", right: "Right disposition" },
    answerOf: (side: string) => `Answer: ${side.toLowerCase()}`,
    alike: "Both dispositions are the same; move a slider of one of them.",
    noModel:
      "A disposition tells a language model how to read and write, and none answers now: both answers would be the same statements.",
    change: "Change",
    hide: "Hide the sliders",
    alone: "Sources that only this answer used",
    sameSources: "None: the other answer used them too.",
    whole: "Show it with its evidence",
  },

  remedies: {
    evidence_unavailable:
      "The search itself did not work, so nothing was asked of the model. Your memories are untouched.",
    empty_answer: "Asking again often helps; so does a larger model or a smaller budget.",
    model_lacks_tools:
      "Choose a model that can call tools, or turn to the answers without a language model in the settings.",
    context_overflow: "Lower the budget or narrow the tags and kinds, then ask again.",
    provider_not_configured:
      "Connect a language model, or turn on the answers without one, in the settings.",
  } as Partial<Record<ErrorCode, string>>,
  settings: "Open settings",
  goesOn: "Another try goes on from what was found; nothing is searched for again.",
} as const;

/** A figure that is only expected: two places are all it can promise. */
function about(value: number): string {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(value, 1))) - 1);
  return count(Math.round(value / unit) * unit);
}

const span = (from: string, to: string) => (from === to ? from : `${from} to ${to}`);

const kindWords: Record<FactType, string> = {
  world: "World",
  experience: "Experience",
  observation: "Observations",
};

export const matchWords: Record<TagsMatch, string> = {
  any: "any of them, or none at all",
  all: "all of them, or none at all",
  any_strict: "any of them",
  all_strict: "all of them",
  exact: "exactly these",
};

export { kindWords };
