import { type ReactNode, useEffect, useRef } from "react";
import { Markdown } from "~/components/markdown";
import { ReportCard } from "~/components/report";
import { StateMark } from "~/components/state";
import type { RunEvent } from "~/platform/bindings";
import { strings } from "./strings";
import type { Asking } from "./use-ask";

const words = strings.live;

/** A question on its way: what is done now, what was found, and the answer as it grows. */
export function Live({ asking }: { asking: Asking }) {
  const { heard, text, seconds } = asking;
  const tokens = heard.reduce(
    (sum, { event }) => sum + (event.type === "llm_finished" ? event.tokens.total_tokens : 0),
    0,
  );
  const lines = heard.flatMap(({ event }, place) => {
    const line = lineOf(event);
    return line === null ? [] : [{ key: `${place}`, line, guard: event.type === "guard" }];
  });
  return (
    <Follow label={words.label} grown={text.length + lines.length}>
      <div className="flex items-center gap-2 text-muted">
        <StateMark mark="turning" tone="accent" />
        <span className="truncate">
          {asking.stopping ? words.stopping : now(heard.map(({ event }) => event))}
        </span>
        <span className="type-small ml-auto shrink-0 text-faint">
          {words.elapsed(seconds)}
          {tokens > 0 && ` · ${words.tokens(tokens)}`}
        </span>
      </div>
      {asking.stopReport && <ReportCard className="mt-2" report={asking.stopReport} />}
      {lines.length > 0 && (
        <ol className="type-small mt-2 grid gap-0.5 border-line border-l pl-3 text-muted">
          {lines.map(({ key, line, guard }) => (
            <li key={key} className={guard ? "text-warn" : undefined}>
              {line}
            </li>
          ))}
        </ol>
      )}
      {text !== "" && (
        <section aria-label={words.answer} className="doc mt-4">
          <Markdown>{text}</Markdown>
        </section>
      )}
    </Follow>
  );
}

/** What stays in the list of steps once it has happened. */
function lineOf(event: RunEvent): string | null {
  switch (event.type) {
    case "iteration_started":
      return words.turn(event.i, event.n);
    case "tool_finished":
      return words.toolDone(event.tool, event.result_count);
    case "guard":
      return words.guard[event.name];
    default:
      return null;
  }
}

/** What is being done at this moment. */
function now(events: RunEvent[]): string {
  const last = events.findLast(({ type }) => type !== "answer_delta" && type !== "guard");
  switch (last?.type) {
    case "llm_waiting":
      return words.waiting(last.seconds);
    case "llm_started":
    case "llm_resumed":
    case "iteration_started":
    case "tool_finished":
      return words.model;
    case "tool_started":
      return words.tool(last.tool, last.reason);
    case "closing":
    case "llm_finished":
      return words.closing[last.type === "closing" ? last.by : "done"];
    case "structured_started":
      return words.structured;
    default:
      return words.starting;
  }
}

/** Stays at the end while the end is in view; never moves what is being read further up. */
function Follow({ label, grown, children }: { label: string; grown: number; children: ReactNode }) {
  const box = useRef<HTMLElement>(null);
  const atEnd = useRef(true);
  useEffect(() => {
    const { current } = box;
    if (current && atEnd.current && grown > 0) current.scrollTop = current.scrollHeight;
  }, [grown]);
  return (
    <section
      ref={box}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
      tabIndex={0}
      data-focus-inside
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        atEnd.current = scrollHeight - scrollTop - clientHeight < 24;
      }}
      className="scroll-quiet min-h-0 flex-1 px-6 py-4 max-[1100px]:px-4"
    >
      {children}
    </section>
  );
}
