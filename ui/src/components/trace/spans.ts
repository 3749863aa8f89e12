/**
 * The steps of a run as bars. A kept trace has durations and turns but no starting times: model
 * calls are laid end to end, the tools of one turn side by side after the call that asked for them.
 * A run that is watched has the times at which its events arrived.
 */
import { callName, searchName, toolName } from "~/lib/steps";
import type { LlmCallRecord, RunEvent, ToolCallRecord, Trace } from "~/platform/bindings";
import { words } from "./words";

export interface Span {
  id: string;
  /** The turn above it; null for one that stands alone. */
  parent: string | null;
  kind: "model" | "tool";
  name: string;
  /** What it brought: facts, tokens. */
  note: string;
  /** Milliseconds from the start of the run. */
  start: number;
  /** Of these, waiting for a free place and for the first word. */
  wait: number;
  /** Null while it runs. */
  took: number | null;
  failed: boolean;
  tool?: ToolCallRecord;
  call?: LlmCallRecord;
  /** Which of the calls with the same label this is, from 0. */
  nth?: number;
}

/** The label of a call whether it failed or not. */
export const labelOf = ({ scope }: LlmCallRecord): string => scope.replace(/_err$/, "");

function stepName({ tool, input }: ToolCallRecord): string {
  const query = (input as { query?: unknown } | null)?.query;
  return typeof query === "string" && query !== "" ? searchName(tool, query) : toolName(tool);
}

function noteOf({ tool, status, result_count }: ToolCallRecord): string {
  if (status !== "ok") return words.status[status];
  return tool === "done" ? words.handedOver : words.results(result_count);
}

/** The bars of a trace, in the order of the run. */
export function spansOf(trace: Partial<Pick<Trace, "tool_calls" | "llm_calls">>): Span[] {
  const { tool_calls: tools = [], llm_calls: calls = [] } = trace;
  const turns = [
    ...new Set([...tools.map((t) => t.iteration), ...calls.flatMap((c) => c.iteration ?? [])]),
  ].sort((a, b) => a - b);
  const spans: Span[] = [];
  let at = 0;
  const labels = new Map<string, number>();
  const place = (call: LlmCallRecord, id: string, name: string): void => {
    const nth = labels.get(labelOf(call)) ?? 0;
    labels.set(labelOf(call), nth + 1);
    const wait = call.wait_ms + (call.first_token_ms ?? 0);
    const took = call.wait_ms + call.duration_ms;
    const note = words.tokens(call.input_tokens + call.output_tokens);
    const failed = call.status === "error";
    const kind = "model";
    spans.push({ id, parent: null, kind, name, note, start: at, wait, took, failed, call, nth });
    at += took;
  };
  for (const turn of turns) {
    const own = calls.filter(({ iteration }) => iteration === turn);
    own.forEach((call, n) => {
      place(call, `turn-${turn}${n ? `-${n}` : ""}`, words.turn(turn));
    });
    const used = tools.filter(({ iteration }) => iteration === turn);
    used.forEach((tool, n) => {
      spans.push({
        id: `tool-${turn}-${n}`,
        parent: own.length > 0 ? `turn-${turn}` : null,
        kind: "tool",
        name: stepName(tool),
        note: noteOf(tool),
        start: at,
        wait: 0,
        took: tool.duration_ms,
        failed: tool.status === "error" || tool.status === "rejected",
        tool,
      });
    });
    at += Math.max(0, ...used.map(({ duration_ms }) => duration_ms));
  }
  calls
    .filter(({ iteration }) => iteration === null)
    .forEach((call, n) => {
      place(call, `after-${n}`, callName(call.scope));
    });
  return spans;
}

/** An event with the milliseconds since the question was sent. */
export interface Heard {
  at: number;
  event: RunEvent;
}

/** The bars of a run that is being watched. What has started and not ended has no length yet. */
export function liveSpans(heard: readonly Heard[]): Span[] {
  const spans: Span[] = [];
  for (const { at, event } of heard) {
    if (event.type === "llm_started" || event.type === "tool_started") {
      const isModel = event.type === "llm_started";
      spans.push({
        id: `live-${spans.length}`,
        parent: null,
        kind: isModel ? "model" : "tool",
        name: isModel ? callName(event.scope) : toolName(event.tool),
        note: "",
        start: at,
        wait: 0,
        took: null,
        failed: false,
      });
    }
    if (event.type === "llm_finished") {
      end(spans, "model", at, words.tokens(event.tokens.total_tokens), event.status === "error");
    }
    if (event.type === "tool_finished") {
      const note =
        event.status === "ok" ? words.results(event.result_count) : words.status[event.status];
      end(spans, "tool", at, note, event.status === "error", toolName(event.tool));
    }
  }
  return spans;
}

function end(
  spans: Span[],
  kind: Span["kind"],
  at: number,
  note: string,
  failed: boolean,
  name?: string,
): void {
  const open = spans.find(
    (span) =>
      span.took === null && span.kind === kind && (name === undefined || span.name === name),
  );
  if (open) Object.assign(open, { took: at - open.start, note, failed });
}

/** A round step for the ruler so that at most six marks fit. */
export function rulerStep(total: number): number {
  const rough = Math.max(total, 1) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((each) => each * power >= rough) ?? 10;
  return factor * power;
}
