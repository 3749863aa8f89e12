import { ChevronDown, ChevronRight } from "lucide-react";
import { Icon } from "~/components/icon";
import { cn } from "~/lib/cn";
import { duration } from "~/lib/format";
import type { Span } from "./spans";
import { words } from "./words";

/** The name of a step, and its bar. */
export const columns =
  "grid grid-cols-[18.5rem_minmax(0,1fr)] max-[1100px]:grid-cols-[15rem_minmax(0,1fr)]";

/** One step: its name with what it brought, and when it ran. */
export function Row({
  id,
  place,
  top,
  span,
  total,
  active,
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
  total: number;
  active: boolean;
  /** Null where nothing can be folded. */
  folded: boolean | null;
  onFold: (shut: boolean) => void;
  onChoose: () => void;
}) {
  const took = span.took ?? Math.max(0, total - span.start);
  // Eight hundredths are kept free on the right for the last length.
  const share = (ms: number) => `${(ms / total) * 92}%`;
  const told = `${words.kinds[span.kind]}, ${words.start} ${duration(span.start)}, ${words.took} ${
    span.took === null ? words.running : duration(span.took)
  }${span.failed ? `, ${words.status.error}` : ""}`;
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a tree are no table rows
    // biome-ignore lint/a11y/useFocusableInteractive: the table itself holds the focus
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the table
    <div
      id={id}
      role="row"
      aria-rowindex={place + 2}
      aria-level={span.parent === null ? 1 : 2}
      aria-expanded={folded === null ? undefined : !folded}
      aria-selected={active}
      onClick={onChoose}
      className={cn(columns, "absolute inset-x-0 top-0", active ? "bg-selected" : "hover:bg-hover")}
      style={{ transform: `translateY(${top}px)` }}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: as above */}
      <div
        role="gridcell"
        className={cn(
          "flex h-6 min-w-0 items-center gap-1.5 border-line border-r pr-2",
          span.parent === null ? "pl-1" : "pl-5",
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
        <span className="min-w-0 flex-1 truncate">{span.name}</span>
        <span className={cn("type-small shrink-0", span.failed ? "text-bad" : "text-faint")}>
          {span.note}
        </span>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: as above */}
      <div role="gridcell" className="relative h-6 min-w-0">
        <span className="sr-only">{told}</span>
        <span aria-hidden="true">
          <Bar span={span} took={took} share={share} />
          <span
            className="type-small absolute top-1 whitespace-nowrap px-1.5 text-faint"
            // At whichever side there is room.
            style={
              (span.start + took) / total > 0.8 && span.start / total > 0.15
                ? { right: `calc(100% - ${share(span.start)})` }
                : { left: share(span.start + took) }
            }
          >
            {span.took === null ? "" : duration(span.took)}
          </span>
        </span>
      </div>
    </div>
  );
}

function Bar({ span, took, share }: { span: Span; took: number; share: (ms: number) => string }) {
  const wait = Math.min(span.wait, took);
  return (
    <>
      {wait > 0 && (
        <span
          className="absolute top-2 h-2 rounded-[2px] bg-[repeating-linear-gradient(135deg,var(--kind-model)_0_2px,transparent_2px_5px)]"
          style={{ left: share(span.start), width: share(wait) }}
        />
      )}
      <span
        className={cn(
          "absolute top-2 h-2 min-w-[3px] rounded-[2px]",
          span.kind === "model" ? "bg-kind-model" : "bg-kind-tool",
          span.failed && "border-2 border-bad bg-transparent",
        )}
        style={{ left: share(span.start + wait), width: share(took - wait) }}
      />
    </>
  );
}
