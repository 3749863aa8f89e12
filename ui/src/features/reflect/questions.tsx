import { Plus } from "lucide-react";
import { IconButton } from "~/components/button";
import { List } from "~/components/list";
import { PaneHead } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { StateMark } from "~/components/state";
import { day, time } from "~/lib/format";
import type { ReflectRow, Report, RunId } from "~/platform/bindings";
import { strings } from "./strings";

const marks = {
  running: { mark: "turning", tone: "accent" },
  failed: { mark: "octagon", tone: "bad" },
  cancelled: { mark: "ring", tone: "muted" },
} as const;

/** What was asked of this bank before, newest first. */
export function Questions({
  rows,
  report,
  onRetry,
  run,
  onRun,
  onNew,
}: {
  rows: readonly ReflectRow[];
  /** Why they cannot be read. */
  report: Report | null;
  onRetry: () => void;
  run: RunId | null;
  onRun: (run: RunId) => void;
  onNew: () => void;
}) {
  return (
    <>
      <PaneHead title={strings.questions} className="px-3">
        <IconButton
          icon={Plus}
          small
          name={strings.newQuestion}
          command="reflect.new"
          onClick={onNew}
        />
      </PaneHead>
      {report ? (
        <div className="p-2">
          <ReportCard report={report} onRetry={onRetry} />
        </div>
      ) : rows.length === 0 ? (
        <p className="type-small text-pretty p-3 text-faint">{strings.noEarlier}</p>
      ) : (
        <List
          label={strings.earlier}
          items={rows}
          idOf={({ id }) => id}
          active={run}
          onActive={({ id }) => onRun(id)}
          rowHeight={4.5}
        >
          {(row) => (
            <div className="px-3 py-2">
              <p className="line-clamp-2">{row.query}</p>
              <p className="type-small mt-0.5 flex items-center gap-1 text-faint">
                {row.status !== "finished" && (
                  <>
                    <StateMark
                      mark={marks[row.status].mark}
                      tone={marks[row.status].tone}
                      className="size-3.5"
                    />
                    {strings.states[row.status]}
                    <span aria-hidden="true">·</span>
                  </>
                )}
                <time dateTime={row.started_at}>{when(row.started_at)}</time>
              </p>
            </div>
          )}
        </List>
      )}
    </>
  );
}

/** The time of today, else the day. */
function when(instant: string): string {
  return new Date(instant).toDateString() === new Date().toDateString()
    ? time(instant)
    : day(instant);
}
