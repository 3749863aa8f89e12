import { plural } from "~/lib/format";
import type { HeldBackReason, TagsMatch } from "~/platform/bindings";

const hashed = (tags: readonly string[]) => tags.map((tag) => `#${tag}`);

/** Words of the screen of directives, disposition and missions. */
export const strings = {
  title: "Directives",
  list: "Directives",
  detail: "Directive",
  stance: "Disposition and missions",
  edge: "Width of the right side",
  parts: "What is shown",
  part: { directives: "Directives", stance: "Disposition and missions" },
  add: "New directive",
  find: "Find a directive",
  undo: "Undo",
  notUndone: "It could not be taken back.",
  noneChosen: "Choose a directive first.",
  first: "It stands first already.",
  last: "It stands last already.",

  row: {
    everywhere: "applies to every question",
    only: (tags: readonly string[]) => `only with ${hashed(tags).join(" or ")}`,
    off: "Off",
    applies: "Applies",
    held: { scope: "Held back", inactive: "Off", extractive: "Held back" } satisfies Record<
      HeldBackReason,
      string
    >,
    priority: (priority: number) => `Priority ${priority}`,
    unnamed: "No name",
  },

  check: {
    label: "Which rules apply",
    tags: "Which rules apply for tags",
    placeholder: "no tags",
    match: "How the tags are compared",
    matches: {
      any: "any of them, or none at all",
      all: "all of them, or none at all",
      any_strict: "any of them",
      all_strict: "all of them",
      exact: "exactly these",
    } satisfies Record<TagsMatch, string>,
    all: "Apply all rules",
    known: "Tags of your rules",
    told: (apply: number, scope: number, off: number) =>
      [
        apply === 0
          ? "No rule applies"
          : `${plural(apply, "rule")} ${apply === 1 ? "applies" : "apply"}`,
        ...(scope > 0 ? [`${scope} held back by ${scope === 1 ? "its" : "their"} tags`] : []),
        ...(off > 0 ? [`${off} switched off`] : []),
      ].join(", "),
    extractive:
      "No language model answers now, so no rule can be obeyed: answers are made of the statements themselves, and list their rules as held back.",
    toModels: "Language models",
  },

  empty: {
    title: "Rules that every answer keeps",
    about:
      "A directive is an order to the language model that nothing in the memories can overrule. With tags it holds only for questions and documents with those tags.",
    examples: "For example",
    use: (name: string) => `Begin with this: ${name}`,
    begin: "Begin with this",
    rules: [
      {
        name: "Dates",
        content: "Give every date with day, month and year, never “last week”.",
        tags: "",
      },
      {
        name: "Safety first",
        content: "Where a machine or a chemical is named, say in one sentence what can go wrong.",
        tags: "safety",
      },
    ],
  },
  notFound: {
    title: "No directive reads like that",
    about: "Names, rules and tags were searched.",
    clear: "Clear the search",
  },
  gone: {
    title: "This directive is not there",
    about: "It was deleted, or belongs to another bank.",
    back: "Back to the list",
  },

  form: {
    newTitle: "New directive",
    name: "Name",
    nameHelp: "For you to find it by. May be empty.",
    content: "Rule",
    contentHelp: "Said to the language model as it stands, and kept silently.",
    blank: "Write what should be kept.",
    tags: "Tags",
    tagsHelp: "Separated by commas. Without any it applies to every question.",
    priority: "Priority",
    priorityHelp: "Higher is told first. Moving it up or down sets this by itself.",
    notWhole: "Write a whole number.",
    save: "Save",
    create: "Add directive",
    unchanged: "Nothing has been changed.",
    close: "Close",
    discard: "Throw away",
    begun: "What you had begun is still here.",
    saved: (name: string) => `“${name}” is saved.`,
    made: (name: string) => `“${name}” is added.`,
    on: "On",
    off: "Off: no answer keeps it",
    switchOn: "Switch on",
    switchOff: "Switch off",
    switched: (name: string, on: boolean) => `“${name}” is switched ${on ? "on" : "off"}.`,
    up: "Move up",
    down: "Move down",
    moved: (name: string, place: number, of: number) =>
      `“${name}” is number ${place} of ${of} now.`,
    more: "More",
    delete: "Delete",
    deleted: (name: string) => `“${name}” is deleted.`,
  },

  disposition: {
    title: "Disposition",
    about: "Colours how statements are read and told. It changes no facts, sources or rules.",
    compare: "Ask the same question with two settings",
    reset: "As all banks",
    saved: "Saved",
  },

  missions: {
    title: "Missions",
    saved: "Saved",
    none: "none",
    fields: {
      reflect_mission: {
        title: "For answers",
        about:
          "Who answers, and for whom. Takes the place of the usual role in answers and in refreshes of documents.",
        placeholder: "You look after the records of the workshop and advise its members.",
      },
      retain_mission: {
        title: "For texts that are kept",
        about:
          "What matters in a text: which facts are picked out of it, and which are passed over.",
        placeholder: "Keep agreements, dates and names. Leave small talk out.",
      },
      observations_mission: {
        title: "For observations",
        about: "What is worth folding into observations: which patterns are followed over time.",
        placeholder: "Follow how each machine wears and who looks after it.",
      },
    },
  },
} as const;
