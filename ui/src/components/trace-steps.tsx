import { count, duration, plural } from "~/lib/format";
import { callName, toolName } from "~/lib/steps";
import type { JsonValue, LlmCallRecord, ToolCallRecord, Trace } from "~/platform/bindings";

const words = {
  steps: "Steps",
  tool: "Tool",
  call: "Model call",
  results: (results: number) => plural(results, "result"),
  tokens: (tokens: number) => `${count(tokens)} tokens`,
} as const;

/** The steps of a kept trace as a table; what is not in it is not guessed. */
export function TraceSteps({ trace }: { trace: JsonValue }) {
  const { tool_calls: tools = [], llm_calls: calls = [] } = asTrace(trace);
  const steps = [
    ...tools.map((call, place) => ({
      key: `tool ${place}`,
      turn: call.iteration,
      kind: words.tool,
      name: call.reason ? `${toolName(call.tool)}: ${call.reason}` : toolName(call.tool),
      result: words.results(call.result_count),
      took: call.duration_ms,
    })),
    ...calls.map((call, place) => ({
      key: `call ${place}`,
      turn: call.iteration ?? 0,
      kind: words.call,
      name: callName(call.scope),
      result: words.tokens(call.input_tokens + call.output_tokens),
      took: call.duration_ms,
    })),
  ].sort((a, b) => a.turn - b.turn);
  return (
    <table className="w-full">
      <caption className="type-label pb-2 text-left text-faint">{words.steps}</caption>
      <tbody>
        {steps.map((step) => (
          <tr key={step.key} className="border-line border-b">
            <td className="w-24 py-1.5 pr-2 text-muted">{step.kind}</td>
            <td className="py-1.5 pr-2">{step.name}</td>
            <td className="py-1.5 pr-2 text-right text-muted">{step.result}</td>
            <td className="w-20 py-1.5 text-right text-muted">{duration(step.took)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The records of a trace as it is stored; one of another version may lack some. */
export function asTrace(value: JsonValue): {
  tool_calls?: ToolCallRecord[];
  llm_calls?: LlmCallRecord[];
} {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as unknown as Trace)
    : {};
}
