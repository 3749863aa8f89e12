import { Link } from "@tanstack/react-router";
import { Play, RotateCcw, Square, Trash2, X } from "lucide-react";
import type { ReactNode } from "react";
import { Button, IconButton } from "~/components/button";
import {
  OperationState,
  operationName,
  ProgressBar,
  progressWords,
  waitWords,
} from "~/components/operation";
import { PaneHead } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { SkeletonRows } from "~/components/skeleton";
import { say } from "~/components/toast";
import { useCommands } from "~/keys/use-commands";
import { dayTime, duration, series } from "~/lib/format";
import type {
  BankId,
  OperationId,
  OperationRow,
  Progress,
  ProposalId,
  Report,
} from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { outcomeOf, resultOf } from "./operation-row";
import { strings } from "./strings";

const words = strings.one;

/** One piece of work: how it stands, what came of it, and what can be done about it. */
export function OperationPane({
  bank,
  id,
  row,
  progress,
  pending,
  onShowAll,
  onClose,
  onGone,
}: {
  bank: BankId;
  id: OperationId;
  /** Undefined where the list does not hold it (any more). */
  row: OperationRow | undefined;
  progress: Progress | null;
  /** Whether the list is still being read. */
  pending: boolean;
  /** Given where filters may hide it. */
  onShowAll: (() => void) | null;
  /** Given where the detail covers the list. */
  onClose: (() => void) | null;
  onGone: () => void;
}) {
  const cancel = useWrite("cancelOperation");
  const retry = useWrite("retryOperation");
  const remove = useWrite("deleteOperation");
  const open = row?.status === "pending" || row?.status === "processing";
  const stop = () => cancel.mutate([bank, id]);
  const again = () => retry.mutate([bank, id]);
  const canRetry =
    row?.status === "failed" ||
    row?.status === "cancelled" ||
    (row?.status === "pending" && row.next_retry_at !== null);
  useCommands({
    ...(open && { "activity.cancel": stop }),
    ...(canRetry && { "activity.retry": again }),
  });
  if (pending) return <SkeletonRows rows={2} />;
  if (!row)
    return (
      <div className="grid justify-items-start gap-3 p-4">
        <p className="text-pretty text-muted">{words.gone}</p>
        {onShowAll && <Button onClick={onShowAll}>{strings.none.clear}</Button>}
        {onClose && <Button onClick={onClose}>{words.close}</Button>}
      </div>
    );
  const fault = cancel.error ?? retry.error ?? remove.error;
  const told = progress ?? row.progress;
  const proposal = (row.details as { proposal_id?: ProposalId } | null)?.proposal_id;
  return (
    <>
      <PaneHead title={<OperationState row={row} className="type-strong" />}>
        {open && (
          <Button size="small" icon={Square} command="activity.cancel" onClick={stop}>
            {words.stop}
          </Button>
        )}
        {canRetry && (
          <Button
            size="small"
            icon={row.status === "pending" ? Play : RotateCcw}
            command="activity.retry"
            onClick={again}
          >
            {row.status === "pending" ? words.runNow : words.retry}
          </Button>
        )}
        {!open && (
          <IconButton
            icon={Trash2}
            small
            name={words.remove}
            onClick={() =>
              remove.mutate([bank, id], {
                onSuccess: () => {
                  say(words.removed);
                  onGone();
                },
              })
            }
          />
        )}
        {onClose && <IconButton icon={X} small name={words.close} onClick={onClose} />}
      </PaneHead>
      <ScrollText label={operationName(row)} className="px-4 py-4">
        <h2 className="type-title break-words">{operationName(row)}</h2>
        {open && (
          <p role="status" className="mt-1 text-muted">
            {row.status === "processing" && told ? progressWords(told) : waitWords(row)}
          </p>
        )}
        {row.status === "processing" && told && (
          <div className="mt-2">
            <ProgressBar progress={told} />
          </div>
        )}
        {fault && <ReportCard className="mt-3" report={fault} />}
        {row.status === "failed" && <Failure row={row} />}
        <Facts row={row} />
        {(row.mental_model_id || proposal) && (
          <div className="mt-4 flex flex-wrap gap-2">
            {proposal && (
              <Button size="small" asChild>
                <Link
                  to="/b/$bank/review/{-$proposal}"
                  params={{ bank, proposal }}
                  search={{}}
                  data-plain
                >
                  {words.toProposal}
                </Link>
              </Button>
            )}
            {row.mental_model_id && (
              <Button size="small" asChild>
                <Link
                  to="/b/$bank/models/$model/{-$tab}"
                  params={{ bank, model: row.mental_model_id, tab: undefined }}
                  data-plain
                >
                  {words.toModel}
                </Link>
              </Button>
            )}
          </div>
        )}
      </ScrollText>
    </>
  );
}

/** Why it failed, as every other failure is told. */
function Failure({ row }: { row: OperationRow }) {
  const report: Report = {
    code: "internal",
    reason: row.error_reason ?? "unexpected_error",
    message: row.error_message ?? outcomeOf(row) ?? "",
    hint: null,
    fields: [],
    retryable: false,
    detail: null,
    run: null,
  };
  return <ReportCard className="mt-3" report={report} />;
}

function Facts({ row }: { row: OperationRow }) {
  const started = row.started_at;
  const span = (from: string, to: string) => duration(Date.parse(to) - Date.parse(from));
  const causes = row.triggered_by.map((cause) => strings.causes[cause] ?? strings.causeElse);
  const rows: [string, ReactNode][] = [
    [words.outcome, row.status === "failed" ? null : outcomeOf(row)],
    [words.result, resultOf(row)],
    [words.cause, causes.length > 0 && series(causes)],
    [words.queued, dayTime(row.created_at)],
    [words.started, started && dayTime(started)],
    [words.waited, started && span(row.created_at, started)],
    [words.ended, row.completed_at && dayTime(row.completed_at)],
    [words.took, started && row.completed_at && span(started, row.completed_at)],
    [words.attempts, row.retry_count > 0 && words.times(row.retry_count)],
  ];
  return (
    <dl className="mt-4 grid grid-cols-[5.5rem_minmax(0,1fr)] gap-x-2 gap-y-1.5">
      {rows.map(([name, value]) =>
        value ? (
          <div key={name} className="contents">
            <dt className="type-small leading-5 text-faint">{name}</dt>
            <dd className="break-words">{value}</dd>
          </div>
        ) : null,
      )}
    </dl>
  );
}
