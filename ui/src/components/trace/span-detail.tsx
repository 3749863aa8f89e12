import { ScrollText } from "~/components/scroll";
import { duration } from "~/lib/format";
import { toolName } from "~/lib/steps";
import type { JsonValue } from "~/platform/bindings";
import type { Span } from "./spans";
import { words } from "./words";

/** Results can be as large as a document; this much of one is drawn. */
const shownChars = 20_000;

/** Everything that is kept of one step. */
export function SpanDetail({ span }: { span: Span }) {
  const { tool, call } = span;
  const rows: [string, string | null][] = [
    [words.kind, tool ? toolName(tool.tool) : words.kinds[span.kind]],
    [words.took, span.took === null ? words.running : duration(span.took)],
    [words.waited, span.wait > 0 ? duration(span.wait) : null],
    [words.result, span.note || null],
    [words.reason, tool?.reason ?? null],
    [words.guard, tool?.guard ? words.guards[tool.guard] : null],
    [words.inTokens, call ? `${call.input_tokens}` : null],
    [words.outTokens, call ? `${call.output_tokens}` : null],
    [words.cached, call?.cached_tokens ? `${call.cached_tokens}` : null],
  ];
  return (
    <ScrollText label={words.detail} className="px-3 py-2">
      <dl className="type-small grid grid-cols-[5.5rem_minmax(0,1fr)] gap-x-2 gap-y-1">
        {rows.map(([name, value]) =>
          value === null ? null : (
            <div key={name} className="contents">
              <dt className="text-faint">{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
      </dl>
      {tool && <Json title={words.input} value={tool.input} />}
      {tool && tool.output !== null && <Json title={words.output} value={tool.output} />}
    </ScrollText>
  );
}

function Json({ title, value }: { title: string; value: JsonValue }) {
  const text = JSON.stringify(value, null, 2);
  return (
    <>
      <h4 className="type-label pt-3 pb-1 text-faint">{title}</h4>
      <pre className="type-code select-text whitespace-pre-wrap break-words">
        {text.length > shownChars ? `${text.slice(0, shownChars)}…` : text}
      </pre>
    </>
  );
}
