import { useNavigate } from "@tanstack/react-router";
import { ListFilter, Plus } from "lucide-react";
import { type ReactNode, useMemo, useRef, useState } from "react";
import { Button } from "~/components/button";
import { FilterField } from "~/components/field";
import { Grid, type Sort } from "~/components/grid";
import { Keys } from "~/components/keys";
import { PaneHead } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { SkeletonRows } from "~/components/skeleton";
import { say } from "~/components/toast";
import { useCommands } from "~/keys/use-commands";
import type { BankId, ModelRow, Report } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { toReport } from "~/platform/errors";
import { BehindBar } from "./behind-bar";
import { BulkBar } from "./bulk-bar";
import { modelColumns } from "./columns";
import { DryRuns } from "./dry-runs";
import { applyFilter, type ModelFilter, noFilter, sortModels } from "./filter";
import { FilterMenus } from "./filter-menus";
import { ModelsEmpty, NoModelMatches } from "./models-empty";
import { strings } from "./strings";
import type { ModelTab } from "./tabs";
import { useDryRun } from "./use-dry-run";
import { useDryRuns } from "./use-dry-runs";

export function ModelsScreen({
  bank,
  layout,
  filter,
  onFilter,
}: {
  bank: BankId;
  /** The way to the folders. */
  layout: ReactNode;
  filter: ModelFilter;
  onFilter: (filter: ModelFilter) => void;
}) {
  const models = useRead("listModels", [bank]);
  const refresh = useWrite("refreshModel");
  const navigate = useNavigate();
  const field = useRef<HTMLInputElement>(null);
  const [sort, setSort] = useState<Sort>({ by: "state", down: false });
  const [active, setActive] = useState<string | null>(null);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());

  const all = models.data;
  const rows = useMemo(() => sortModels(applyFilter(all ?? [], filter), sort), [all, filter, sort]);
  const [fault, setFault] = useState<Report | null>(null);
  const marked = rows.filter(({ id }) => selected.has(id));
  const chosen = rows.find(({ id }) => id === active);
  const due = (all ?? []).filter(({ state }) => state === "behind" || state === "never_refreshed");

  const dry = useDryRun(bank, chosen);
  const dryAll = useDryRuns(bank);
  const open = (model: ModelRow, tab?: ModelTab) =>
    void navigate({
      to: "/b/$bank/models/$model/{-$tab}",
      params: { bank, model: model.id, tab },
    });
  const create = (template?: string) =>
    void navigate({
      to: "/b/$bank/models/new",
      params: { bank },
      search: template ? { template } : {},
    });
  /** Queues refreshes; models under review keep their review. */
  const queue = async (targets: ModelRow[]) => {
    const asked = await Promise.allSettled(
      targets.map(({ id }) => refresh.mutateAsync([bank, id, false])),
    );
    const refused = asked.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    const inReview = refused.filter((why) => toReport(why).reason === "review_in_progress").length;
    const other = refused.find((why) => toReport(why).reason !== "review_in_progress");
    setFault(other === undefined ? null : toReport(other));
    const queued = targets.length - refused.length;
    const [first] = targets;
    const said = [
      queued === 1 && first && targets.length === 1 ? strings.queued(first.name) : null,
      queued > 0 && targets.length > 1 ? strings.queuedAll(queued) : null,
      inReview > 0 ? strings.bulk.inReview(inReview) : null,
    ].filter((part) => part !== null);
    if (said.length > 0) say(said.join("; "));
  };

  useCommands({
    "models.new": () => create(),
    "models.filter": () => field.current?.focus(),
    "models.refresh": chosen ? () => void queue([chosen]) : strings.noneActive,
    "models.dryRun": dry.unavailable ?? dry.run,
    "models.edit": chosen ? () => open(chosen, "settings") : strings.noneActive,
    "models.history": chosen ? () => open(chosen, "history") : strings.noneActive,
    "models.refreshAll": due.length > 0 ? () => void queue(due) : strings.nothingBehind,
  });

  return (
    <section
      className="flex min-h-0 min-w-0 flex-1 flex-col"
      aria-label={strings.title}
      data-pane
      tabIndex={-1}
    >
      <PaneHead level={1} title={strings.title} about={all ? all.length : undefined}>
        {layout}
        <Button kind="primary" icon={Plus} onClick={() => create()}>
          {strings.newModel}
        </Button>
      </PaneHead>
      {models.error && (
        <div className="p-4">
          <ReportCard report={models.error} onRetry={() => void models.refetch()} />
        </div>
      )}
      {models.isPending && <SkeletonRows />}
      {all?.length === 0 && <ModelsEmpty onCreate={create} />}
      {all !== undefined && all.length > 0 && (
        <>
          <div className="flex flex-wrap items-center gap-2 border-line border-b px-4 py-2">
            <FilterField
              ref={field}
              label={strings.filter}
              icon={ListFilter}
              value={filter.words}
              onChange={(event) => onFilter({ ...filter, words: event.target.value })}
              onKeyDown={(event) => {
                if (event.key === "Escape") onFilter(noFilter);
              }}
              after={<Keys of="models.filter" />}
              className="max-w-[26rem] flex-1"
            />
            <FilterMenus models={all} filter={filter} onFilter={onFilter} />
          </div>
          {marked.length > 0 ? (
            <BulkBar
              bank={bank}
              models={marked}
              busy={refresh.isPending}
              onRefresh={() => void queue(marked)}
              onDryRun={dryAll.unavailable ?? (() => dryAll.run(marked))}
              onNone={() => setSelected(new Set())}
            />
          ) : (
            <BehindBar due={due} busy={refresh.isPending} onRefresh={() => void queue(due)} />
          )}
          <DryRuns bank={bank} runs={dryAll} />
          {dry.fault && (
            <div className="border-line border-b p-4">
              <ReportCard report={dry.fault} />
            </div>
          )}
          {fault && (
            <div className="border-line border-b p-4">
              <ReportCard report={fault} />
            </div>
          )}
          {rows.length === 0 ? (
            <NoModelMatches total={all.length} onClear={() => onFilter(noFilter)} />
          ) : (
            <Grid
              label={strings.title}
              items={rows}
              columns={modelColumns}
              idOf={({ id }) => id}
              active={chosen?.id ?? null}
              onActive={({ id }) => setActive(id)}
              onOpen={(model) => open(model)}
              sort={sort}
              onSort={setSort}
              selected={selected}
              onSelected={setSelected}
              selectLabel={({ name }) => strings.bulk.select(name)}
            />
          )}
        </>
      )}
    </section>
  );
}
