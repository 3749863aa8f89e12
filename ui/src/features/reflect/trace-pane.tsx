import type { Span } from "~/components/trace/spans";
import { Waterfall } from "~/components/trace/waterfall";
import { words } from "~/components/trace/words";
import { duration } from "~/lib/format";
import type { ReflectRunView } from "~/platform/bindings";

/** The trace of what is on show, or of what is running. */
export function TracePane({
  spans,
  view,
  elapsed,
}: {
  spans: readonly Span[];
  view: ReflectRunView | null;
  /** Milliseconds so far; null when the run has ended. */
  elapsed: number | null;
}) {
  const count = (kind: Span["kind"]) => spans.filter((span) => span.kind === kind).length;
  const took =
    view?.finished_at == null ? null : Date.parse(view.finished_at) - Date.parse(view.started_at);
  return (
    <>
      <div className="flex min-h-8 shrink-0 items-center gap-3 px-4">
        <h2 className="type-strong">{words.title}</h2>
        <span className="type-small truncate text-faint">
          {words.summary(count("model"), count("tool"))}
          {took !== null && `, ${duration(took)}`}
        </span>
        {elapsed === null && count("model") > 0 && (
          <span className="type-small ml-auto truncate text-faint">{words.placed}</span>
        )}
      </div>
      <Waterfall spans={spans} elapsed={elapsed} />
    </>
  );
}
