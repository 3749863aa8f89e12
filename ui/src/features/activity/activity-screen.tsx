import { useMemo } from "react";
import { Button } from "~/components/button";
import { Empty } from "~/components/empty";
import { List } from "~/components/list";
import { operationKinds } from "~/components/operation";
import { Pane, PaneEdge, PaneHead, Panes } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { Segmented } from "~/components/segmented";
import { SkeletonRows } from "~/components/skeleton";
import { useCover } from "~/lib/use-cover";
import type {
  BankId,
  ModelId,
  OperationId,
  OperationQuery,
  OperationStatus,
} from "~/platform/bindings";
import { useOperationPages } from "~/platform/cache";
import { useProgress } from "~/platform/progress";
import { DueNext } from "./due-next";
import { ModelMenu } from "./model-menu";
import { OperationPane } from "./operation-pane";
import { OperationLine } from "./operation-row";
import { PauseButton, Remarks, usePausing } from "./remarks";
import { momentsOf, type When } from "./span";
import { strings } from "./strings";
import { TimeFilter } from "./time-filter";

/** `open` is what waits and runs; the others are how work has ended. */
export const activityFilters = ["all", "open", "failed", "completed", "cancelled"] as const;
export type ActivityFilter = (typeof activityFilters)[number];

export interface ActivityView {
  filter: ActivityFilter;
  /** A kind of work; null for all. */
  kind: string | null;
  /** The model that was worked on; null for all, and for work without one. */
  model: ModelId | null;
  /** When it was queued; null for any time. */
  when: When;
}

const everything: ActivityView = { filter: "all", kind: null, model: null, when: null };
const isNarrowed = ({ filter, kind, model, when }: ActivityView): boolean =>
  filter !== "all" || kind !== null || model !== null || when !== null;

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
  const cover = useCover(operation !== null);
  const { narrow, covers } = cover;
  // Taken once for a choice: all pages of a list are cut out of the same time.
  const chosenTime = JSON.stringify(view.when);
  const moments = useMemo(
    () => JSON.stringify(momentsOf(JSON.parse(chosenTime) as When, new Date())),
    [chosenTime],
  );
  const query = useMemo<OperationQuery>(
    () => ({
      statuses: statuses[view.filter],
      operation_type: view.kind,
      mental_model_id: view.model,
      ...(JSON.parse(moments) as Pick<OperationQuery, "since" | "until">),
      limit: 100,
    }),
    [view.filter, view.kind, view.model, moments],
  );
  const pausing = usePausing();
  const pages = useOperationPages(bank, query);
  const rows = useMemo(
    () => pages.data?.pages.flatMap(({ operations }) => operations) ?? [],
    [pages.data],
  );
  const again = () => (pages.isFetchNextPageError ? pages.fetchNextPage() : pages.refetch());
  const live = useProgress();
  const chosen = operation && (
    <OperationPane
      key={operation}
      bank={bank}
      id={operation}
      row={rows.find(({ id }) => id === operation)}
      progress={live.get(operation) ?? null}
      pending={pages.isPending}
      onShowAll={isNarrowed(view) ? () => onView(everything) : null}
      onClose={narrow ? cover.close : null}
      onGone={() => onOperation(null)}
    />
  );
  const list = (
    <>
      <PaneHead level={1} title={strings.title}>
        <PauseButton pausing={pausing} />
      </PaneHead>
      <Remarks bank={bank} pausing={pausing} />
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
        <TimeFilter when={view.when} onWhen={(when) => onView({ ...view, when })} />
        <ModelMenu bank={bank} model={view.model} onModel={(model) => onView({ ...view, model })} />
      </div>
      {pages.error && !pages.data ? (
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
          onActive={({ id }, pressed) => {
            onOperation(id);
            if (pressed) cover.look();
          }}
          onOpen={cover.look}
          rowHeight={3.5}
          // A page that was refused is asked for again by a person, not by the end of the list.
          onEnd={
            pages.hasNextPage && !pages.isFetching && !pages.error
              ? () => void pages.fetchNextPage()
              : undefined
          }
          after={
            pages.error && (
              <div className="p-4">
                <ReportCard report={pages.error} onRetry={() => void again()} />
              </div>
            )
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

function Nothing({ view, onView }: { view: ActivityView; onView: (view: ActivityView) => void }) {
  if (!isNarrowed(view))
    return (
      <Empty title={strings.empty.title}>
        <p>{strings.empty.about}</p>
      </Empty>
    );
  return (
    <Empty
      title={strings.none.title}
      actions={<Button onClick={() => onView(everything)}>{strings.none.clear}</Button>}
    >
      <p>{strings.none.about}</p>
    </Empty>
  );
}
