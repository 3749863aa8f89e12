import { ChevronDown, ChevronRight } from "lucide-react";
import { Icon } from "~/components/icon";
import { cn } from "~/lib/cn";
import { duration } from "~/lib/format";
import type { Stretch } from "./look";
import type { Span } from "./spans";
import { words } from "./words";

/** The name of a step, and its bar. */
export const columns =
  "grid grid-cols-[18.5rem_minmax(0,1fr)] max-[1100px]:grid-cols-[15rem_minmax(0,1fr)]";

/** Of the lane, what bars take; the rest is kept free for the last length. */
export const laneShare = 0.92;

/** One step: its name with what it brought, and when it ran. */
export function Row({
  id,
  place,
  top,
  span,
  view,
  nested,
  active,
  onPath,
  matches,
  folded,
  onFold,
  onChoose,
}: {
  id: string;
  /** Which step it is, from 0. */
  place: number;
  /** Where it lies below the ruler, in pixels. */
  top: number;
  span: Span;
  /** The stretch of time in view. */
  view: Stretch;
  /** Whether it stands below its turn. */
  nested: boolean;
  active: boolean;
  /** Whether the run waited for it; null where that is not asked. */
  onPath: boolean | null;
  /** Whether the words that are looked for stand in it. */
  matches: boolean;
  /** Null where nothing can be folded. */
  folded: boolean | null;
  onFold: (shut: boolean) => void;
  onChoose: () => void;
}) {
  const took = span.took ?? Math.max(0, view.to - span.start);
  const length = view.to - view.from;
  const width = (ms: number) => `${(ms / length) * laneShare * 100}%`;
  const left = (ms: number) => width(ms - view.from);
  const told = `${words.kinds[span.kind]}, ${words.start} ${duration(span.start)}, ${words.took} ${
    span.took === null ? words.running : duration(span.took)
  }${span.failed ? `, ${words.status.error}` : ""}${onPath ? `, ${words.onPath}` : ""}`;
  const ends = (span.start + took - view.from) / length;
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a tree are no table rows
    // biome-ignore lint/a11y/useFocusableInteractive: the table itself holds the focus
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the table
    <div
      id={id}
      role="row"
      aria-rowindex={place + 2}
      aria-level={nested ? 2 : 1}
      aria-expanded={folded === null ? undefined : !folded}
      aria-selected={active}
      onClick={onChoose}
      className={cn(
        columns,
        "absolute inset-x-0 top-0",
        active ? "bg-selected" : matches ? "bg-accent-soft" : "hover:bg-hover",
      )}
      style={{ transform: `translateY(${top}px)` }}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: as above */}
      <div
        role="gridcell"
        className={cn(
          "flex h-6 min-w-0 items-center gap-1.5 border-line border-r pr-2",
          nested ? "pl-5" : "pl-1",
        )}
      >
        {folded === null ? (
          <span className="w-3.5 shrink-0" />
        ) : (
          <button
            type="button"
            tabIndex={-1}
            aria-hidden="true"
            onClick={(event) => {
              event.stopPropagation();
              onFold(!folded);
            }}
            className="-mx-1 grid size-6 shrink-0 place-items-center text-faint"
          >
            <Icon of={folded ? ChevronRight : ChevronDown} small />
          </button>
        )}
        <span
          className={cn(
            "size-2 shrink-0 rounded-[2px]",
            span.failed ? "bg-bad" : span.kind === "model" ? "bg-kind-model" : "bg-kind-tool",
          )}
        />
        <span className={cn("min-w-0 flex-1 truncate", onPath && "font-semibold")}>
          {span.name}
        </span>
        <span className={cn("type-small shrink-0", span.failed ? "text-bad" : "text-faint")}>
          {span.note}
        </span>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: as above */}
      <div role="gridcell" className="relative h-6 min-w-0 overflow-hidden">
        <span className="sr-only">{told}</span>
        <span aria-hidden="true" className={cn(onPath === false && "opacity-40")}>
          <Bar span={span} took={took} left={left} width={width} />
          <span
            className="type-small absolute top-1 whitespace-nowrap px-1.5 text-faint"
            // At whichever side there is room.
            style={
              ends > 0.8 && (span.start - view.from) / length > 0.15
                ? { right: `calc(100% - ${left(span.start)})` }
                : { left: left(span.start + took) }
            }
          >
            {span.took === null ? "" : duration(span.took)}
          </span>
        </span>
      </div>
    </div>
  );
}

function Bar({
  span,
  took,
  left,
  width,
}: {
  span: Span;
  took: number;
  left: (ms: number) => string;
  width: (ms: number) => string;
}) {
  const wait = Math.min(span.wait, took);
  return (
    <>
      {wait > 0 && (
        <span
          className="absolute top-2 h-2 rounded-[2px] bg-[repeating-linear-gradient(135deg,var(--kind-model)_0_2px,transparent_2px_5px)]"
          style={{ left: left(span.start), width: width(wait) }}
        />
      )}
      <span
        className={cn(
          "absolute top-2 h-2 min-w-[3px] rounded-[2px]",
          span.kind === "model" ? "bg-kind-model" : "bg-kind-tool",
          span.failed && "border-2 border-bad bg-transparent",
        )}
        style={{ left: left(span.start + wait), width: width(took - wait) }}
      />
    </>
  );
}
