import { count, plural } from "~/lib/format";
import type { FactType, Way } from "~/platform/bindings";

/** Words of the list of memories and of one memory. */
export const strings = {
  title: "Memories",
  list: "List of memories",
  detailEdge: "Width of the detail",
  mode: "How it is searched",
  modes: { words: "Exact words", meaning: "Meaning", recall: "Recall" },
  tagMenu: "Tags",
  tagMenuOf: (chosen: number) => `Tags, ${chosen} chosen`,
  findTag: "Find a tag",
  noTags: "No memory carries a tag yet.",
  noTagFound: "No tag holds these letters.",
  moreTags: (n: number) => `${count(n)} more: write a few letters to find them.`,
  filter: "Words, or kind: tag: entity: after: before: doc: state:",
  filterLabel: "Filter memories",
  token: (name: string, value: string) => `${name} ${value}, edit`,
  removeToken: (name: string, value: string) => `Remove ${name} ${value}`,
  unusable: (token: string) =>
    `“${token}” cannot be used. Dates are written 2026-02-14; kinds are world, experience, observation; states are valid, invalidated.`,
  recallUses: "This search looks at words, kinds and tags; the other filters rest meanwhile.",
  ask: {
    meaning: "Write what you look for, in any words. What means the same comes first.",
    recall:
      "Write what you look for. Recall searches by meaning, words, connections and time at once.",
  },
  suggestions: "Suggestions",
  add: "Add a fact",
  keep: "Keep a text",
  importFiles: "Import files",
  more: "More",
  segments: "Kinds",
  all: "All",
  kinds: {
    world: "World",
    experience: "Experience",
    observation: "Observations",
  } satisfies Record<FactType, string>,
  kind: {
    world: "World",
    experience: "Experience",
    observation: "Observation",
  } satisfies Record<FactType, string>,
  of: (shown: number, total: number) =>
    shown === total ? plural(total, "memory", "memories") : `${count(shown)} of ${count(total)}`,
  found: (hits: number, ms: number) => `${plural(hits, "hit")} in ${Math.round(ms)} ms`,
  skipped: (way: string, reason: string) =>
    `Not searched by ${way}: ${skipReasons[reason] ?? reason.replaceAll("_", " ")}.`,
  window: (from: string, to: string) => `Read as the time from ${from} to ${to}.`,
  ways: {
    semantic: "Meaning",
    keyword: "Words",
    graph: "Connections",
    temporal: "Time",
  } satisfies Record<Way, string>,
  proofs: (proofs: number) => plural(proofs, "proof"),
  edited: "Edited",
  invalidated: "Invalidated",
  isNew: "New",
  newAbout: "Not folded into observations yet",
  place: (rank: number) => `Place ${rank}`,

  empty: {
    title: "No memories yet",
    about:
      "A memory is one statement: something that holds, or that somebody lived through. Documents are written from them.",
    example: "The landlord hands over the keys on 2 February.",
  },
  none: {
    title: "Nothing matches these filters",
    about: "The bank has memories, but none that all of this holds for.",
    clear: "Clear filters",
    recall: "Search by recall instead",
  },

  detail: {
    label: "Memory",
    says: "What it says and rests on",
    none: "Choose a memory to see where it comes from and what rests on it.",
    edit: "Edit",
    invalidate: "Invalidate",
    restore: "Restore",
    remove: "Delete…",
    close: "Back to the list",
    copyText: "Copy as text",
    copyJson: "Copy as JSON",
    copyId: "Copy the id",
    context: "Context",
    occurred: "Occurred",
    to: (from: string, to: string) => (from === to ? from : `${from} to ${to}`),
    mentioned: "Mentioned",
    learned: "Learned",
    changed: "Changed",
    entities: "Entities",
    tags: "Tags",
    document: "Document",
    reason: "Invalidated because",
    noReason: "no reason was given",
    passage: "Passage",
    wholePassage: "Show the whole passage",
    lessPassage: "Show less",
    observations: (n: number) => `${plural(n, "observation")} built on this`,
    sources: (n: number) => `Built on ${plural(n, "fact")}`,
    citedBy: (n: number) => `Cited by ${plural(n, "model")}`,
    why: "Why it was found",
    way: (rank: number, score: string) => `place ${rank}, ${score}`,
    overall: "Overall",
  },

  folding: {
    started: "Facts are being folded into observations.",
    waits: "Facts wait that may change this.",
    review: "It lost a fact that it rested on and is written anew the next time facts are folded.",
    changes: (n: number) => `Changed ${plural(n, "time")}`,
    before: "It said before:",
    since: "Rests on since:",
    gone: "a fact that is gone",
    notFolded: "Could not be folded into observations",
  },

  notUndone: "It was not taken back: what you did stands.",

  factForm: {
    addTitle: "Add a fact",
    addAbout: "One statement that stands by itself: who, what, where.",
    editTitle: "Edit the fact",
    editAbout: "Models that cite it are read anew at their next refresh.",
    text: "Statement",
    kind: "Kind",
    world: "World: something that holds",
    experience: "Experience: something that was lived through",
    context: "Context",
    from: "Happened on",
    to: "Until",
    dateHelp: "Like 2026-02-14. Empty when it has no date.",
    badDate: "Write the date like 2026-02-14.",
    tags: "Tags",
    tagsHelp: "Separated by commas",
    entities: "People, places and things",
    entitiesHelp: "Separated by commas; names as you write them",
    blank: "Write the statement.",
    cancel: "Cancel",
    save: "Save",
    add: "Add",
    added: "The fact was added.",
    saved: "The fact was changed.",
    undo: "Undo",
  },

  invalidate: {
    title: "Invalidate this fact?",
    about: "It stays in the bank but is no longer read. You can restore it at any time.",
    reason: "Why it no longer holds",
    reasonHelp: "For yourself; may be left empty.",
    act: "Invalidate",
    done: "The fact is no longer read.",
    restored: "The fact is read again.",
  },

  remove: {
    unknown: "What rests on it must be known first.",
    title: "Delete this memory for good?",
    about: "It cannot be brought back. Invalidating keeps it, set aside.",
    reach: (observations: number, models: number) => {
      if (observations + models === 0) return "Nothing rests on it.";
      const parts = [
        ...(observations > 0 ? [plural(observations, "observation")] : []),
        ...(models > 0 ? [plural(models, "model")] : []),
      ];
      return `${parts.join(" and ")} ${observations + models === 1 ? "rests" : "rest"} on it and will be looked at again.`;
    },
    keep: "Keep it",
    act: "Delete",
    done: "The memory was deleted.",
  },
} as const;

const skipReasons: Record<string, string> = {
  no_embedder: "the part that reads meaning is not ready",
  off: "it is switched off for this bank",
  no_words: "there are no words to look for",
  nothing_to_start_from: "nothing was found to start from",
  no_time_in_query: "the words name no time",
};
