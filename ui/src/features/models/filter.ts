import type { Sort } from "~/components/grid";
import { modelStates } from "~/components/model-state";
import type { ModelRow } from "~/platform/bindings";

export interface ModelFilter {
  words: string;
  /** States; all when empty. */
  states: string[];
  /** Tags of which one must be there; all models when empty. */
  tags: string[];
}

export const noFilter: ModelFilter = { words: "", states: [], tags: [] };

export function applyFilter(models: readonly ModelRow[], filter: ModelFilter): ModelRow[] {
  const words = filter.words.toLowerCase().split(/\s+/).filter(Boolean);
  return models.filter((model) => {
    const text = `${model.name} ${model.id} ${model.source_query}`.toLowerCase();
    return (
      words.every((word) => text.includes(word)) &&
      (filter.states.length === 0 || filter.states.includes(model.state)) &&
      (filter.tags.length === 0 || filter.tags.some((tag) => model.tags.includes(tag)))
    );
  });
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
