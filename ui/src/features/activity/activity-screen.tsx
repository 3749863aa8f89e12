import { Link } from "@tanstack/react-router";
import { Pause, Play } from "lucide-react";
import { useMemo } from "react";
import { Button } from "~/components/button";
import { Empty } from "~/components/empty";
import { List } from "~/components/list";
import { operationKinds } from "~/components/operation";
import { Pane, PaneEdge, PaneHead, Panes } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { Segmented } from "~/components/segmented";
import { SkeletonRows } from "~/components/skeleton";
import { StateMark } from "~/components/state";
import { say } from "~/components/toast";
import { useNarrow } from "~/lib/use-narrow";
import type { BankId, OperationId, OperationQuery, OperationStatus } from "~/platform/bindings";
import { useOperationPages, useRead, useWrite } from "~/platform/cache";
import { useProgress } from "~/platform/progress";
import { DueNext } from "./due-next";
import { OperationPane } from "./operation-pane";
import { OperationLine } from "./operation-row";
import { strings } from "./strings";

/** `open` is what waits and runs; the others are how work has ended. */
export const activityFilters = ["all", "open", "failed", "completed", "cancelled"] as const;
export type ActivityFilter = (typeof activityFilters)[number];

export interface ActivityView {
  filter: ActivityFilter;
  /** A kind of work; null for all. */
  kind: string | null;
}

const statuses: Record<ActivityFilter, OperationStatus[]> = {
  all: [],
  open: ["pending", "processing"],
  failed: ["failed"],
  completed: ["completed"],
  cancelled: ["cancelled"],
};

/** What runs, waits, has failed and has been done in a bank. */
export function ActivityScreen({
  bank,
  operation,
  view,
  onOperation,
  onView,
}: {
  bank: BankId;
  operation: OperationId | null;
  view: ActivityView;
  onOperation: (id: OperationId | null) => void;
  onView: (view: ActivityView) => void;
}) {
  const narrow = useNarrow();
  const query = useMemo<OperationQuery>(
    () => ({ statuses: statuses[view.filter], operation_type: view.kind, limit: 100 }),
    [view.filter, view.kind],
  );
  const pages = useOperationPages(bank, query);
  const rows = useMemo(
    () => pages.data?.pages.flatMap(({ operations }) => operations) ?? [],
    [pages.data],
  );
  const live = useProgress();
  const covers = narrow && operation !== null;
  const chosen = operation && (
    <OperationPane
      key={operation}
      bank={bank}
      id={operation}
      row={rows.find(({ id }) => id === operation)}
      progress={live.get(operation) ?? null}
      onClose={narrow ? () => onOperation(null) : null}
      onGone={() => onOperation(null)}
    />
  );
  const list = (
    <>
      <PaneHead level={1} title={strings.title}>
        <PauseButton />
      </PaneHead>
      <Remarks bank={bank} />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-line border-b px-4 py-2">
        <Segmented<ActivityFilter>
          label={strings.filter}
          value={view.filter}
          onValue={(filter) => onView({ ...view, filter })}
          segments={activityFilters.map((value) => ({ value, label: strings.filters[value] }))}
        />
        <label className="ml-auto flex items-center gap-2">
          <span className="type-small text-muted">{strings.kind}</span>
          <select
            value={view.kind ?? ""}
            onChange={({ target }) => onView({ ...view, kind: target.value || null })}
            className="h-(--control) max-w-48 rounded-md border border-edge bg-raised px-2"
          >
            <option value="">{strings.allKinds}</option>
            {Object.entries(operationKinds).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
      </div>
      {pages.error ? (
        <div className="p-4">
          <ReportCard report={pages.error} onRetry={() => void pages.refetch()} />
        </div>
      ) : pages.isPending ? (
        <SkeletonRows height="3.5rem" />
      ) : rows.length === 0 ? (
        <Nothing view={view} onView={onView} />
      ) : (
        <List
          label={strings.list}
          items={rows}
          idOf={({ id }) => id}
          active={operation}
          onActive={({ id }) => onOperation(id)}
          rowHeight={3.5}
          onEnd={
            pages.hasNextPage && !pages.isFetching ? () => void pages.fetchNextPage() : undefined
          }
        >
          {(row) => <OperationLine row={row} progress={live.get(row.id) ?? row.progress} />}
        </List>
      )}
    </>
  );
  return (
    <Panes id={narrow ? "activity-narrow" : "activity"}>
      {covers ? (
        <Pane id="one" label={strings.detail}>
          {chosen}
        </Pane>
      ) : (
        <Pane id={narrow ? "one" : "list"} label={strings.list}>
          {list}
        </Pane>
      )}
      {!narrow && (
        <>
          <PaneEdge label={strings.edge} />
          <Pane id="one" as="aside" label={strings.detail} width="376px" min="280px" max="640px">
            {chosen ?? <DueNext bank={bank} />}
          </Pane>
        </>
      )}
    </Panes>
  );
}

function PauseButton() {
  const program = useRead("programSettings", []).data;
  const set = useWrite("setProgramSettings");
  if (!program) return null;
  const paused = isPaused(program.effective);
  return (
    <Button
      size="small"
      icon={paused ? Play : Pause}
      disabled={set.isPending}
      onClick={() => set.mutate([{ background_paused: !paused }])}
    >
      {paused ? strings.goOn : strings.pause}
    </Button>
  );
}

const isPaused = (effective: unknown): boolean =>
  (effective as { background_paused?: boolean } | null)?.background_paused === true;

/** What holds the whole of it back, each with the way on. */
function Remarks({ bank }: { bank: BankId }) {
  const program = useRead("programSettings", []).data;
  const own = useRead("bankSettings", [bank]).data;
  const failed =
    useRead("listBanks", []).data?.find(({ id }) => id === bank)?.failed_consolidation ?? 0;
  const again = useWrite("retryFailedConsolidation");
  const paused = program !== undefined && isPaused(program.effective);
  if (!paused && !own?.ceiling_reached && failed === 0) return null;
  return (
    <ul className="divide-y divide-line border-line border-b bg-sunken">
      {paused && (
        <li className="flex min-h-10 items-center gap-2 px-4 py-1.5">
          <StateMark mark="pause" tone="warn" />
          {strings.paused}
        </li>
      )}
      {own?.ceiling_reached && (
        <li className="flex min-h-10 items-center gap-2 px-4 py-1.5">
          <StateMark mark="pause" tone="warn" />
          <span className="min-w-0 flex-1">{strings.ceiling}</span>
          <Button size="small" asChild>
            <Link to="/b/$bank/settings/{-$page}" params={{ bank, page: "work" }} data-plain>
              {strings.toSettings}
            </Link>
          </Button>
        </li>
      )}
      {failed > 0 && (
        <li className="flex min-h-10 flex-wrap items-center gap-2 px-4 py-1.5">
          <StateMark mark="triangle" tone="warn" />
          <span className="min-w-0 flex-1">{strings.failedFolding(failed)}</span>
          <Button
            size="small"
            disabled={again.isPending}
            onClick={() => again.mutate([bank], { onSuccess: () => say(strings.folding) })}
          >
            {strings.foldAgain}
          </Button>
          {again.error && <ReportCard report={again.error} className="w-full" />}
        </li>
      )}
    </ul>
  );
}

function Nothing({ view, onView }: { view: ActivityView; onView: (view: ActivityView) => void }) {
  if (view.filter === "all" && view.kind === null)
    return (
      <Empty title={strings.empty.title}>
        <p>{strings.empty.about}</p>
      </Empty>
    );
  return (
    <Empty
      title={strings.none.title}
      actions={
        <Button onClick={() => onView({ filter: "all", kind: null })}>{strings.none.clear}</Button>
      }
    >
      <p>{strings.none.about}</p>
    </Empty>
  );
}
