import { plural } from "~/lib/format";
import type { ToolCallStatus } from "~/platform/bindings";

/** Words of the steps of a run, whichever screen shows them. */
export const words = {
  title: "Trace",
  name: "Span",
  kind: "Kind",
  start: "Start",
  took: "Duration",
  result: "Result",
  noSteps: "This run has no steps.",
  placed: "Bars are placed by duration and turn; hatched is waiting for the model.",
  turn: (n: number) => `Turn ${n}`,
  kinds: { model: "Model call", tool: "Tool call" },
  results: (count: number) => plural(count, "result"),
  tokens: (tokens: number) => plural(tokens, "token"),
  summary: (calls: number, tools: number) =>
    `${plural(calls, "model call")}, ${plural(tools, "tool call")}`,
  status: {
    ok: "ok",
    error: "failed",
    rejected: "sent back",
    duplicate: "repeated",
    skipped: "skipped",
  } satisfies Record<ToolCallStatus, string>,
  handedOver: "answer",
  running: "running",
  detail: "Details of the span",
  closeDetail: "Close the details",
  reason: "Reason",
  input: "Input",
  output: "Result",
  waited: "Waited",
  inTokens: "Tokens in",
  outTokens: "Tokens out",
  cached: "From the cache",
  guard: "Sent back because",
  guards: {
    no_evidence: "An answer without any search was sent back.",
    stale_unverified: "An older document was not enough; facts are looked at as well.",
    unsupported_negative: "“Nothing known” was not accepted before searching the facts.",
    missing_argument: "The answer was incomplete and was sent back.",
    uncited_answer: "The answer named no sources and was sent back.",
  },
} as const;
