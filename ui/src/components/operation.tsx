import { dayTime, plural, time } from "~/lib/format";
import type { OperationRow, Progress } from "~/platform/bindings";
import { Meter } from "./meter";
import { type Mark, StateWord, type Tone } from "./state";

/** Words of queued work, wherever it is shown. */
const words = {
  kinds: {
    refresh_mental_model: "Refresh",
    retain: "Reading of a text",
    batch_retain: "Reading of texts",
    import: "Import",
    consolidation: "Folding into observations",
    graph_maintenance: "Tidying of connections",
    embed_backfill: "Computing of vectors",
    rebuild_index: "Rebuilding of the search index",
    curate: "Change of many memories",
    backup: "Backup",
    export: "Export",
    push: "Sending to a server",
    pull: "Fetching from a server",
  } as Record<string, string>,
  full: "Full refresh",
  of: (name: string, subject: string) => `${name}: ${subject}`,
  held: {
    review_in_progress: "Waits until the review that has begun is decided",
    llm_not_configured: "Waits for a language model to be set up",
    token_ceiling: "Waits: the tokens of this day are spent",
    paused_by_person: "Waits: automatic work is paused",
  } as Record<string, string>,
  heldElse: "Held back",
  until: (at: string) => `Waits until ${at}`,
  again: (at: string) => `Tried again at ${at}`,
  waits: "Waits for its turn",
  states: {
    pending: "Waiting",
    processing: "Running",
    completed: "Done",
    failed: "Failed",
    cancelled: "Stopped",
  } satisfies Record<OperationRow["status"], string>,
  parked: "Parked",
  heldState: "Held",
  stages: {
    waiting_for_llm: "Waiting for the language model, which takes no more requests for now",
    waiting_window: "Waiting for the facts to settle",
    reading_scope: "Reading what is known",
    reading: "Reading",
    embedding: "Computing vectors",
    storing: "Storing",
    folding: "Folding",
    reflecting: "Writing",
    editing: "Writing changes",
    repairing: "Mending changes that did not fit",
    retracting: "Withdrawing what is gone",
    extracting: "Filling the fields",
    committing: "Storing",
    done: "Finishing",
  } as Record<string, string>,
  stageElse: "At work",
  kindElse: "Other work",
  ofTotal: (processed: number, total: number) => `${processed} of ${total}`,
  stored: (n: number) => `${plural(n, "memory", "memories")} stored`,
};

/** The names of the kinds of work, for a menu. */
export const operationKinds = words.kinds;

/** What an operation does, and to what. */
export function operationName(
  row: Pick<OperationRow, "operation_type" | "subject" | "full">,
): string {
  const kind = row.full ? words.full : (words.kinds[row.operation_type] ?? words.kindElse);
  return row.subject ? words.of(kind, row.subject) : kind;
}

/** Why it does not run yet; null where it runs or has ended. */
export function waitWords(row: OperationRow, now: Date = new Date()): string | null {
  if (row.status !== "pending") return null;
  if (row.held_reason) return words.held[row.held_reason] ?? words.heldElse;
  if (row.next_retry_at && new Date(row.next_retry_at) > now) {
    const at = row.next_retry_at;
    const sameDay = new Date(at).toDateString() === now.toDateString();
    const when = sameDay ? time(at) : dayTime(at);
    return row.retry_count > 0 ? words.again(when) : words.until(when);
  }
  return words.waits;
}

/** What is being done. */
export const stageWords = ({ stage }: Progress): string => words.stages[stage] ?? words.stageElse;

/** How far it is, in one line. */
export function progressWords(progress: Progress): string {
  return [
    progress.detail ?? stageWords(progress),
    progress.processed != null && progress.total
      ? words.ofTotal(progress.processed, progress.total)
      : null,
    progress.stored ? words.stored(progress.stored) : null,
  ]
    .filter(Boolean)
    .join(", ");
}

/** How far it is as a bar; nothing where the end is not known. */
export function ProgressBar({ progress }: { progress: Progress }) {
  if (progress.processed == null || !progress.total) return null;
  return (
    <Meter
      value={progress.processed}
      of={progress.total}
      budget={false}
      className="block w-full max-w-80"
    />
  );
}

function stateOf(row: OperationRow, now: Date): { mark: Mark; tone: Tone; word: string } {
  switch (row.status) {
    case "processing":
      // Behind a limit, or behind what goes first, nothing runs.
      if (row.progress?.stage === "waiting_for_llm")
        return { mark: "pause", tone: "muted", word: words.states.pending };
      return { mark: "turning", tone: "accent", word: words.states.processing };
    case "completed":
      return { mark: "tick", tone: "ok", word: words.states.completed };
    case "failed":
      return { mark: "octagon", tone: "bad", word: words.states.failed };
    case "cancelled":
      return { mark: "ring", tone: "muted", word: words.states.cancelled };
    case "pending":
      if (row.held_reason) return { mark: "pause", tone: "warn", word: words.heldState };
      if (row.next_retry_at && new Date(row.next_retry_at) > now)
        return { mark: "pause", tone: "muted", word: words.parked };
      return { mark: "dashed", tone: "muted", word: words.states.pending };
  }
}

/** Where it stands: shape, word, colour. */
export function OperationState({ row, className }: { row: OperationRow; className?: string }) {
  const { mark, tone, word } = stateOf(row, new Date());
  return (
    <StateWord mark={mark} tone={tone} {...(className ? { className } : {})}>
      {word}
    </StateWord>
  );
}
