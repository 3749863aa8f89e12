import { Link } from "@tanstack/react-router";
import { Button } from "~/components/button";
import { Meter } from "~/components/meter";
import { stageWords, waitWords } from "~/components/operation";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { SkeletonRows } from "~/components/skeleton";
import { Stack } from "~/components/stack";
import { StateMark, StateWord } from "~/components/state";
import type { BankId, JsonValue, OperationId, OperationRow, Progress } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { toReport } from "~/platform/errors";
import { useProgress } from "~/platform/progress";
import { strings } from "./import-strings";

/** What an import leaves in the record of its operation. */
interface ImportResult {
  documents?: number;
  facts?: number;
  /** Documents that a model elsewhere was not shown. */
  kept_here?: number;
  /** Lines and files that could not be read; `line` counts from 1. */
  skipped?: { file: string; line: number | null; reason: string }[];
}

/** An import on its way, and what came of it. */
export function ImportProgress({
  bank,
  id,
  onAnother,
  onLeave,
}: {
  bank: BankId;
  id: OperationId;
  onAnother: () => void;
  onLeave: () => void;
}) {
  const rows = useRead("listOperations", [bank]);
  const row = rows.data?.find((each) => each.id === id);
  const live = useProgress().get(id);
  if (rows.error)
    return <ReportCard className="m-4" report={rows.error} onRetry={() => void rows.refetch()} />;
  return (
    <>
      <ScrollText label={strings.progress} className="px-4">
        <div className="mx-auto w-full max-w-[47.5rem] py-6">
          {row ? <State row={row} progress={live ?? row.progress} /> : <SkeletonRows rows={2} />}
        </div>
      </ScrollText>
      <div className="flex min-h-(--foot) shrink-0 items-center gap-2 border-line border-t bg-sunken px-4">
        <Button onClick={onAnother}>{strings.another}</Button>
        <span className="ml-auto flex gap-2">
          {row?.status === "completed" && (
            <Button asChild>
              <Link to="/b/$bank/models/new" params={{ bank }} search={{}} data-plain>
                {strings.makeModel}
              </Link>
            </Button>
          )}
          <Button kind="primary" onClick={onLeave}>
            {strings.see}
          </Button>
        </span>
      </div>
    </>
  );
}

function State({ row, progress }: { row: OperationRow; progress: Progress | null }) {
  const cancel = useWrite("cancelOperation");
  const retry = useWrite("retryOperation");
  if (row.status === "pending" || row.status === "processing") {
    const known = progress?.processed != null && progress.total != null;
    return (
      <div className="grid gap-3">
        <div className="flex items-start gap-3">
          <StateMark
            mark={row.status === "pending" ? "pause" : "turning"}
            tone="accent"
            className="mt-0.5"
          />
          <div className="min-w-0 flex-1">
            <p role="status" className="type-strong truncate">
              {cancel.isPending
                ? strings.stopping
                : (waitWords(row) ?? (progress ? stageWords(progress) : strings.waiting))}
            </p>
            <p className="type-small min-h-4 truncate text-muted">{progress?.detail}</p>
          </div>
          <Button
            size="small"
            disabled={cancel.isPending}
            onClick={() => cancel.mutate([row.bank, row.id])}
          >
            {strings.stop}
          </Button>
        </div>
        <Meter
          value={known ? (progress.processed ?? 0) : 0}
          of={known ? (progress.total ?? 0) : 0}
          budget={false}
          className="w-full"
        />
        <div className="type-small flex justify-between gap-3 text-muted">
          <span>{strings.stored(progress?.stored ?? 0)}</span>
          <span className="text-faint">
            {known && strings.ofTotal(progress.processed ?? 0, progress.total ?? 0)}
          </span>
        </div>
        {cancel.error && <ReportCard report={cancel.error} />}
      </div>
    );
  }
  if (row.status === "cancelled") {
    const stored = progress?.stored ?? 0;
    return (
      <div className="grid justify-items-start gap-3">
        <div>
          <StateWord mark="ring" tone="muted" className="type-title">
            {strings.cancelled}
          </StateWord>
          <p role="status" className="mt-1 text-muted">
            {stored > 0 ? strings.keptSome(stored) : strings.keptNone}
          </p>
        </div>
        <Button onClick={() => retry.mutate([row.bank, row.id])}>{strings.goOn}</Button>
        {retry.error && <ReportCard report={retry.error} />}
      </div>
    );
  }
  if (row.status === "failed")
    return (
      <div className="grid gap-3">
        <ReportCard
          report={{
            ...toReport(row.error_reason),
            code: "import_invalid",
            reason: row.error_reason ?? "",
            message: row.error_message ?? strings.failed,
            hint: null,
            detail: null,
          }}
          onRetry={() => retry.mutate([row.bank, row.id])}
        />
        {retry.error && <ReportCard report={retry.error} />}
      </div>
    );
  return <Result result={resultOf(row.result)} />;
}

function Result({ result }: { result: ImportResult }) {
  const skipped = result.skipped ?? [];
  return (
    <div className="grid gap-4">
      <div>
        <StateWord mark="tick" tone="ok" className="type-title">
          {strings.done}
        </StateWord>
        <p role="status" className="mt-1 text-muted">
          {strings.result(result.documents ?? 0, result.facts ?? 0)}
        </p>
        {(result.kept_here ?? 0) > 0 && (
          <p className="mt-1 text-muted">{strings.keptHere(result.kept_here ?? 0)}</p>
        )}
      </div>
      {skipped.length > 0 && (
        <section
          className="rounded-md border border-line"
          aria-label={strings.skipped(skipped.length)}
        >
          <h2 className="type-strong flex items-center gap-2 border-line border-b px-3 py-2">
            <StateMark mark="triangle" tone="warn" />
            {strings.skipped(skipped.length)}
          </h2>
          <div className="flex max-h-80">
            <Stack
              label={strings.skippedList}
              items={skipped}
              keyOf={(each) => `${each.file}:${each.line}:${each.reason}`}
              current={-1}
              moved={0}
              height={3}
            >
              {({ file, line, reason }) => (
                <div className="px-3 py-1.5">
                  <p className="type-small truncate text-faint">{strings.skippedAt(file, line)}</p>
                  <p>{reason}</p>
                </div>
              )}
            </Stack>
          </div>
        </section>
      )}
    </div>
  );
}

function resultOf(value: JsonValue): ImportResult {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as unknown as ImportResult)
    : {};
}
