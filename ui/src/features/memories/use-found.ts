import { useDeferredValue, useMemo } from "react";
import type { FactType, MemoryRow, RecallHit, RecallView, Report } from "~/platform/bindings";
import { useMemoryPages, useRead } from "~/platform/cache";
import { filterOf, type Token } from "./filter";

/** By exact words, by meaning alone, or in all four ways at once. */
export const modes = ["words", "meaning", "recall"] as const;
export type Mode = (typeof modes)[number];

export interface Found {
  rows: MemoryRow[];
  /** Null while nothing has answered yet. */
  counts: Record<FactType, number> | null;
  total: number;
  pending: boolean;
  report: Report | null;
  retry: () => void;
  /** Fetches the next page; undefined where there is none. */
  more: (() => void) | undefined;
  unusable: Token[];
  /** What the search answered, in the modes that rank. */
  recalled: RecallView | null;
  hitOf: (id: string) => RecallHit | undefined;
  /** Tokens that the mode leaves unused. */
  resting: boolean;
  /** Whether anything narrows the list. */
  narrowed: boolean;
  /** A search that ranks waits for words. */
  waiting: boolean;
}

/** What the filter finds. */
export function useFound(bank: string, text: string, segment: FactType | null, mode: Mode): Found {
  const documents = useRead("listDocuments", [bank]).data;
  const asked = useDeferredValue(text);
  const { filter, unusable } = useMemo(
    () => filterOf(asked, segment, documents ?? []),
    [asked, segment, documents],
  );
  const recalls = mode !== "words";
  const words = filter.words ?? "";
  const pages = useMemoryPages(bank, recalls ? null : filter);
  const recall = useRead(
    "recall",
    recalls && words !== ""
      ? [
          bank,
          {
            query: words,
            fact_types: filter.fact_types ?? null,
            tags: filter.tags ?? [],
            way: mode === "meaning" ? "semantic" : null,
          },
        ]
      : null,
    { keepPrevious: true },
  );
  const listed = useMemo(
    () => pages.data?.pages.flatMap(({ page }) => page.items) ?? [],
    [pages.data],
  );
  const narrowed = Object.keys(filter).length > 0;
  if (recalls) {
    const hits = words === "" ? [] : (recall.data?.hits ?? []);
    const of = (kind: FactType) => hits.filter(({ memory }) => memory.fact_type === kind).length;
    return {
      rows: hits.map(({ memory }) => memory),
      counts:
        recall.data && segment === null
          ? { world: of("world"), experience: of("experience"), observation: of("observation") }
          : null,
      total: hits.length,
      pending: words !== "" && recall.isPending,
      report: recall.error,
      retry: () => void recall.refetch(),
      more: undefined,
      unusable,
      recalled: words === "" ? null : (recall.data ?? null),
      hitOf: (id) => hits.find(({ memory }) => memory.id === id),
      resting: Boolean(
        filter.entity || filter.document || filter.after || filter.before || filter.state,
      ),
      narrowed,
      waiting: words === "",
    };
  }
  const first = pages.data?.pages[0];
  return {
    rows: listed,
    counts: first?.counts ?? null,
    total: first?.page.total ?? 0,
    pending: pages.isPending,
    report: pages.error,
    retry: () => void (pages.isFetchNextPageError ? pages.fetchNextPage() : pages.refetch()),
    // A page that was refused is asked for again by a person, not by the end of the list.
    more:
      pages.hasNextPage && !pages.isFetching && !pages.error
        ? () => void pages.fetchNextPage()
        : undefined,
    unusable,
    recalled: null,
    hitOf: () => undefined,
    resting: false,
    narrowed,
    waiting: false,
  };
}
