import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from "react";
import { cn } from "~/lib/cn";
import { withIndex } from "~/lib/range";
import { useRem } from "~/lib/use-rem";

/**
 * A list of which one row is the active one. Only rows in view are in the page. Focus stays on the
 * list itself; the active row is told by id, so it survives refetching.
 */
export function List<T>({
  label,
  items,
  idOf,
  active,
  onActive,
  onOpen,
  onSpace,
  rowHeight,
  plain = false,
  children,
  after,
  onEnd,
  className,
}: {
  label: string;
  items: readonly T[];
  idOf: (item: T) => string;
  active: string | null;
  /** `pressed` tells a pointer from the keys. */
  onActive: (item: T, pressed: boolean) => void;
  onOpen?: (item: T) => void;
  /** Space selects, where selecting means something of its own. */
  onSpace?: (item: T) => void;
  /** Without hairlines between rows. */
  plain?: boolean;
  /** Height of a row in rem; measured anew when rows differ. */
  rowHeight: number;
  children: (item: T, active: boolean) => ReactNode;
  /** Stands below the last row. */
  after?: ReactNode;
  /** Called when the last row comes into view. */
  onEnd?: (() => void) | undefined;
  className?: string;
}) {
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const rem = useRem();
  const at = items.findIndex((item) => idOf(item) === active);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight * rem,
    getItemKey: (index) => idOf(items[index] as T),
    overscan: 6,
    // The active row stays in the page, so that it can be told to readers.
    rangeExtractor: (range) => withIndex(defaultRangeExtractor(range), at),
  });
  const rows = virtual.getVirtualItems();
  const last = rows.at(-1)?.index ?? -1;

  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: "auto" });
  }, [at, virtual]);
  useEffect(() => {
    if (onEnd && items.length > 0 && last === items.length - 1) onEnd();
  }, [last, items.length, onEnd]);

  const moveTo = (index: number) => {
    const item = items[Math.max(0, Math.min(items.length - 1, index))];
    if (item !== undefined) onActive(item, false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, rows.length - 8);
    const moves: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      j: at + 1,
      k: at - 1,
      Home: 0,
      End: items.length - 1,
      PageDown: at + page,
      PageUp: at - page,
    };
    const target = moves[event.key];
    if (target !== undefined) moveTo(target);
    else if (event.key === "Enter" && items[at] !== undefined) onOpen?.(items[at]);
    else if (event.key === " " && onSpace && items[at] !== undefined) onSpace(items[at]);
    else return;
    event.preventDefault();
  };

  return (
    <div
      ref={scroller}
      role="listbox"
      aria-label={label}
      aria-activedescendant={at >= 0 ? `${id}-${active}` : undefined}
      tabIndex={0}
      data-focus-inside
      onKeyDown={onKeyDown}
      className={cn("scroll-quiet min-h-0 flex-1", className)}
    >
      <div className="relative" style={{ height: virtual.getTotalSize() }}>
        {rows.map((row) => {
          const item = items[row.index] as T;
          const own = idOf(item);
          const chosen = own === active;
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the list, which holds the focus
            // biome-ignore lint/a11y/useFocusableInteractive: rows are told by aria-activedescendant
            <div
              key={row.key}
              id={`${id}-${own}`}
              role="option"
              aria-selected={chosen}
              aria-posinset={row.index + 1}
              aria-setsize={items.length}
              data-index={row.index}
              ref={virtual.measureElement}
              onClick={() => onActive(item, true)}
              onDoubleClick={() => onOpen?.(item)}
              className={cn(
                "absolute inset-x-0 top-0",
                !plain && "border-line border-b",
                chosen ? "bg-selected" : "hover:bg-hover",
              )}
              style={{ transform: `translateY(${row.start}px)` }}
            >
              {children(item, chosen)}
            </div>
          );
        })}
      </div>
      {after}
    </div>
  );
}
