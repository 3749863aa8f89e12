import { count, duration, plural } from "~/lib/format";

/** Where a schema belongs. */
export type Place = "model" | "question";

/** Words of the schema builder. */
export const strings = {
  title: "Structured output",
  of: (name: string) => `of ${name}`,
  /** What is called otherwise where the fields are those of a model, or of an answer. */
  places: {
    model: {
      back: "Back to the settings",
      document: "The present document",
      act: "Try on the document",
      none: "There is no document yet. Paste a text to try the schema on.",
      about:
        "Fields are filled from the finished document, for programs and tables. Add one, begin with a template, or paste a sample.",
    },
    question: {
      back: "Back to the question",
      document: "The last answer",
      act: "Try on the answer",
      none: "There is no answer yet. Paste a text to try the schema on.",
      about:
        "Fields are filled from the finished answer, for programs and tables. Add one, begin with a template, or paste a sample.",
    },
  },
  parts: "Parts of the builder",
  fields: "Fields",
  code: "Code",
  try: "Try it",
  undo: "Undo",
  redo: "Redo",
  remove: "Remove the schema",
  empty: "No fields yet",
  add: "Add a field",
  addChild: "Add a field inside",
  templates: "Templates",
  template: [
    {
      name: "Status",
      about: "state, next steps, risks",
      schema: {
        type: "object",
        properties: {
          status: { type: "string", enum: ["on track", "at risk", "late"] },
          next_steps: { type: "array", items: { type: "string" } },
          risks: { type: "array", items: { type: "string" } },
        },
        required: ["status"],
      },
    },
    {
      name: "People",
      about: "who, what each does",
      schema: {
        type: "object",
        properties: {
          people: {
            type: "array",
            items: {
              type: "object",
              properties: { name: { type: "string" }, role: { type: "string" } },
              required: ["name"],
            },
          },
        },
      },
    },
    {
      name: "Decisions",
      about: "what was decided, when",
      schema: {
        type: "object",
        properties: {
          decisions: {
            type: "array",
            items: {
              type: "object",
              properties: {
                decision: { type: "string" },
                date: { type: "string", format: "date" },
              },
              required: ["decision"],
            },
          },
        },
      },
    },
  ],
  sample: "From a sample",
  sampleTitle: "Fields from a sample",
  sampleAbout: "Paste an object as you would like to receive it; its values show the types.",
  sampleText: "Sample, JSON",
  sampleUse: "Make fields of it",
  sampleBack: "Leave it",
  sampleFault: (line: number, column: number, message: string) =>
    `Line ${line}, column ${column}: ${message}`,
  sampleShape: "The sample must be an object with at least one name.",

  tree: "Fields of the schema",
  row: (name: string, type: string, required: boolean) =>
    [name, type, required && "required"].filter(Boolean).join(", "),
  name: "Name",
  type: "Type",
  itemType: "Each item",
  required: "Required",
  description: "What belongs here",
  choices: "Allowed values, separated by commas",
  format: "Format, for example date",
  minimum: "Smallest",
  maximum: "Largest",
  kept: "Kept as written",
  types: {
    string: "Text",
    number: "Number",
    integer: "Whole number",
    boolean: "Yes or no",
    array: "List",
    object: "Object",
  },
  typeWritten: "As written",
  more: (name: string) => `More about ${name}`,
  duplicate: "Duplicate",
  delete: "Delete",
  up: "Move up",
  down: "Move down",
  grip: "Drag to another place",
  indent: "Move into the field above",
  outdent: "Move out",
  hint: "Enter adds, Alt and arrows move, Ctrl D duplicates, Ctrl Backspace deletes.",

  codeLabel: "Schema, JSON",
  stale: "The code cannot be read. The fields below are the last that could.",
  fault: (line: number, column: number, message: string) =>
    `Line ${line}, column ${column}: ${message}`,
  restore: "Go back to the last that could be read",
  sound: "The schema can be used.",
  problems: (problems: number) => plural(problems, "problem"),
  showProblem: "Show the field",
  tidy: "Format",
  copyCode: "Copy",
  fold: (name: string) => `Fold ${name}`,
  unfold: (name: string) => `Unfold ${name}`,
  inside: (fields: number) => plural(fields, "field"),
  problemAt: (line: number) => `line ${line}`,
  cannotSave: "The schema cannot be used yet; see the problems in it.",

  tryOwnAct: "Try on this text",
  tryText: "Text to read",
  tryOwn: "Another text",
  tryRunning: "Reading…",
  tryNone: "Nothing in the text matches the schema.",
  tryAbout: "Reads the text with the schema as it stands here. Nothing is saved.",
  results: "What came of it",
  missing: "Came back without a value",
  nothing: "nothing",
  found: "Found in",
  tries: "Earlier tries",
  tryAt: (number: number, tokens: number, ms: number) =>
    `Try ${number}: ${count(tokens)} tokens, ${duration(ms)}`,
} as const;
