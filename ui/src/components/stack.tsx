import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { memo, type ReactNode, useEffect, useRef } from "react";
import { cn } from "~/lib/cn";
import { withIndex } from "~/lib/range";
import { useRem } from "~/lib/use-rem";

/**
 * Parts of unlike height under one another, of which only those in view are in the page. The current
 * part stays in the page and is brought into view when `moved` grows.
 */
export function Stack<T>({
  label,
  items,
  keyOf,
  current,
  moved,
  height,
  whole = 0,
  align = "auto",
  before,
  after,
  className,
  children,
}: {
  /** Makes it a region that Tab reaches, where nothing inside takes the focus. */
  label?: string;
  items: readonly T[];
  keyOf: (item: T) => string;
  /** Index of the part that is looked at; -1 for none. */
  current: number;
  moved: number;
  /** Guess of a part's height in rem, until it is measured. */
  height: number;
  /** Up to this many parts all are in the page, so that a text of usual size is there as a whole. */
  whole?: number;
  /** Where the current part is brought to. */
  align?: "auto" | "start";
  before?: ReactNode;
  after?: ReactNode;
  className?: string;
  children: (item: T) => ReactNode;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const rem = useRem();
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height * rem,
    getItemKey: (index) => keyOf(items[index] as T),
    overscan: items.length <= whole ? items.length : 4,
    rangeExtractor: (range) =>
      withIndex(defaultRangeExtractor(range), Math.min(current, range.count - 1)),
  });
  useEffect(() => {
    if (moved > 0 && current >= 0) virtual.scrollToIndex(current, { align });
  }, [moved, current, virtual, align]);

  return (
    <div
      ref={scroller}
      {...(label === undefined ? {} : { role: "region", "aria-label": label, tabIndex: 0 })}
      data-focus-inside
      className={cn("scroll-quiet min-h-0 flex-1", className)}
    >
      {before}
      <div className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((part) => (
          <div
            key={part.key}
            ref={virtual.measureElement}
            data-index={part.index}
            className="absolute inset-x-0 top-0"
            style={{ transform: `translateY(${part.start}px)` }}
          >
            <Part item={items[part.index]} draw={children as (item: unknown) => ReactNode} />
          </div>
        ))}
      </div>
      {after}
    </div>
  );
}

/** Drawn anew when its item changes or how it is drawn, and not with each step of the scroller. */
const Part = memo(function Part({
  item,
  draw,
}: {
  item: unknown;
  draw: (item: unknown) => ReactNode;
}) {
  return draw(item);
});
