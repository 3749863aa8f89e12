import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { X } from "lucide-react";
import {
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from "react";
import { IconButton } from "~/components/button";
import { withIndex } from "~/lib/range";
import { useRem } from "~/lib/use-rem";
import { criticalPath, type Stretch, textOf, zoomed } from "./look";
import { Ruler } from "./ruler";
import { SpanDetail, type TraceOf } from "./span-detail";
import type { Span } from "./spans";
import { TraceBar, type Which } from "./trace-bar";
import { Row } from "./waterfall-row";
import { words } from "./words";

/** Height of a step and of the ruler, in rem. */
const ROW = 1.5;

/** The steps of a run over time; only those in view are in the page. The table tells everything; the bars are drawn beside it. */
export function Waterfall({
  spans,
  elapsed,
  of = null,
  head = null,
}: {
  spans: readonly Span[];
  elapsed: number | null;
  /** The kept run, whose model calls may be on record. */
  of?: TraceOf | null;
  /** Stands before what can be done with the trace. */
  head?: ReactNode;
}) {
  const id = useId();
  const table = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState<string | null>(null);
  const [open, setOpen] = useState(false);
  const [find, setFind] = useState("");
  const [which, setWhich] = useState<Which>("all");
  const [critical, setCritical] = useState(false);
  const [stretch, setStretch] = useState<Stretch | null>(null);
  const shown = spans.filter(
    ({ parent, kind }) =>
      (which === "all" || kind === which) &&
      (parent === null || which !== "all" || !folded.has(parent)),
  );
  const parents = useMemo(() => new Set(spans.map(({ parent }) => parent)), [spans]);
  const path = useMemo(() => (critical ? criticalPath(spans) : null), [critical, spans]);
  const letters = find.trim().toLowerCase();
  const matches = useMemo(
    () => (letters === "" ? [] : spans.filter((span) => textOf(span).includes(letters))),
    [spans, letters],
  );
  const total = spans.reduce(
    (end, { start, took }) => Math.max(end, start + (took ?? 0)),
    Math.max(elapsed ?? 0, 1),
  );
  const view = stretch ?? { from: 0, to: total };
  const at = shown.findIndex((span) => span.id === active);
  const chosen = shown[at];
  const hasChildren = (span: Span) => which === "all" && parents.has(span.id);
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
  const zoom = (factor: number | null) => {
    const around = chosen ? chosen.start + (chosen.took ?? 0) / 2 : (view.from + view.to) / 2;
    const next = factor === null ? null : zoomed(view, total, factor, around);
    setStretch(next === null || next.to - next.from >= total ? null : next);
  };
  const nth = matches.findIndex((span) => span.id === active);
  /** Goes to the next match, round and round; a match that is not shown is brought into view. */
  const goTo = (by: number) => {
    const from = nth >= 0 ? nth : by > 0 ? -1 : 0;
    const next = matches[(from + by + matches.length) % matches.length];
    if (!next) return;
    setWhich("all");
    const { parent } = next;
    if (parent !== null && folded.has(parent)) {
      setFolded((before) => new Set([...before].filter((each) => each !== parent)));
    }
    setActive(next.id);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = shown.length - 1;
    const moves: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at < 0 ? last : at - 1,
      Home: 0,
      End: last,
    };
    const acts: Record<string, () => void> = {
      "+": () => zoom(0.5),
      "=": () => zoom(0.5),
      "-": () => zoom(2),
      "0": () => zoom(null),
      p: () => setCritical(!critical),
      n: () => goTo(1),
      N: () => goTo(-1),
    };
    const target = moves[event.key];
    const act = acts[event.key];
    if (target !== undefined) {
      setActive(shown[Math.max(0, Math.min(last, target))]?.id ?? null);
    } else if (event.key === "ArrowLeft" && chosen) {
      if (hasChildren(chosen) && !folded.has(chosen.id)) fold(chosen, true);
      else if (chosen.parent) setActive(chosen.parent);
    } else if (event.key === "ArrowRight" && chosen) fold(chosen, false);
    else if (event.key === "Enter" && chosen) setOpen(true);
    else if (event.key === "Escape" && open) setOpen(false);
    // Without something to find, its keys are those of the screen.
    else if (act && (matches.length > 0 || event.key.toLowerCase() !== "n")) act();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onFindKey = (event: KeyboardEvent) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "f") return;
    event.preventDefault();
    event.stopPropagation();
    field.current?.focus();
    field.current?.select();
  };

  if (spans.length === 0) {
    return (
      <>
        {head && <div className="flex min-h-9 shrink-0 items-center gap-3 px-4">{head}</div>}
        <p className="px-4 py-2 text-muted">{words.noSteps}</p>
      </>
    );
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the key for finding, heard on its way up
    <div className="flex min-h-0 flex-1 flex-col" onKeyDown={onFindKey}>
      <TraceBar
        head={head}
        field={field}
        find={find}
        onFind={setFind}
        found={{ at: nth + 1, all: matches.length }}
        onFound={goTo}
        which={which}
        onWhich={setWhich}
        critical={critical}
        onCritical={setCritical}
        onZoom={zoom}
      />
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
          <Ruler view={view} total={total} onStretch={setStretch} />
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
                  view={view}
                  nested={which === "all" && span.parent !== null}
                  active={span.id === active}
                  onPath={path === null ? null : path.has(span.id)}
                  matches={matches.includes(span)}
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
            <SpanDetail span={chosen} of={of} />
          </aside>
        )}
      </div>
    </div>
  );
}
