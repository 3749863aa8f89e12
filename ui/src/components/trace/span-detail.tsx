import { useState } from "react";
import { Button } from "~/components/button";
import { CopyButton } from "~/components/copy-button";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { SkeletonRows } from "~/components/skeleton";
import { Terms } from "~/components/terms";
import { duration } from "~/lib/format";
import { toolName } from "~/lib/steps";
import type { BankId, JsonValue, RecordedCall, RunId } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { labelOf, type Span } from "./spans";
import { words } from "./words";

/** Results can be as large as a document; this much of one is drawn. */
const shownChars = 20_000;

/** The run that a trace is of, for what is on record beside it. */
export interface TraceOf {
  bank: BankId;
  run: RunId;
}

/** Everything that is kept of one step. */
export function SpanDetail({ span, of }: { span: Span; of: TraceOf | null }) {
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
      <Terms rows={rows} className="type-small grid-cols-[5.5rem_minmax(0,1fr)]" />
      {tool && <Json title={words.input} value={tool.input} />}
      {tool && tool.output !== null && <Json title={words.output} value={tool.output} />}
      {call && of && <Sent key={span.id} of={of} scope={labelOf(call)} nth={span.nth ?? 0} />}
      {(tool ?? call) && (
        <CopyButton
          kind="plain"
          size="small"
          className="mt-2"
          text={() => JSON.stringify(tool ?? call, null, 2)}
        >
          {words.copySpan}
        </CopyButton>
      )}
    </ScrollText>
  );
}

/** What went to the language model and what came back, fetched when it is asked for. */
function Sent({ of, scope, nth }: { of: TraceOf; scope: string; nth: number }) {
  const [asked, setAsked] = useState(false);
  const call = useRead("recordedCall", asked ? [of.bank, of.run, scope, nth] : null);
  if (!asked) {
    return (
      <Button size="small" className="mt-3" onClick={() => setAsked(true)}>
        {words.sent}
      </Button>
    );
  }
  if (call.error) return <ReportCard report={call.error} onRetry={() => void call.refetch()} />;
  if (call.data === undefined) return <SkeletonRows rows={2} />;
  if (call.data === null) return <p className="type-small mt-3 text-muted">{words.sentNone}</p>;
  return <Record call={call.data} />;
}

function Record({ call }: { call: RecordedCall }) {
  const rows: [string, string | null][] = [
    [words.llm, call.llm],
    [words.prompt, `${call.prompt_name} ${call.prompt_hash.slice(0, 8)}`],
    [words.tools, call.tools.length > 0 ? call.tools.map(toolName).join(", ") : null],
    [words.ended, call.finish_reason],
    [words.fault, call.error],
  ];
  return (
    <section aria-label={words.sent} className="mt-3 border-line border-t pt-2">
      <Terms rows={rows} className="type-small grid-cols-[5.5rem_minmax(0,1fr)]" />
      {call.messages.length === 0 && <p className="type-small mt-2 text-muted">{words.sentNone}</p>}
      {call.messages.map(({ role, text }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages keep their order
        <Said key={place} title={words.roles[role] ?? role} text={text} />
      ))}
      {call.reply !== null && <Said title={words.reply} text={call.reply} />}
    </section>
  );
}

function Json({ title, value }: { title: string; value: JsonValue }) {
  return <Said title={title} text={JSON.stringify(value, null, 2)} />;
}

function Said({ title, text }: { title: string; text: string }) {
  return (
    <>
      <h4 className="type-label pt-3 pb-1 text-faint">{title}</h4>
      <pre className="type-code select-text whitespace-pre-wrap break-words">
        {text.length > shownChars ? `${text.slice(0, shownChars)}…` : text}
      </pre>
    </>
  );
}
