import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { ChevronDown, ChevronUp } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from "react";
import { cn } from "~/lib/cn";
import { withIndex } from "~/lib/range";
import { useFolded, useNarrow } from "~/lib/use-narrow";
import { useRem } from "~/lib/use-rem";
import { Icon } from "./icon";

export interface Column<T> {
  id: string;
  label: string;
  /** A track of CSS grid. */
  width: string;
  cell: (item: T) => ReactNode;
  align?: "end";
  sortable?: boolean;
  /** Left out where the window is narrow, or only where the rail is folded too. */
  room?: "wide" | "unfolded";
}

export interface Sort {
  by: string;
  down: boolean;
}

const words = { select: "Select" } as const;

/**
 * A table of which one row is the active one. Only rows in view are in the page; the focus stays on
 * the table and the active row is told by id.
 */
export function Grid<T>({
  label,
  items,
  columns,
  idOf,
  active,
  onActive,
  onOpen,
  sort,
  onSort,
  selected,
  onSelected,
  selectLabel,
  rowHeight = 3.25,
}: {
  label: string;
  items: readonly T[];
  columns: readonly Column<T>[];
  idOf: (item: T) => string;
  active: string | null;
  onActive: (item: T) => void;
  onOpen: (item: T) => void;
  sort: Sort;
  onSort: (sort: Sort) => void;
  /** Ids of several rows for one act on all of them; Space, Shift and Ctrl+A select. */
  selected?: ReadonlySet<string>;
  onSelected?: (ids: ReadonlySet<string>) => void;
  /** What the box of a row is called. */
  selectLabel?: (item: T) => string;
  rowHeight?: number;
}) {
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const narrow = useNarrow();
  const folded = useFolded();
  const rem = useRem();
  const shown = columns.filter(
    ({ room }) => !((room === "wide" && narrow) || (room === "unfolded" && folded)),
  );
  const selects = selected !== undefined && onSelected !== undefined;
  const widths = [...(selects ? ["1.75rem"] : []), ...shown.map(({ width }) => width)];
  const tracks = { gridTemplateColumns: widths.join(" ") };
  const at = items.findIndex((item) => idOf(item) === active);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    // The head stays in view and must cover neither the first row nor the active one.
    scrollPaddingStart: 1.75 * rem,
    scrollMargin: 1.75 * rem,
    estimateSize: () => rowHeight * rem,
    getItemKey: (index) => idOf(items[index] as T),
    overscan: 6,
    // The active row stays in the page, so that it can be told to readers.
    rangeExtractor: (range) => withIndex(defaultRangeExtractor(range), at),
  });
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: "auto" });
  }, [at, virtual]);

  const select = (ids: readonly string[], on: boolean) => {
    const next = new Set(selected);
    for (const own of ids) on ? next.add(own) : next.delete(own);
    onSelected?.(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.altKey) return;
    if (selects && (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "a") {
      select(items.map(idOf), true);
      event.preventDefault();
      return;
    }
    if (event.ctrlKey || event.metaKey) return;
    const here = items[at];
    if (selects && event.key === " " && here !== undefined) {
      select([idOf(here)], !selected.has(idOf(here)));
      event.preventDefault();
      return;
    }
    const moves: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      j: at + 1,
      k: at - 1,
      Home: 0,
      End: items.length - 1,
      PageDown: at + 8,
      PageUp: at - 8,
    };
    const target = moves[event.key];
    const item = items[Math.max(0, Math.min(items.length - 1, target ?? at))];
    if (target !== undefined && item !== undefined) {
      if (selects && event.shiftKey && here !== undefined) select([idOf(here), idOf(item)], true);
      onActive(item);
    } else if (event.key === "Enter" && at >= 0 && item !== undefined) onOpen(item);
    else return;
    event.preventDefault();
  };

  return (
    // biome-ignore lint/a11y/useSemanticElements: a table element cannot hold rows that are placed by hand
    <div
      role="grid"
      aria-label={label}
      aria-rowcount={items.length + 1}
      aria-colcount={widths.length}
      aria-multiselectable={selects || undefined}
      aria-activedescendant={at >= 0 ? `${id}-${active}` : undefined}
      tabIndex={0}
      data-focus-inside
      onKeyDown={onKeyDown}
      ref={scroller}
      className="scroll-quiet min-h-0 flex-1"
    >
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: the table itself holds the focus */}
      <div
        role="row"
        aria-rowindex={1}
        className="sticky top-0 z-1 grid border-line border-b bg-ground px-4"
        style={tracks}
      >
        {selects && (
          // biome-ignore lint/a11y/useSemanticElements: as above
          // biome-ignore lint/a11y/useFocusableInteractive: the table itself holds the focus
          <div role="columnheader">
            <span className="sr-only">{words.select}</span>
          </div>
        )}
        {shown.map((column) => (
          <HeadCell key={column.id} column={column} sort={sort} onSort={onSort} />
        ))}
      </div>
      <div role="presentation" className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((row) => {
          const item = items[row.index] as T;
          const own = idOf(item);
          return (
            // biome-ignore lint/a11y/useSemanticElements: as above
            // biome-ignore lint/a11y/useFocusableInteractive: the table itself holds the focus
            // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the table
            <div
              key={row.key}
              id={`${id}-${own}`}
              role="row"
              aria-rowindex={row.index + 2}
              aria-selected={own === active}
              onClick={() => (own === active ? onOpen(item) : onActive(item))}
              onDoubleClick={() => onOpen(item)}
              className={cn(
                "absolute inset-x-0 top-0 grid items-center border-line border-b px-4",
                own === active ? "bg-selected" : "hover:bg-hover",
              )}
              style={{
                ...tracks,
                height: row.size,
                transform: `translateY(${row.start - virtual.options.scrollMargin}px)`,
              }}
            >
              {selects && (
                // biome-ignore lint/a11y/useSemanticElements: as above
                // biome-ignore lint/a11y/useFocusableInteractive: the table itself holds the focus
                <div role="gridcell" className="flex">
                  <input
                    type="checkbox"
                    tabIndex={-1}
                    aria-label={selectLabel?.(item)}
                    checked={selected.has(own)}
                    onClick={(event) => event.stopPropagation()}
                    onChange={(event) => select([own], event.target.checked)}
                    className="size-4 accent-accent"
                  />
                </div>
              )}
              {shown.map((column) => (
                // biome-ignore lint/a11y/useSemanticElements: as above
                // biome-ignore lint/a11y/useFocusableInteractive: the table itself holds the focus
                <div
                  key={column.id}
                  role="gridcell"
                  className={cn("min-w-0 pr-3 last:pr-0", column.align === "end" && "text-right")}
                >
                  {column.cell(item)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function HeadCell<T>({
  column,
  sort,
  onSort,
}: {
  column: Column<T>;
  sort: Sort;
  onSort: (sort: Sort) => void;
}) {
  const sorted = sort.by === column.id;
  return (
    // biome-ignore lint/a11y/useSemanticElements: as above
    // biome-ignore lint/a11y/useFocusableInteractive: the button inside it takes the focus
    <div
      role="columnheader"
      aria-sort={sorted ? (sort.down ? "descending" : "ascending") : undefined}
      className={cn(
        "type-label flex h-(--row) items-center pr-3 text-faint last:pr-0",
        column.align === "end" && "justify-end",
      )}
    >
      {column.sortable ? (
        <button
          type="button"
          onClick={() => onSort({ by: column.id, down: sorted ? !sort.down : false })}
          className="inline-flex h-6 items-center gap-1 hover:text-text"
        >
          {column.label}
          {sorted && <Icon of={sort.down ? ChevronUp : ChevronDown} small />}
        </button>
      ) : (
        column.label
      )}
    </div>
  );
}
