import { count, plural } from "~/lib/format";
import type { ChangeSize, DecisionCounts } from "~/platform/bindings";

/** Words of the screen of one model. */
export const strings = {
  all: "All models",
  tabs: {
    document: "Document",
    evidence: "Evidence",
    trace: "Trace",
    history: "History",
    settings: "Settings",
  },
  tabsLabel: "Parts of the model",
  refresh: "Refresh",
  refreshFull: "Refresh in full",
  refreshing: "Refreshing…",
  nothingAnswers:
    "No language model is set up and extractive mode is off. Choose one of them in Settings.",
  review: (operations: number) => `Review ${plural(operations, "change")}`,
  more: "More",
  clear: "Clear the document…",
  remove: "Delete the model…",
  queued: (name: string) => `Refresh of ${name} is queued`,
  extractive: "Extractive",
  extractiveHint: "No language model wrote this: it is made of statements from the bank.",

  document: {
    text: "Text of the document",
    blame: "Show who wrote what",
    edit: "Edit",
    editor: "Document, Markdown",
    save: "Save as a version",
    cancel: "Leave as it was",
    preview: "Preview",
    saved: (version: number) => `Saved as version ${version}`,
    empty: "No document yet",
    emptyAbout: "The first refresh answers the question from the memories in scope.",
    failedAbout: (version: number) =>
      version > 0
        ? `The document below is version ${version} and has not changed.`
        : "Nothing has been written yet.",
    trace: "Trace of this run",
    conflict:
      "The document has changed since you began. Your text is still here; copy it, reload and edit again.",
  },
  blame: {
    version: (version: number, day: string) => `v${version} · ${day}`,
    person: (day: string) => `you · ${day}`,
    proposal: (number: number) => `proposal ${number}`,
    operation: (number: number, operation: number | null) =>
      operation === null ? `Proposal ${number}` : `Proposal ${number}, operation ${operation}`,
    facts: (facts: number) => plural(facts, "fact"),
    import: "imported",
  },
  side: {
    label: "About this document",
    outline: "Outline",
    behind: "Behind this section",
    noneBehind: "No fact is attached to this section.",
    state: "State",
    version: "Version",
    readTo: "Read to",
    newer: "Behind by",
    schedule: "Refresh",
    scope: "Scope",
    size: "Size",
    review: "Review",
    facts: (facts: number) => plural(facts, "fact"),
    manual: "you decide",
    auto: "published at once",
    none: "nothing yet",
    tokens: (used: number, of: number) => `${count(used)} of ${count(of)} tokens`,
  },

  evidence: {
    cited: "Cited by the document",
    gone: "No longer exist",
    newer: "New since, read by the next refresh",
    none: "Nothing is cited yet.",
    noneNewer: "Nothing new in scope.",
  },

  trace: {
    none: "No refresh has run yet.",
    run: "Last run",
    started: "Started",
    took: "Took",
    mode: "Mode",
    modeOf: (effective: string, requested: string) =>
      effective === requested ? effective : `${effective}, asked for ${requested}`,
    fallback: "Because",
    outcome: "Outcome",
    warnings: "Warnings",
    notKept:
      "The steps of this run were not kept. Switch on “Keep the trace” in the settings of this model to see them next time.",
    steps: "Steps",
    tool: "Tool",
    call: "Model call",
    results: (results: number) => plural(results, "result"),
    tokens: (tokens: number) => `${count(tokens)} tokens`,
    outcomes: {
      content_written: "A new version was published",
      content_unchanged: "Nothing changed",
      content_preserved_no_new_facts: "No new fact, the document stays",
      proposal_created: "A proposal waits for review",
      refresh_failed_empty_candidate: "Failed: the result was empty; the document stays",
      refresh_failed_delta_not_applied:
        "Failed: no change could be carried out; the document stays",
      refresh_failed_structured_output:
        "Failed: the structured view could not be extracted; the document stays",
      refresh_failed_error: "Failed; the document stays",
      refresh_failed_conflict: "Failed: the document moved during the run",
      skipped: "Skipped",
      cancelled: "Stopped; the document stays",
    } as Record<string, string>,
    fallbacks: {
      forced_full: "a full refresh was asked for",
      no_baseline_content: "there was no document to change",
      source_query_changed: "the question had changed",
      delta_wedged: "changes were refused several times in a row",
      delta_ops_failed: "no usable changes came back",
      delta_ops_all_skipped: "none of the changes fitted the document",
    } as Record<string, string>,
  },

  history: {
    title: "Versions",
    markTwo: "Mark two",
    hint: "Space or V marks this version: first A, then B.",
    version: (version: number) => `Version ${version}`,
    proposal: (number: number) => `Proposal ${number}`,
    waiting: (operations: number) => `Waiting: ${plural(operations, "operation")}`,
    rejected: "Rejected proposal",
    superseded: "Replaced proposal",
    failed: "Refresh failed",
    pinned: "Pinned",
    none: "No version yet.",
    decided: (number: number, { accepted, rejected, deferred }: DecisionCounts) => {
      const total = accepted + rejected + deferred;
      return accepted === total
        ? `Proposal ${number}, you accepted all ${total}`
        : `Proposal ${number}, you accepted ${accepted} of ${total}`;
    },
    cause: {
      created: "Made with a first text",
      refresh_full: "Full refresh",
      refresh_delta: "Refresh",
      retraction: "Evidence withdrawn",
      proposal: "Proposal approved",
      edit: "You edited it",
      clear: "You cleared it",
      revert: "Reverted",
      import: "Imported",
    } as Record<string, string>,
    actor: {
      cron: "by schedule",
      after_consolidation: "after consolidation",
      after_deletion: "after a deletion",
      manual_refresh: "asked for by you",
      import: "by import",
    } as Record<string, string>,
    change: ({ added, removed, changed }: ChangeSize) => ({ added, removed, changed }),
    blocks: "blocks",
    compare: (a: number, b: number) => `Version ${a} against version ${b}`,
    swap: "Swap A and B",
    nothing: "Empty document",
    revert: (version: number) => `Revert to version ${version}`,
    readAgain: "Read again what came after",
    readAgainHelp: "The next refresh reads the facts since that version once more.",
    reverted: (to: number, version: number) => `Version ${version} brings version ${to} back`,
    undo: "Undo",
    same: "These two versions say the same.",
    document: "Document",
    evidence: "Evidence",
    evidenceNew: "Only in B",
    evidenceGone: "Only in A",
    evidenceSame: "Both rest on the same evidence.",
    layout: "Layout",
    unified: "Unified",
    split: "Split",
    opening: "Opening",
    unchanged: (heading: string, blocks: number) =>
      `${heading}, unchanged, ${plural(blocks, "block")}`,
    words: "words",
  },

  clearing: {
    title: (name: string) => `Clear the document of ${name}?`,
    about:
      "The present text stays in the history. The next refresh writes a new one from all memories in scope; a waiting proposal is replaced.",
    back: "Keep it",
    act: "Clear the document",
    done: "The document is empty; its last text is in the history",
  },
  removing: {
    title: (name: string) => `Delete ${name}?`,
    about: "The document, its versions and its proposals go for good. The memories stay.",
    back: "Keep it",
    act: "Delete for good",
    done: (name: string) => `${name} is deleted`,
  },
} as const;
