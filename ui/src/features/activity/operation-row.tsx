import {
  OperationState,
  operationName,
  ProgressBar,
  progressWords,
  waitWords,
} from "~/components/operation";
import { age, dayTime, duration, series } from "~/lib/format";
import type { OperationRow, Progress } from "~/platform/bindings";
import { strings } from "./strings";

/** One piece of work in the list: where it stands, what it does, how far or why not, since when. */
export function OperationLine({ row, progress }: { row: OperationRow; progress: Progress | null }) {
  const at = row.completed_at ?? row.started_at ?? row.created_at;
  const runs = row.status === "processing";
  return (
    <div className="grid min-h-14 grid-cols-[6.5rem_minmax(0,1fr)_auto] gap-x-3 px-4 py-2">
      <OperationState row={row} className="self-start" />
      <div className="min-w-0">
        <p className="truncate">{operationName(row)}</p>
        <p className="type-small truncate text-muted">
          {runs && progress ? progressWords(progress) : lineOf(row)}
        </p>
        {runs && progress && (
          <div className="mt-1 mb-0.5">
            <ProgressBar progress={progress} />
          </div>
        )}
      </div>
      <div className="type-small text-right text-faint">
        <time dateTime={at} title={dayTime(at)}>
          {age(at)}
        </time>
        {row.completed_at && row.started_at && (
          <p>{duration(Date.parse(row.completed_at) - Date.parse(row.started_at))}</p>
        )}
      </div>
    </div>
  );
}

/** Why it waits, how it ended, or who asked for it. */
function lineOf(row: OperationRow): string {
  return (
    waitWords(row) ??
    row.error_message ??
    outcomeOf(row) ??
    resultOf(row) ??
    (row.automatic ? strings.automatic : strings.asked)
  );
}

/** The outcome of a refresh in words. */
export function outcomeOf(row: OperationRow): string | null {
  const details = row.details as { outcome?: string } | null;
  const outcome = details?.outcome;
  if (!outcome) return null;
  return strings.outcomes[outcome] ?? null;
}

/** What came out, as far as it can be counted. */
export function resultOf(row: OperationRow): string | null {
  const result = row.result as Record<string, unknown> | null;
  if (!result || typeof result !== "object") return null;
  const skipped = result.skipped;
  const parts = (["documents", "facts", "observations", "kept_here"] as const).flatMap((key) => {
    const n = result[key];
    return typeof n === "number" && n > 0 ? [strings.results[key](n)] : [];
  });
  if (Array.isArray(skipped) && skipped.length > 0)
    parts.push(strings.results.skipped(skipped.length));
  return parts.length > 0 ? series(parts) : null;
}
