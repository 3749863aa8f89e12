import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { X } from "lucide-react";
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import { IconButton } from "~/components/button";
import { cn } from "~/lib/cn";
import { duration } from "~/lib/format";
import { withIndex } from "~/lib/range";
import { useRem } from "~/lib/use-rem";
import { SpanDetail } from "./span-detail";
import { rulerStep, type Span } from "./spans";
import { columns, Row } from "./waterfall-row";
import { words } from "./words";

/** Height of a step and of the ruler, in rem. */
const ROW = 1.5;

/** The steps of a run over time; only those in view are in the page. The table tells everything; the bars are drawn beside it. */
export function Waterfall({ spans, elapsed }: { spans: readonly Span[]; elapsed: number | null }) {
  const id = useId();
  const table = useRef<HTMLDivElement>(null);
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState<string | null>(null);
  const [open, setOpen] = useState(false);
  const shown = spans.filter(({ parent }) => parent === null || !folded.has(parent));
  const parents = useMemo(() => new Set(spans.map(({ parent }) => parent)), [spans]);
  const total = spans.reduce(
    (end, { start, took }) => Math.max(end, start + (took ?? 0)),
    Math.max(elapsed ?? 0, 1),
  );
  const at = shown.findIndex((span) => span.id === active);
  const chosen = shown[at];
  const hasChildren = (span: Span) => parents.has(span.id);
  const rem = useRem();
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => table.current,
    // The ruler stays in view and must cover no step.
    scrollPaddingStart: ROW * rem,
    scrollMargin: ROW * rem,
    estimateSize: () => ROW * rem,
    getItemKey: (index) => shown[index]?.id ?? index,
    overscan: 8,
    // The active step stays in the page, so that it can be told to readers.
    rangeExtractor: (range) => withIndex(defaultRangeExtractor(range), at),
  });
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: "auto" });
  }, [at, virtual]);
  const fold = (span: Span, shut: boolean) =>
    setFolded((before) => {
      const next = new Set(before);
      if (shut) next.add(span.id);
      else next.delete(span.id);
      return next;
    });

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = shown.length - 1;
    const moves: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at < 0 ? last : at - 1,
      Home: 0,
      End: last,
    };
    const target = moves[event.key];
    if (target !== undefined) {
      setActive(shown[Math.max(0, Math.min(last, target))]?.id ?? null);
    } else if (event.key === "ArrowLeft" && chosen) {
      if (hasChildren(chosen) && !folded.has(chosen.id)) fold(chosen, true);
      else if (chosen.parent) setActive(chosen.parent);
    } else if (event.key === "ArrowRight" && chosen) fold(chosen, false);
    else if (event.key === "Enter" && chosen) setOpen(true);
    else if (event.key === "Escape" && open) setOpen(false);
    else return;
    event.preventDefault();
  };

  if (spans.length === 0) return <p className="px-4 py-2 text-muted">{words.noSteps}</p>;
  return (
    <div className="flex min-h-0 flex-1">
      <div
        ref={table}
        role="treegrid"
        aria-label={words.title}
        aria-rowcount={shown.length + 1}
        aria-activedescendant={chosen ? `${id}-${chosen.id}` : undefined}
        tabIndex={0}
        data-focus-inside
        onKeyDown={onKeyDown}
        className="scroll-quiet min-h-0 min-w-0 flex-1"
      >
        <Ruler total={total} />
        <div role="presentation" className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start, key }) => {
            const span = shown[index];
            if (!span) return null;
            return (
              <Row
                key={key}
                id={`${id}-${span.id}`}
                place={index}
                top={start - virtual.options.scrollMargin}
                span={span}
                total={total}
                active={span.id === active}
                folded={hasChildren(span) ? folded.has(span.id) : null}
                onFold={(shut) => fold(span, shut)}
                onChoose={() => {
                  setActive(span.id);
                  setOpen(true);
                }}
              />
            );
          })}
        </div>
      </div>
      {open && chosen && (
        <aside
          aria-label={words.detail}
          className="flex w-80 min-w-0 shrink-0 flex-col border-line border-l max-[1100px]:w-60"
        >
          <div className="flex h-8 items-center gap-2 border-line border-b pr-1 pl-3">
            <h3 className="type-strong truncate">{chosen.name}</h3>
            <IconButton
              icon={X}
              small
              name={words.closeDetail}
              className="ml-auto"
              onClick={() => {
                setOpen(false);
                table.current?.focus();
              }}
            />
          </div>
          <SpanDetail span={chosen} />
        </aside>
      )}
    </div>
  );
}

function Ruler({ total }: { total: number }) {
  const step = rulerStep(total);
  const marks = Array.from({ length: Math.floor(total / step) + 1 }, (_, place) => place * step);
  return (
    // biome-ignore lint/a11y/useSemanticElements: as above
    // biome-ignore lint/a11y/useFocusableInteractive: the table itself holds the focus
    <div
      role="row"
      aria-rowindex={1}
      className={cn(columns, "type-label sticky top-0 z-1 bg-ground text-faint")}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: as above */}
      <div role="columnheader" className="flex h-6 items-center border-line border-r px-4">
        {words.name}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: as above */}
      <div role="columnheader" className="relative h-6 overflow-hidden">
        <span className="sr-only">{`${words.kind}, ${words.start}, ${words.took}`}</span>
        {marks.map((mark) => (
          <span
            key={mark}
            aria-hidden="true"
            className="absolute top-1 border-line border-l pl-1"
            style={{ left: `${(mark / total) * 92}%` }}
          >
            {mark === 0 ? "0" : duration(mark).replace(".0 ", " ")}
          </span>
        ))}
      </div>
    </div>
  );
}
