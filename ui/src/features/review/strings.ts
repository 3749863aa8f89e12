import { count as numeral, plural, series } from "~/lib/format";
import type { DecisionCounts, Decision } from "~/platform/bindings";

/** Words of the review screen. */
export const strings = {
  title: "Review",
  inbox: "Waiting for review",
  waiting: "Waiting",
  position: (at: number, of: number) => `${at} of ${of}`,
  proposal: "Proposal",
  subject: (version: number, number: number) => `version ${version} → proposal ${number}`,
  previous: "Previous proposal",
  next: "Next proposal",
  trace: "Trace",
  views: "View of the change",
  view: {
    conflicts: "Conflicts",
    unified: "Unified",
    split: "Split",
    rendered: "Rendered",
    result: "Result",
  },
  extractive: "Extractive",
  extractiveHint: "No language model wrote this: it is made of statements from the bank.",
  cause: {
    manual_refresh: "Asked for by you",
    create: "First build of the model",
    cron: "Scheduled refresh",
    full_cron: "Scheduled full refresh",
    after_consolidation: "After consolidation",
    after_deletion: "After a deletion",
    import: "Import",
  } as Record<string, string>,
  reason: {
    large_removal: "Removes much of the text",
    delta_wedged: "Full refresh after refused changes",
    document_changed: "The document changed during the run",
    kept_dry_run: "Kept from a dry run",
    outside_edit: "Edited outside of the program",
  } as Record<string, string>,
  facts: (read: number, used: number) => `${plural(read, "newer fact")} read, ${used} used`,
  newerFacts: (count: number) => plural(count, "newer fact"),
  readTo: (moment: string) => `read to ${moment}`,
  state: {
    open: "Open",
    in_review: "In review",
    conflicted: "Conflicted",
    approved: "Approved",
    partially_approved: "Partly approved",
    rejected: "Rejected",
    superseded: "Replaced",
  },
  operations: (count: number) => plural(count, "operation"),

  /** What is done to which kind of block. */
  act: {
    append_block: (noun: string) => `Add ${noun}`,
    insert_block: (noun: string) => `Add ${noun}`,
    replace_block: (noun: string) => `Replace ${noun}`,
    remove_block: (noun: string) => `Remove ${noun}`,
    add_section: () => "Add section",
    remove_section: () => "Remove section",
    rename_section: () => "Rename section",
    replace_section_blocks: () => "Rewrite section",
  } as Record<string, (noun: string) => string>,
  otherAct: "Change",
  decision: "Decision",
  decide: { accepted: "Accept", rejected: "Reject", deferred: "Defer" },
  decided: {
    accepted: "Accepted",
    rejected: "Rejected",
    deferred: "Deferred",
    undecided: "undecided",
  } satisfies Record<Decision, string>,
  cardName: (at: number, of: number, what: string, where: string | null, rest: string[]) =>
    [`${at} of ${of}`, where ? `${what} in ${where}` : what, ...rest].join(", "),
  edit: "Edit the proposed text",
  badges: {
    human: "Written by you",
    unsupported: "Unsupported",
    oversized: "Over the budget",
    edited: "Edited by you",
    reworded: "Reworded since your decision",
    already_done: "Already in the document",
    carried: "Your earlier decision",
    whole: "All or nothing",
    noted: "Note",
  },
  unsupportedHint: "No fact in the evidence bears this out.",
  partlySupported: (quotes: number) => `Facts bear out ${plural(quotes, "piece")} of it.`,
  needs: (numbers: number[]) =>
    `Needs ${operationsNamed(numbers)}; accepting this accepts ${numbers.length === 1 ? "it" : "them"} too.`,
  neededBy: (numbers: number[]) =>
    `${operationsNamed(numbers, true)} ${numbers.length === 1 ? "needs" : "need"} this; rejecting this rejects ${numbers.length === 1 ? "it" : "them"} too.`,
  hints: {
    duplicate_if_alone: (other: number) =>
      `Accepting this without operation ${other} says the same twice.`,
    lost_if_alone: (other: number) =>
      `Accepting this without operation ${other} loses the statement.`,
    assumes_removal: (other: number) =>
      `Written on the assumption that operation ${other} removes something.`,
  } as Record<string, (other: number) => string>,
  skipped: "Skipped by the engine",
  skipReason: {
    unknown_section: "names a section that does not exist",
    unknown_block: "names a block that does not exist",
    block_in_other_section: "names a block of another section",
    unknown_anchor_section: "is to stand beside a section that does not exist",
    block_locked: "the block is locked",
    empty_text: "brings no text",
    heading_in_text: "hides a heading in its text",
    unclosed_fence: "leaves a code block open",
    empty_heading: "brings an empty heading",
    multiline_heading: "brings a heading of several lines",
    section_has_no_heading: "renames a part without a heading",
    op_not_allowed: "is not allowed in this run",
    target_not_shown: "names something that the model was not shown",
    invalid_op: "cannot be read",
  } as Record<string, string>,

  editor: {
    text: "Proposed text",
    old: "Old text",
    save: "Keep my text",
    cancel: "Leave as it was",
    reset: "Take the proposed text back",
  },
  note: {
    label: "Note on this operation",
    save: "Save note",
    add: "Add a note",
    change: "Change the note",
    cancel: "Leave it",
  },

  evidence: {
    title: "Evidence",
    for: (number: number) => `for operation ${number}`,
    facts: (count: number) => plural(count, "fact"),
    old: "What the old text rested on",
    rest: "Also read for this",
    none: "No fact was given for this operation.",
    human: "The old text was written by a person; no fact is attached to it.",
    noOperation: "Choose an operation to see what it rests on.",
    found: (number: number) => `Evidence ${number}`,
  },

  tally: ({ accepted, rejected, deferred, undecided }: DecisionCounts) =>
    [
      `${accepted} accepted`,
      rejected > 0 && `${rejected} rejected`,
      deferred > 0 && `${deferred} deferred`,
      undecided > 0 && `${undecided} undecided`,
    ]
      .filter(Boolean)
      .join(", "),
  followed: (numbers: number[]) => `${operationsNamed(numbers, true)} followed.`,
  reject: "Reject…",
  approve: (accepted: number, all: number) => `Approve ${accepted} of ${all}`,
  approveAfter: (left: number) => `Approve after ${left} more`,
  nothingAccepted: "Nothing is accepted. Accept an operation, or use Reject.",
  conflictsLeft: (left: number) => `${plural(left, "conflict")} to settle first`,
  published: (version: number, name: string) => `Version ${version} of ${name} is published`,
  undo: "Undo",
  undone: (version: number) => `Reverted to version ${version}`,
  nothingToUndo: "No decision to take back",

  confirm: {
    title: (version: number, name: string) => `Publish version ${version} of ${name}?`,
    about: (accepted: number, all: number, points: number) =>
      `${accepted === all ? `All ${plural(all, "operation")}` : `${accepted} of ${plural(all, "operation")}`}. Look at ${points === 1 ? "this" : `these ${points}`} first.`,
    large_removal: "Removes a large part of the document",
    human_touch: "Changes or removes what you wrote",
    unsupported_claim: "Says something without a source",
    empty_result: "Leaves the document empty",
    query_changed: "The question was changed after this ran",
    scope_changed: "The scope was changed after this ran",
    left: (count: number) =>
      `${plural(count, "operation")} without a decision ${count === 1 ? "is" : "are"} left out`,
    size: "Size",
    tokens: (result: number, limit: number) => `${numeral(result)} of ${numeral(limit)} tokens`,
    readTo: "Read to",
    takeBack: "Undo",
    takeBackHow: (version: number) => `History, revert to version ${version}`,
    back: "Back to the review",
    publish: (version: number) => `Publish version ${version}`,
    withoutView: "Approve without structured view",
  },

  rejection: {
    title: (name: string, number: number) => `Reject proposal ${number} of ${name}`,
    note: "Why",
    noteHelp: "The next refresh is shown these words.",
    disposition: "What becomes of the facts",
    retry: "Try again with this note",
    retryHelp:
      "The document stays. The same facts are read again by the next refresh, with your note.",
    dismiss: "Dismiss these facts",
    dismissHelp: "The document stays. The facts count as read and are not offered again.",
    standing: "Show this note to every later refresh",
    back: "Back to the review",
    reject: "Reject the proposal",
    done: (name: string) => `The proposal for ${name} is rejected; the document has not changed`,
  },

  conflict: {
    banner: (conflicts: number, all: number) =>
      `The document moved while this waited. ${conflicts} of ${plural(all, "operation")} no longer ${conflicts === 1 ? "fits" : "fit"}; the rest keep their decisions.`,
    again: "Refresh again",
    kind: {
      text_changed: "Text changed",
      moved: "Moved",
      missing: "Missing",
      dependency: "Depends on a conflict",
      evidence_withdrawn: "Evidence withdrawn",
    } as Record<string, string>,
    base: "Base",
    current: "Now",
    proposed: "Proposed",
    restedOn: "Rested on",
    gone: "It is no longer in the document.",
    keepMine: "Keep mine",
    take: "Take the proposed",
    applyThere: "Apply there",
    drop: "Drop it",
    keepUnsourced: "Keep it without a source",
    edit: "Edit both into one",
    fit: (count: number) => `${plural(count, "operation")} fit`,
  },

  banners: {
    query_changed: "The question of this model was changed after this refresh ran.",
    scope_changed: "The scope of this model was changed after this refresh ran.",
    newer: (count: number) =>
      `${count >= 100 ? "100+" : count} newer ${count === 1 ? "memory is" : "memories are"} waiting. Decide first, or have your decisions moved into a new proposal.`,
    fold: "Refresh and keep my decisions",
    superseded: "A newer refresh has taken the place of this proposal.",
    toNewer: "Open the newer one",
    closed: (state: string) => `This proposal is closed: ${state}.`,
    toVersion: (version: number) => `Open version ${version}`,
  },
  folding: "The refresh is queued; your decisions move with it",

  rendered: {
    deletions: "Show deletions",
    about: "Accepted and undecided changes are shown",
  },
  split: {
    base: (version: number) => `Version ${version}`,
    candidate: (number: number) => `Proposal ${number}`,
    unchanged: (count: number) => `${plural(count, "unchanged block")}`,
  },
  result: {
    about: "Exactly what would be published",
    empty: "With these decisions the document would be empty.",
  },

  empty: {
    title: "Nothing waits for you",
    about: "When a refresh wants to change a document that you review, its changes wait here.",
    behind: (count: number) => `${plural(count, "model")} ${count === 1 ? "is" : "are"} behind:`,
    none: "All models are current.",
    models: "Go to models",
  },
  allSkipped: {
    title: "Every change was refused by the engine",
    about:
      "None of the operations fits the document. A full refresh writes the document anew as a proposal.",
    full: "Refresh in full",
  },
} as const;

function operationsNamed(numbers: number[], capital = false): string {
  const noun = numbers.length === 1 ? "operation" : "operations";
  return `${capital ? noun.charAt(0).toUpperCase() + noun.slice(1) : noun} ${series(numbers.map(String))}`;
}
