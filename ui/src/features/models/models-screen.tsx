import { useNavigate } from "@tanstack/react-router";
import { ListFilter, Plus } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { Button } from "~/components/button";
import { FilterField } from "~/components/field";
import { Grid, type Sort } from "~/components/grid";
import { Keys } from "~/components/keys";
import { PaneHead } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { SkeletonRows } from "~/components/skeleton";
import { say } from "~/components/toast";
import { useCommands } from "~/keys/use-commands";
import type { BankId, ModelRow } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { BehindBar } from "./behind-bar";
import { modelColumns } from "./columns";
import { applyFilter, type ModelFilter, noFilter, sortModels } from "./filter";
import { FilterMenus } from "./filter-menus";
import { ModelsEmpty, NoModelMatches } from "./models-empty";
import { strings } from "./strings";

export function ModelsScreen({
  bank,
  filter,
  onFilter,
}: {
  bank: BankId;
  filter: ModelFilter;
  onFilter: (filter: ModelFilter) => void;
}) {
  const models = useRead("listModels", [bank]);
  const refresh = useWrite("refreshModel");
  const navigate = useNavigate();
  const field = useRef<HTMLInputElement>(null);
  const [sort, setSort] = useState<Sort>({ by: "state", down: false });
  const [active, setActive] = useState<string | null>(null);

  const all = models.data;
  const rows = useMemo(() => sortModels(applyFilter(all ?? [], filter), sort), [all, filter, sort]);
  const chosen = rows.find(({ id }) => id === active);
  const due = (all ?? []).filter(({ state }) => state === "behind" || state === "never_refreshed");

  const open = (model: ModelRow) =>
    void navigate({
      to: "/b/$bank/models/$model/{-$tab}",
      params: { bank, model: model.id, tab: undefined },
    });
  const create = (template?: string) =>
    void navigate({
      to: "/b/$bank/models/new",
      params: { bank },
      search: template ? { template } : {},
    });
  const queue = async (targets: ModelRow[]) => {
    await Promise.all(targets.map(({ id }) => refresh.mutateAsync([bank, id, false])));
    const [first] = targets;
    say(
      targets.length === 1 && first
        ? strings.queued(first.name)
        : strings.queuedAll(targets.length),
    );
  };

  useCommands({
    "models.new": () => create(),
    "models.filter": () => field.current?.focus(),
    "models.refresh": chosen ? () => void queue([chosen]) : strings.noneActive,
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
          <BehindBar due={due} busy={refresh.isPending} onRefresh={() => void queue(due)} />
          {refresh.error && (
            <div className="border-line border-b p-4">
              <ReportCard report={refresh.error} />
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
              onOpen={open}
              sort={sort}
              onSort={setSort}
            />
          )}
        </>
      )}
    </section>
  );
}
