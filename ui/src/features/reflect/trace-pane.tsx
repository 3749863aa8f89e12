import type { Span } from "~/components/trace/spans";
import { Waterfall } from "~/components/trace/waterfall";
import { words } from "~/components/trace/words";
import { duration } from "~/lib/format";
import type { BankId, ReflectRunView } from "~/platform/bindings";

/** The trace of what is on show, or of what is running. */
export function TracePane({
  bank,
  spans,
  view,
  elapsed,
}: {
  bank: BankId;
  spans: readonly Span[];
  view: ReflectRunView | null;
  /** Milliseconds so far; null when the run has ended. */
  elapsed: number | null;
}) {
  const count = (kind: Span["kind"]) => spans.filter((span) => span.kind === kind).length;
  const took =
    view?.finished_at == null ? null : Date.parse(view.finished_at) - Date.parse(view.started_at);
  return (
    <Waterfall
      spans={spans}
      elapsed={elapsed}
      of={view && { bank, run: view.id }}
      head={
        <>
          <h2 className="type-strong">{words.title}</h2>
          <span className="type-small truncate text-faint">
            {words.summary(count("model"), count("tool"))}
            {took !== null && `, ${duration(took)}`}
          </span>
          {elapsed === null && count("model") > 0 && (
            <span className="type-small truncate text-faint max-[1700px]:sr-only">
              {words.placed}
            </span>
          )}
        </>
      }
    />
  );
}
