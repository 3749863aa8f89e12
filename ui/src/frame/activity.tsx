import { Link } from "@tanstack/react-router";
import { Popover } from "radix-ui";
import { useEffect, useState } from "react";
import { useAnnounce } from "~/components/announce";
import { Button } from "~/components/button";
import { operationName, ProgressBar, progressWords, waitWords } from "~/components/operation";
import { ReportCard } from "~/components/report";
import { StateMark } from "~/components/state";
import type { BankId, OperationId, OperationRow, Progress } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { useProgress } from "~/platform/progress";
import { strings } from "./strings";

/** What runs and waits in this bank; nothing is drawn while nothing does. */
export function Activity({ bank }: { bank: BankId }) {
  const operations = useRead("listOperations", [bank]).data ?? [];
  const live = useProgress();
  const running = operations.filter(({ status }) => status === "processing");
  const waiting = operations.filter(({ status }) => status === "pending");
  useProgressWords(running, live);
  if (running.length + waiting.length === 0) return null;
  return (
    <Popover.Root>
      <Popover.Trigger asChild>
        <Button kind="plain" size="small">
          <StateMark
            mark={running.length > 0 ? "turning" : "pause"}
            tone="accent"
            className="size-3"
          />
          {running.length > 0 ? strings.running(running.length) : strings.waiting(waiting.length)}
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={4}
          aria-label={strings.activity}
          className="z-20 max-h-96 w-80 overflow-auto rounded-md bg-raised py-1 shadow-float"
        >
          {[...running, ...waiting].map((row) => (
            <OperationLine key={row.id} row={row} progress={live.get(row.id) ?? row.progress} />
          ))}
          <Popover.Close asChild>
            <Link
              to="/b/$bank/activity/{-$operation}"
              params={{ bank, operation: undefined }}
              search={{}}
              data-plain
              className="mt-1 flex min-h-(--row) items-center border-line border-t px-3 pt-1 text-muted hover:text-text"
            >
              {strings.allActivity}
            </Link>
          </Popover.Close>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function OperationLine({ row, progress }: { row: OperationRow; progress: Progress | null }) {
  const cancel = useWrite("cancelOperation");
  return (
    <div className="flex flex-wrap items-center gap-2 px-3 py-2">
      <div className="min-w-0 flex-1">
        <p className="truncate">{operationName(row)}</p>
        <p className="type-small truncate text-muted">
          {progress && row.status === "processing" ? progressWords(progress) : waitWords(row)}
        </p>
        {progress && row.status === "processing" && <ProgressBar progress={progress} />}
      </div>
      <Button size="small" kind="plain" onClick={() => cancel.mutate([row.bank, row.id])}>
        {strings.cancel}
      </Button>
      {cancel.error && <ReportCard className="w-full" report={cancel.error} />}
    </div>
  );
}

/** Says how far the first running operation is, at most once in three seconds. */
function useProgressWords(running: OperationRow[], live: ReadonlyMap<OperationId, Progress>): void {
  const announce = useAnnounce();
  const [saidAt, setSaidAt] = useState(0);
  const first = running[0];
  const progress = first && live.get(first.id);
  useEffect(() => {
    if (!first || !progress) return;
    const now = performance.now();
    if (now - saidAt < 3000) return;
    setSaidAt(now);
    announce(progressWords(progress));
  }, [first, progress, saidAt, announce]);
}
