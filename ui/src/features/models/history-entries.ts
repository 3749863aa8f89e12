import type { RefreshRunView, TimelineEntry } from "~/platform/bindings";

/** A trigger that led to no run, or several of them in a row. */
interface SkippedRun {
  kind: "skipped_run";
  at: string;
  reason: string | null;
  times: number;
}

export type HistoryEntry = TimelineEntry | SkippedRun;

export interface TimelineFilter {
  proposals: boolean;
  failed: boolean;
  skipped: boolean;
}

export const everything: TimelineFilter = { proposals: true, failed: true, skipped: true };

/** The history with the triggers that led to no run, in their place by time. */
export function withSkips(
  entries: readonly TimelineEntry[],
  runs: readonly RefreshRunView[],
): HistoryEntry[] {
  const skips = runs
    .filter(({ outcome, dry_run }) => outcome === "skipped" && !dry_run)
    .map(
      (run): SkippedRun => ({
        kind: "skipped_run",
        at: run.started_at,
        reason: run.failure_reason,
        times: run.skip_count ?? 1,
      }),
    );
  if (skips.length === 0) return [...entries];
  return [...entries, ...skips].toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
}

export function isShown(entry: HistoryEntry, filter: TimelineFilter): boolean {
  if (entry.kind === "proposal") return filter.proposals;
  if (entry.kind === "failed_run") return filter.failed;
  return entry.kind === "skipped_run" ? filter.skipped : true;
}
