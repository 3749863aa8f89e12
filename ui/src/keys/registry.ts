/**
 * Every command of the page: its words, its group, its keys, the screen it belongs to. Bindings,
 * palette, buttons' hints and the sheet of keys all read this table; nothing else names a key.
 *
 * Keys: `mod` is Ctrl, on a Mac Command. A blank separates the strokes of a sequence (`g r`).
 * Letters are written small; `shift+j` is the large one. Signs are written as they are typed (`?`).
 */

export interface CommandSpec {
  /** What it does, as an instruction. */
  words: string;
  /** Heading in palette and sheet. */
  group: Group;
  /** Each way to call it; the first is the one that is shown. */
  keys: readonly string[];
  /** Left out of the palette: it moves a focus and makes no sense from there. */
  keysOnly?: boolean;
  /** A key held down runs it again and again; all others run once for each press. */
  repeats?: boolean;
}

export type Group =
  | "Everywhere"
  | "Go to"
  | "Review"
  | "Models"
  | "Pages"
  | "Model"
  | "Schema"
  | "Reflect"
  | "Directives"
  | "Memories"
  | "Activity";

const commands = {
  "app.palette": {
    words: "Search or run a command",
    group: "Everywhere",
    keys: ["mod+k"],
    keysOnly: true,
  },
  "app.help": { words: "Keys of this screen", group: "Everywhere", keys: ["?"] },
  "app.banks": { words: "Switch bank", group: "Everywhere", keys: ["mod+b"] },
  "app.zoomIn": {
    words: "Larger text",
    group: "Everywhere",
    keys: ["mod+=", "mod++"],
    repeats: true,
  },
  "app.zoomOut": { words: "Smaller text", group: "Everywhere", keys: ["mod+-"], repeats: true },
  "app.zoomReset": { words: "Text at its own size", group: "Everywhere", keys: ["mod+0"] },
  "app.tour": { words: "Show the tour again", group: "Everywhere", keys: [] },
  "app.newBank": { words: "New bank", group: "Everywhere", keys: [] },
  "app.nextPane": { words: "Next pane", group: "Everywhere", keys: ["f6"], keysOnly: true },
  "app.previousPane": {
    words: "Previous pane",
    group: "Everywhere",
    keys: ["shift+f6"],
    keysOnly: true,
  },

  "go.review": { words: "Review", group: "Go to", keys: ["g r"] },
  "go.models": { words: "Models", group: "Go to", keys: ["g m"] },
  "go.reflect": { words: "Reflect", group: "Go to", keys: ["g f"] },
  "go.memories": { words: "Memories", group: "Go to", keys: ["g y"] },
  "go.directives": { words: "Directives", group: "Go to", keys: ["g i"] },
  "go.activity": { words: "Activity", group: "Go to", keys: ["g a"] },
  "go.settings": { words: "Settings", group: "Go to", keys: ["g s", "mod+,"] },

  "models.new": { words: "New model", group: "Models", keys: ["n"] },
  "models.filter": { words: "Filter models", group: "Models", keys: ["/"], keysOnly: true },
  "models.refresh": { words: "Refresh the chosen model", group: "Models", keys: ["r"] },
  "models.dryRun": { words: "Dry run of the chosen model", group: "Models", keys: ["d"] },
  "models.edit": { words: "Settings of the chosen model", group: "Models", keys: ["e"] },
  "models.history": { words: "History of the chosen model", group: "Models", keys: ["h"] },
  "models.refreshAll": { words: "Refresh all that are behind", group: "Models", keys: ["shift+r"] },
  "models.layout": { words: "List or folders", group: "Models", keys: ["v"] },

  "pages.newPage": { words: "New page", group: "Pages", keys: ["n"] },
  "pages.newFolder": { words: "New folder", group: "Pages", keys: ["shift+n"] },
  "pages.find": { words: "Find a page", group: "Pages", keys: ["/"], keysOnly: true },
  "pages.rename": { words: "Rename…", group: "Pages", keys: ["f2"] },
  "pages.move": { words: "Move to another folder…", group: "Pages", keys: ["m"] },
  "pages.up": { words: "Move up", group: "Pages", keys: ["alt+arrowup"] },
  "pages.down": { words: "Move down", group: "Pages", keys: ["alt+arrowdown"] },
  "pages.in": {
    words: "Move into the folder above",
    group: "Pages",
    keys: ["alt+arrowright"],
  },
  "pages.out": { words: "Move out of the folder", group: "Pages", keys: ["alt+arrowleft"] },
  "pages.delete": { words: "Delete…", group: "Pages", keys: ["mod+backspace"] },
  "pages.adopt": { words: "Add a model to the folders…", group: "Pages", keys: [] },
  "pages.import": { words: "Import Markdown as pages or models…", group: "Pages", keys: [] },
  "pages.save": { words: "Save all pages as files…", group: "Pages", keys: [] },

  "model.refresh": { words: "Refresh this model", group: "Model", keys: ["r"] },
  "model.edit": { words: "Edit the document", group: "Model", keys: ["e"] },
  "model.blame": { words: "Show who wrote what", group: "Model", keys: ["b"] },
  "model.lock": { words: "Lock or unlock", group: "Model", keys: ["l"] },
  "model.dryRun": { words: "Dry run", group: "Model", keys: ["d"] },
  "model.history": { words: "History", group: "Model", keys: ["h"] },
  "model.mark": { words: "Mark this version to compare", group: "Model", keys: ["v"] },
  "model.revert": { words: "Revert to the marked version", group: "Model", keys: ["shift+r"] },
  "model.save": { words: "Save", group: "Model", keys: ["mod+enter"] },
  "model.previous": { words: "Previous model", group: "Model", keys: ["["], repeats: true },
  "model.next": { words: "Next model", group: "Model", keys: ["]"], repeats: true },
  "model.tab1": { words: "Document", group: "Model", keys: ["1"], keysOnly: true },
  "model.tab2": { words: "Evidence", group: "Model", keys: ["2"], keysOnly: true },
  "model.tab3": { words: "Structured output", group: "Model", keys: ["3"], keysOnly: true },
  "model.tab4": { words: "Runs", group: "Model", keys: ["4"], keysOnly: true },
  "model.tab5": { words: "History", group: "Model", keys: ["5"], keysOnly: true },
  "model.tab6": { words: "Settings", group: "Model", keys: ["6"], keysOnly: true },

  "schema.side": { words: "Fields or code", group: "Schema", keys: ["mod+/"] },
  "schema.try": { words: "Try the schema", group: "Schema", keys: ["mod+enter"] },
  "schema.back": { words: "Back to the settings", group: "Schema", keys: [] },

  "review.next": {
    words: "Next operation",
    group: "Review",
    keys: ["j"],
    keysOnly: true,
    repeats: true,
  },
  "review.previous": {
    words: "Previous operation",
    group: "Review",
    keys: ["k"],
    keysOnly: true,
    repeats: true,
  },
  "review.nextProposal": {
    words: "Next proposal",
    group: "Review",
    keys: ["shift+j", "]"],
    repeats: true,
  },
  "review.previousProposal": {
    words: "Previous proposal",
    group: "Review",
    keys: ["shift+k", "["],
    repeats: true,
  },
  "review.accept": { words: "Accept this operation", group: "Review", keys: ["y"] },
  "review.reject": { words: "Reject this operation", group: "Review", keys: ["n"] },
  "review.defer": { words: "Defer this operation", group: "Review", keys: ["d"] },
  "review.undecide": { words: "Leave this operation undecided", group: "Review", keys: ["u"] },
  "review.edit": { words: "Edit the proposed text", group: "Review", keys: ["e"] },
  "review.note": { words: "Add a note", group: "Review", keys: ["c"] },
  "review.acceptSupported": { words: "Accept all supported", group: "Review", keys: ["shift+y"] },
  "review.rejectRemaining": { words: "Reject all undecided", group: "Review", keys: ["shift+n"] },
  "review.evidence": { words: "Go to the evidence", group: "Review", keys: ["o"], keysOnly: true },
  "review.context": {
    words: "Show more of the document around changes",
    group: "Review",
    keys: ["."],
  },
  "review.unified": { words: "View: unified", group: "Review", keys: ["1"] },
  "review.split": { words: "View: split", group: "Review", keys: ["2"] },
  "review.rendered": { words: "View: rendered", group: "Review", keys: ["3"] },
  "review.structure": { words: "View: structure", group: "Review", keys: ["4"] },
  "review.result": { words: "View: result", group: "Review", keys: ["5"] },
  "review.draft": { words: "Edit the whole text", group: "Review", keys: ["shift+e"] },
  "review.deletions": { words: "Show or hide deletions", group: "Review", keys: ["h"] },
  "review.wrap": { words: "Wrap long lines", group: "Review", keys: ["w"] },
  "review.undo": { words: "Undo the last decision", group: "Review", keys: ["z", "mod+z"] },
  "review.approve": { words: "Approve what is accepted", group: "Review", keys: ["mod+enter"] },
  "review.rejectAll": { words: "Reject the proposal…", group: "Review", keys: ["mod+backspace"] },

  "reflect.ask": { words: "Ask the question", group: "Reflect", keys: ["mod+enter"] },
  "reflect.stop": { words: "Stop", group: "Reflect", keys: ["escape"] },
  "reflect.new": { words: "New question", group: "Reflect", keys: ["n"] },
  "reflect.citation": { words: "Next citation", group: "Reflect", keys: ["c"] },
  "reflect.save": { words: "Save as mental model", group: "Reflect", keys: ["s"] },
  "reflect.tab1": { words: "Evidence: world", group: "Reflect", keys: ["1"], keysOnly: true },
  "reflect.tab2": { words: "Evidence: experience", group: "Reflect", keys: ["2"], keysOnly: true },
  "reflect.tab3": {
    words: "Evidence: observations",
    group: "Reflect",
    keys: ["3"],
    keysOnly: true,
  },
  "reflect.tab4": { words: "Evidence: models", group: "Reflect", keys: ["4"], keysOnly: true },
  "reflect.tab5": { words: "Evidence: directives", group: "Reflect", keys: ["5"], keysOnly: true },

  "directives.new": { words: "New directive", group: "Directives", keys: ["n"] },
  "directives.find": {
    words: "Find a directive",
    group: "Directives",
    keys: ["/"],
    keysOnly: true,
  },
  "directives.edit": { words: "Edit the rule", group: "Directives", keys: ["e"] },
  "directives.toggle": {
    words: "Switch on or off",
    group: "Directives",
    keys: ["space"],
  },
  "directives.up": { words: "Move up", group: "Directives", keys: ["alt+arrowup"] },
  "directives.down": { words: "Move down", group: "Directives", keys: ["alt+arrowdown"] },
  "directives.delete": { words: "Delete", group: "Directives", keys: ["mod+backspace"] },
  "directives.save": { words: "Save", group: "Directives", keys: ["mod+enter"] },
  "directives.close": {
    words: "Close the directive",
    group: "Directives",
    keys: ["escape"],
    keysOnly: true,
  },
  "directives.compare": {
    words: "Ask the same question with two settings",
    group: "Directives",
    keys: [],
  },

  "activity.cancel": { words: "Stop this work", group: "Activity", keys: ["x"] },
  "activity.retry": { words: "Run this work now", group: "Activity", keys: ["shift+r"] },

  "memories.filter": { words: "Filter memories", group: "Memories", keys: ["/"], keysOnly: true },
  "memories.add": { words: "Add a fact", group: "Memories", keys: ["n"] },
  "memories.retain": { words: "Keep a text", group: "Memories", keys: ["shift+t"] },
  "memories.import": { words: "Import files", group: "Memories", keys: ["i"] },
  "memories.fold": { words: "Fold facts into observations now", group: "Memories", keys: [] },
  "memories.mode": { words: "Next way of searching", group: "Memories", keys: ["m"] },
  "memories.edit": { words: "Edit this fact", group: "Memories", keys: ["e"] },
  "memories.invalidate": { words: "Invalidate or restore", group: "Memories", keys: ["x"] },
  "memories.delete": { words: "Delete this memory…", group: "Memories", keys: ["mod+backspace"] },
} as const satisfies Record<string, CommandSpec>;

export type CommandId = keyof typeof commands;

export const COMMANDS: Readonly<Record<CommandId, CommandSpec>> = commands;

export const GROUPS: readonly Group[] = [
  "Review",
  "Models",
  "Pages",
  "Model",
  "Schema",
  "Reflect",
  "Directives",
  "Memories",
  "Activity",
  "Go to",
  "Everywhere",
];
