import { Badge } from "~/components/badge";
import type { Column } from "~/components/grid";
import { Meter } from "~/components/meter";
import { ModelStateWord } from "~/components/model-state";
import { count, day, dayTime } from "~/lib/format";
import { scheduleWords } from "~/lib/schedule";
import type { ModelRow } from "~/platform/bindings";
import { strings } from "./strings";

const words = strings.columns;

export function scheduleOf(
  model: Pick<ModelRow, "refresh_cron" | "refresh_after_consolidation">,
): string {
  if (model.refresh_cron) return scheduleWords(model.refresh_cron);
  return model.refresh_after_consolidation ? strings.afterConsolidation : strings.manual;
}

export const modelColumns: Column<ModelRow>[] = [
  {
    id: "state",
    label: words.state,
    width: "10.5rem",
    sortable: true,
    cell: (model) => <ModelStateWord model={model} />,
  },
  {
    id: "name",
    label: words.name,
    width: "minmax(0, 1fr)",
    sortable: true,
    cell: (model) => (
      <>
        <p className="flex min-w-0 items-center gap-2">
          <span className="type-strong truncate">{model.name}</span>
          {model.refresh_reasons.map((reason) =>
            strings.warnings[reason] ? (
              <Badge key={reason} kind="warn">
                {strings.warnings[reason]}
              </Badge>
            ) : null,
          )}
        </p>
        <p className="type-small truncate text-faint">{model.source_query}</p>
      </>
    ),
  },
  {
    id: "schedule",
    label: words.schedule,
    width: "10rem",
    room: "unfolded",
    cell: (model) => (
      <>
        <p className="truncate text-muted">{scheduleOf(model)}</p>
        {model.next_run && (
          <p className="type-small truncate text-faint">
            {words.next} <time dateTime={model.next_run}>{dayTime(model.next_run)}</time>
          </p>
        )}
      </>
    ),
  },
  {
    id: "refreshed",
    label: words.refreshed,
    width: "5rem",
    room: "unfolded",
    align: "end",
    sortable: true,
    cell: (model) =>
      model.last_refreshed_at && (
        <time dateTime={model.last_refreshed_at} className="text-muted">
          {day(model.last_refreshed_at)}
        </time>
      ),
  },
  {
    id: "read-to",
    label: words.readTo,
    width: "7rem",
    align: "end",
    room: "wide",
    cell: (model) =>
      model.last_memory_seen_at && (
        <time dateTime={model.last_memory_seen_at} className="text-muted">
          {dayTime(model.last_memory_seen_at)}
        </time>
      ),
  },
  {
    id: "waiting",
    label: words.waiting,
    width: "4.5rem",
    align: "end",
    sortable: true,
    cell: (model) => model.open_proposal?.operations,
  },
  {
    id: "size",
    label: words.size,
    width: "7.5rem",
    align: "end",
    sortable: true,
    room: "wide",
    cell: (model) => (
      <span className="inline-flex items-center gap-1.5 text-muted">
        {count(model.document_tokens)}
        <Meter value={model.document_tokens} of={model.max_tokens} className="w-14" />
      </span>
    ),
  },
];
