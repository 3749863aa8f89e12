import { plural } from "~/lib/format";
import type { ExtractionMode, ImportKind } from "~/platform/bindings";

/** Words of reading files in and of keeping a text. */
export const strings = {
  title: "Import files",
  about:
    "Text, Markdown and HTML become documents; JSON and JSON lines are read as ready-made facts. Nothing is written before you have seen the plan.",
  path: "File or folder",
  pathHelp: "A path on this computer. A folder is read with all below it.",
  chooseFolder: "Choose folder…",
  chooseFiles: "Choose files…",
  chooseTitle: "What should be read?",
  look: "Show the plan",
  blank: "Name a file or a folder first.",
  tags: "Tags for everything read",
  tagsHelp: "Separated by commas",
  mode: "How texts are read",
  modes: {
    chunks: "As passages",
    concise: "As facts, by the language model",
  } satisfies Record<ExtractionMode, string>,
  modeHelp: {
    chunks: "Each passage is kept as it stands. Works without a language model.",
    concise: "The language model reads statements out of each passage.",
  } satisfies Record<ExtractionMode, string>,
  needsModel: "Needs a language model; none is set up.",
  choice: "What to read",
  plan: "Plan",
  files: "Files",
  skippedList: "Lines that were skipped",
  planOf: (documents: number, facts: number, left: number) =>
    [
      plural(documents, "document"),
      ...(facts > 0 ? [plural(facts, "file of facts", "files of facts")] : []),
      ...(left > 0 ? [`${left} left out`] : []),
    ].join(", "),
  emptyPlan: "Nothing was found there.",
  nothingToRead: "None of these files can be read in.",
  kinds: {
    facts: "Facts",
    document: "Document",
    left_out: "Left out",
  } satisfies Record<ImportKind, string>,
  start: (files: number) => (files === 0 ? "Import" : `Import ${plural(files, "file")}`),
  cancel: "Cancel",
  progress: "Import",
  waiting: "Waiting for its turn",
  stop: "Stop",
  stopping: "Stopping: the passage at hand is finished first",
  stored: (n: number) => `${plural(n, "memory", "memories")} stored so far`,
  ofTotal: (processed: number, total: number) => `${processed} of ${total}`,
  done: "Import finished",
  result: (documents: number, facts: number) =>
    `${plural(documents, "document")} and ${plural(facts, "fact")} were read in.`,
  keptHere: (documents: number) =>
    documents === 1
      ? "1 document was kept passage by passage, without the model: a tag keeps it on this computer, and the model is elsewhere."
      : `${documents} documents were kept passage by passage, without the model: a tag keeps them on this computer, and the model is elsewhere.`,
  skipped: (lines: number) =>
    `${plural(lines, "file or line", "files and lines")} could not be read`,
  skippedAt: (file: string, line: number | null) =>
    line === null ? file : `${file}, line ${line}`,
  cancelled: "The import was stopped",
  keptSome: (n: number) => `${plural(n, "memory", "memories")} had been stored and stay.`,
  keptNone: "Nothing had been stored yet.",
  goOn: "Go on with it",
  failed: "The import did not finish",
  see: "See the memories",
  another: "Import more",
  makeModel: "Make a model of it",

  retain: {
    title: "Keep a text",
    about: "The text is kept as a document and read into memories.",
    text: "Text",
    name: "Title",
    context: "Context",
    contextHelp: "A short label that is stored on each memory",
    written: "Written on",
    dateHelp: "Like 2026-02-14. Empty for today.",
    badDate: "Write the date like 2026-02-14.",
    blank: "Write or paste a text.",
    act: "Keep the text",
    kept: (title: string) => `“${title}” is being read in.`,
    untitled: "The text",
    begun: "You had begun this and not kept it yet.",
    anew: "Begin anew",
    options: "Options",
    modeOnly: "Reading facts out of it needs a language model; none is set up.",
  },
} as const;
