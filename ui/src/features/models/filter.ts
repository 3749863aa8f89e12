import type { Sort } from "~/components/grid";
import { modelStates } from "~/components/model-state";
import type { ModelRow } from "~/platform/bindings";

export interface ModelFilter {
  words: string;
  /** States; all when empty. */
  states: string[];
  /** Tags of which one must be there; all models when empty. */
  tags: string[];
  /** All of the tags must be there. */
  allTags: boolean;
  /** How they refresh; all when empty. */
  schedules: Schedule[];
}

export type Schedule = "manual" | "after" | "cron";

export function isSchedule(value: unknown): value is Schedule {
  return value === "manual" || value === "after" || value === "cron";
}

export const noFilter: ModelFilter = {
  words: "",
  states: [],
  tags: [],
  allTags: false,
  schedules: [],
};

function scheduleKind(
  model: Pick<ModelRow, "refresh_cron" | "refresh_after_consolidation">,
): Schedule {
  if (model.refresh_cron) return "cron";
  return model.refresh_after_consolidation ? "after" : "manual";
}

export function applyFilter(models: readonly ModelRow[], filter: ModelFilter): ModelRow[] {
  const words = filter.words.toLowerCase().split(/\s+/).filter(Boolean);
  return models.filter((model) => {
    const text = `${model.name} ${model.id} ${model.source_query}`.toLowerCase();
    return (
      words.every((word) => text.includes(word)) &&
      (filter.states.length === 0 || filter.states.includes(model.state)) &&
      carries(model.tags, filter) &&
      (filter.schedules.length === 0 || filter.schedules.includes(scheduleKind(model)))
    );
  });
}

function carries(tags: readonly string[], filter: ModelFilter): boolean {
  if (filter.tags.length === 0) return true;
  const has = (tag: string) => tags.includes(tag);
  return filter.allTags ? filter.tags.every(has) : filter.tags.some(has);
}

const keyOf: Record<string, (model: ModelRow) => number | string> = {
  state: (model) => modelStates.indexOf(model.state),
  name: (model) => model.name.toLowerCase(),
  refreshed: (model) => -Date.parse(model.last_refreshed_at ?? "1970-01-01"),
  waiting: (model) => -(model.open_proposal?.operations ?? 0),
  size: (model) => -model.document_tokens,
};

/** Sorted by one column; equal rows keep the order of the engine. */
export function sortModels(models: readonly ModelRow[], { by, down }: Sort): ModelRow[] {
  const key = keyOf[by];
  if (!key) return [...models];
  const sorted = models.toSorted((a, b) => {
    const [left, right] = [key(a), key(b)];
    return left < right ? -1 : left > right ? 1 : 0;
  });
  return down ? sorted.reverse() : sorted;
}
