import { count, plural } from "~/lib/format";

/** Words of the list of models, of the form that makes one, and of the screen of one. */
export const strings = {
  title: "Models",
  newModel: "New model",
  filter: "Name or question",
  state: "State",
  tags: "Tags",
  noTags: "No model carries a tag",
  columns: {
    state: "State",
    name: "Name",
    schedule: "Schedule",
    next: "next",
    refreshed: "Refreshed",
    readTo: "Read to",
    waiting: "Waiting",
    size: "Tokens",
  },
  allTags: "All of the ticked ones",
  schedules: { manual: "Manual", after: "After observations change", cron: "On a schedule" },
  bulk: {
    select: (name: string) => `Select ${name}`,
    selected: (count: number) => `${plural(count, "model")} selected`,
    none: "Select none",
    refresh: "Refresh",
    dryRun: "Dry run",
    schedule: "Schedule…",
    tags: "Tags…",
    remove: "Delete…",
    export: "Save as files…",
    exportTitle: "Where should the files be written?",
    exported: (files: number) => `${plural(files, "file")} written`,
    scheduleTitle: (count: number) => `When ${plural(count, "model")} refresh`,
    tagsTitle: (count: number) => `Add tags to ${plural(count, "model")}`,
    tagsField: "Tags to add, separated by commas",
    tagsHelp: "Tags are the scope too: a model then reads other memories.",
    clear: "Clear…",
    clearTitle: (count: number) => `Clear ${plural(count, "document")}?`,
    clearAbout:
      "Each begins anew at its next refresh. What is there now stays in the history and can be brought back.",
    clearAct: "Clear them",
    cleared: (count: number) => `${plural(count, "document")} cleared`,
    nothingWritten: "None of them has been written yet",
    removeTitle: (count: number) => `Delete ${plural(count, "model")}?`,
    removeAbout:
      "Their documents, versions and proposals go for good. The memories stay; published files stay where they are.",
    removeAct: "Delete for good",
    back: "Leave it",
    save: "Save",
    changed: (count: number) => `${plural(count, "model")} changed`,
    removed: (count: number) => `${plural(count, "model")} deleted`,
    inReview: (count: number) =>
      `${plural(count, "model")} ${count === 1 ? "is" : "are"} under review and ${count === 1 ? "was" : "were"} left out`,
  },
  dryRuns: {
    title: "Dry runs",
    list: "What each dry run says",
    done: (done: number, all: number) => `${count(done)} of ${count(all)} done, nothing is written`,
    busy: "The dry runs that were asked for are not done yet.",
    stop: "Stop",
    close: "Close the dry runs",
    look: (name: string) => `Look at ${name}`,
    states: {
      waiting: "Waiting",
      running: "Running",
      done: "Done",
      failed: "Failed",
      stopped: "Stopped",
    },
    propose: (changes: number) => `${plural(changes, "change")} would wait for review`,
    publish: "A new version would be published",
    nothing: "Nothing would change",
  },
  manual: "Manual",
  afterConsolidation: "After observations",
  behind: (behind: number, never: number) =>
    [
      behind > 0 && `${plural(behind, "model")} ${behind === 1 ? "is" : "are"} behind`,
      never > 0 && `${never} ${never === 1 ? "was" : "were"} never refreshed`,
    ]
      .filter(Boolean)
      .join(" and "),
  refreshAll: (count: number) => (count === 1 ? "Refresh it" : `Refresh all ${count}`),
  queued: (name: string) => `Refresh of ${name} is queued`,
  queuedAll: (count: number) => `${plural(count, "refresh", "refreshes")} queued`,
  noneActive: "Choose a model first",
  nothingBehind: "No model is behind",
  size: (tokens: number, limit: number) => `${tokens} of ${limit} tokens`,
  empty: {
    title: "No models yet",
    about:
      "A model is a question whose answer is kept as a document and refreshed as the bank learns more.",
    example: "Where does the work stand, who does what, and what was decided?",
    templates: "Begin with one of these",
  },
  noneMatch: {
    title: "No model matches these filters",
    about: (count: number) => `${plural(count, "model")} in this bank.`,
    clear: "Clear filters",
  },
  templates: [
    {
      id: "status",
      name: "Project status",
      about: "where things stand, decisions, risks",
      question:
        "Where does the project stand, who does what, what was decided, and what is at risk?",
    },
    {
      id: "people",
      name: "People",
      about: "who does what",
      question: "Who is involved, what does each of them do, and how do they work together?",
    },
    {
      id: "glossary",
      name: "Glossary",
      about: "the words you use for things",
      question: "Which words do we use for which things, and what do they mean?",
    },
  ],
  warnings: {
    grounding_retracted: "Evidence gone",
    query_changed: "Question changed",
    carry_over: "Facts carried over",
  } as Record<string, string>,
} as const;
