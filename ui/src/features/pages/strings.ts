import { count, plural } from "~/lib/format";
import type { ImportedPage } from "~/platform/bindings";

/** Words of the models as folders and pages. */
export const strings = {
  title: "Models",
  layout: "How models are shown",
  layouts: { list: "List", folders: "Folders" },
  tree: "Folders and pages",
  edge: "Width of the detail",
  detail: "Folder or page",
  find: "Find a page",
  hits: "Pages found",
  noHits: {
    title: "No page matches",
    about: "Pages are found by their words and by what they mean.",
    clear: "Clear the search",
  },
  newPage: "New page",
  newFolder: "New folder",
  export: "Save all as files…",
  exportTitle: "Where should the pages be written?",
  exported: (files: number) => `${plural(files, "file")} written.`,
  nothingToExport: "There is no page to save yet.",
  noneChosen: "Choose a folder or page first.",
  root: "Top level",
  about:
    "A page is a model with a place of its own. Models made in the list have none and stay there.",
  counts: (folders: number, pages: number) =>
    `${plural(folders, "folder")}, ${plural(pages, "page")}`,
  empty: {
    title: "No pages yet",
    about:
      "Folders and pages order what is kept into something to browse and to save as files. A page is a question whose answer is kept as a document.",
    example: "People › Who keeps the machines running?",
  },
  row: {
    folder: "folder",
    page: "page",
    holds: (n: number) => (n === 0 ? "empty" : count(n)),
    managed: "Kept by the program",
  },
  folder: {
    empty: "Nothing lies in this folder yet.",
    inside: (n: number) => `Holds ${count(n)}`,
    changed: "Changed",
  },
  page: {
    open: "Open the document",
    review: (n: number) => `Review ${plural(n, "change")}`,
    question: "Question",
    tags: "Tags",
    starts: "Starts",
    manual: "When you ask for it",
    after: "After observations change",
    decides: "Changes",
    decidesWords: { manual: "You decide on them", auto: "They are published at once" },
    refreshed: "Refreshed",
    never: "Not yet",
    where: (path: string[]) => (path.length > 0 ? `In ${path.join(" › ")}` : "At the top level"),
    text: "Document",
    none: "Nothing has been written yet. Open it to refresh it.",
    copy: "Copy as Markdown",
  },
  acts: {
    more: (name: string) => `More about ${name}`,
    rename: "Rename…",
    move: "Move to…",
    up: "Move up",
    down: "Move down",
    in: "Move into the folder above",
    out: "Move out of the folder",
    remove: "Delete…",
    undo: "Undo",
    notUndone: "It was not taken back: what you did stands.",
    noStep: {
      up: "It is the first already.",
      down: "It is the last already.",
      in: "There is no folder before it.",
      out: "It is at the top level already.",
    },
    moved: (name: string, place: number, of: number, folder: string) =>
      `${name} is now ${place} of ${of} in ${folder}.`,
    renamed: (name: string) => `It is called ${name} now.`,
    removed: (name: string) => `${name} was deleted.`,
    madeFolder: (name: string) => `The folder ${name} was made.`,
    madePage: (name: string) => `The page ${name} was made and is being written.`,
  },
  form: {
    newFolder: "New folder",
    newPage: "New page",
    rename: (name: string) => `Rename ${name}`,
    renamePage: "Its model gets the same name.",
    into: (folder: string) => `It is put into: ${folder}.`,
    name: "Name",
    blankName: "Give it a name.",
    question: "Question",
    questionHelp: "What the document answers. It is written from the observations of this bank.",
    blankQuestion: "Write the question it answers.",
    tags: "Tags",
    tagsHelp: "Separated by commas. With tags, only memories that carry them are read.",
    review: "Who decides what a refresh changes",
    manual: "You decide",
    manualHelp: "Each change waits for your review.",
    auto: "It is published at once",
    autoHelp: "You can look at it, and revert it, afterwards.",
    make: "Make it",
    save: "Save",
    cancel: "Cancel",
  },
  import: {
    open: "Import Markdown…",
    title: "Import Markdown",
    about:
      "Files that were saved from here come back as they were; notes of other programs fit too.",
    path: "File or folder",
    pathHelp: "A path on this computer. A folder is read with all Markdown below it.",
    chooseFolder: "Choose folder…",
    chooseFiles: "Choose files…",
    chooseTitle: "What should be read in?",
    blank: "Name a file or a folder first.",
    kind: "What they become",
    pages: "Pages",
    pagesHelp: (folder: string | undefined) =>
      `${folder === undefined ? "Put at the top level" : `Put into ${folder}`}. Folders among the files become folders here.`,
    models: "Models without a place",
    modelsHelp: "They are kept in the list, not among the folders.",
    conflict: {
      pages: "When the page a file was saved from, or one of its name, is there already",
      models: "When the model that a file was saved from is there already",
    },
    skip: "Keep what is here",
    skipHelp: "The file is left out.",
    replace: "Replace its document",
    replaceHelp: "The earlier document stays in its history, and its settings stay.",
    twin: "Make another one",
    twinHelp: {
      pages: "Both are kept; a number is put behind the name of the new one.",
      models: "Both are kept under the same name.",
    },
    manualHelp: "Each change waits for your review. What is replaced keeps its own setting.",
    act: "Import",
    reading: "Importing…",
    goesOn: "You can close this: it goes on.",
    close: "Close",
    notRead: "The files were not read in: nothing was changed.",
    done: "Import finished",
    nothing: "Nothing was imported",
    result: (imported: readonly ImportedPage[], left: number) => {
      const replaced = imported.filter((each) => each.replaced).length;
      const made = imported.filter((each) => !each.replaced);
      const one = made.some(({ page_id }) => page_id !== null) ? "page" : "model";
      const parts = [
        ...(made.length > 0 ? [`${plural(made.length, one)} made`] : []),
        ...(replaced > 0 ? [`${count(replaced)} replaced`] : []),
        ...(left > 0 ? [`${count(left)} left out`] : []),
      ];
      return parts.length > 0 ? `${parts.join(", ")}.` : "Nothing was read in.";
    },
    noneFound: "There is no Markdown file there. Choose another file or folder.",
    inTheList: "Models are found in the list, not among the folders.",
    leftNext:
      "Each says why. What is here already comes in when you import again and replace it or make another.",
    files: "What became of the files",
    called: (name: string) => `It is called ${name}.`,
    fates: { left: "Left out", replaced: "Replaced", made: "Made" },
    another: "Import more",
    finish: "Done",
  },
  move: {
    title: (name: string) => `Move ${name}`,
    about: "It is put last there. Its address and its document stay as they are.",
    folders: "Folders",
    find: "Find a folder",
    none: "No folder has these letters in its name.",
    here: "It lies there already",
    act: "Move it here",
  },
  remove: {
    title: (name: string) => `Delete ${name} for good?`,
    page: "The page goes with its model: its document, all versions, and what waits for review.",
    folder: (pages: number, folders: number) =>
      [
        pages === 0 && folders === 0 ? "The folder is empty." : null,
        pages > 0
          ? `${plural(pages, "page")} in it ${pages === 1 ? "goes" : "go"} with their models, documents and versions.`
          : null,
        folders > 0 ? `So ${folders === 1 ? "does" : "do"} ${plural(folders, "folder")}.` : null,
      ]
        .filter(Boolean)
        .join(" "),
    stays: "The memories stay. Files that were published stay where they are.",
    keep: "Keep it",
    act: "Delete for good",
  },
} as const;
