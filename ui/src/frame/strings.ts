/** Words of the frame: bar, rail, palette, sheet of keys. */
export const strings = {
  skip: "Skip to content",
  menu: "Menu",
  navigation: "Main",
  search: "Search or run a command",
  banks: "Banks",
  newBank: {
    item: "New bank…",
    title: "New bank",
    about: "A bank is a memory of its own: its facts, documents and models stay by themselves.",
    name: "Name",
    example: "My notes",
    blank: "Give the bank a name.",
    cancel: "Cancel",
    make: "Make the bank",
  },
  bankCounts: (facts: string, waiting: number) =>
    waiting > 0 ? `${facts}, ${waiting} to review` : facts,
  switchBank: (name: string) => `Bank ${name}, switch`,
  noActivity: "Nothing is running",
  running: (count: number) => `${count} running`,
  waiting: (count: number) => `${count} waiting`,
  activity: "Activity",
  cancel: "Stop",
  stage: (stage: string, processed: number | null, total: number | null) =>
    processed !== null && total !== null ? `${stage}, ${processed} of ${total}` : stage,
  operation: (type: string, subject: string | null) => {
    const names: Record<string, string> = {
      refresh_mental_model: "Refresh",
      retain: "Store text",
      import: "Import",
      consolidation: "Fold into observations",
      embed_backfill: "Compute vectors",
    };
    const name = names[type] ?? type.replaceAll("_", " ");
    return subject ? `${name} of ${subject}` : name;
  },
  palette: {
    title: "Command palette",
    here: "On this screen",
    goTo: "Go to",
    everywhere: "Everywhere",
    models: "Models",
    memories: "Memories",
    banks: "Banks",
    documents: "Documents",
    none: "Nothing matches. Try a shorter word.",
    results: (count: number) => (count === 1 ? "1 result" : `${count} results`),
    choose: "choose",
    run: "run",
    close: "close",
    commandsOnly: "commands",
    modelsOnly: "models",
  },
  unattended: {
    firstRun: "Nothing of yours is lost; the first page is shown again at the next start.",
    bank: "Nothing of yours is lost; the next start may open another bank.",
  },
  help: {
    title: "Keys of this screen",
    about:
      "Single letters work while nothing is being typed. They can be switched off in Settings.",
    close: "Close",
  },
  blocked: {
    title: "Palimpsest could not open its data",
    again: "Try again",
    choose: "Choose another folder",
    chooseTitle: "Choose a folder for the data",
    folder: "Folder",
    untouched: "Nothing in the folder was changed.",
  },
} as const;
