import { count, duration, plural } from "~/lib/format";

/** Words of the schema builder. */
export const strings = {
  title: "Structured output",
  of: (name: string) => `of ${name}`,
  back: "Back to the settings",
  parts: "Parts of the builder",
  fields: "Fields",
  code: "Code",
  try: "Try it",
  undo: "Undo",
  redo: "Redo",
  remove: "Remove the schema",
  empty: "No fields yet",
  emptyAbout:
    "Fields are filled from the finished document, for programs and tables. Add one, begin with a template, or paste a sample.",
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
  problemAt: (line: number) => `line ${line}`,
  cannotSave: "The schema cannot be used yet; see the problems in it.",

  tryAct: "Try on the document",
  tryText: "Text to read",
  tryOwn: "Another text",
  tryDocument: "The present document",
  tryRunning: "Reading…",
  tryNone: "Nothing in the text matches the schema.",
  tryAbout: "Reads the text with the schema as it stands here. Nothing is saved.",
  tryEmpty: "There is no document yet. Paste a text to try the schema on.",
  results: "What came of it",
  missing: "Came back without a value",
  nothing: "nothing",
  found: "Found in",
  tries: "Earlier tries",
  tryAt: (number: number, tokens: number, ms: number) =>
    `Try ${number}: ${count(tokens)} tokens, ${duration(ms)}`,
} as const;
