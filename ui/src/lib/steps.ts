/** The steps of a trace in words: tools that were used, and what a language model was asked for. */

const tools: Record<string, string> = {
  search_mental_models: "Search of models",
  search_observations: "Search of observations",
  recall: "Search of facts",
  expand: "Look at the source",
  done: "Answer",
};

/** What a tool does. */
export const toolName = (tool: string): string => tools[tool] ?? "Another tool";

const calls: Record<string, string> = {
  closing_done: "Answer",
  final: "Answer",
  final_map: "Condensing",
  final_rewrite: "Answer, written anew",
  structured: "Fields",
  structured_retry: "Fields, again",
  directive_check: "Checking the rules",
  delta_ops: "Writing changes",
  delta_repair: "Writing changes, mended",
  retraction_ops: "Withdrawing what is gone",
  retraction_repair: "Withdrawing what is gone, mended",
};

/** What a call of a language model was for, by the scope that a trace keeps. */
export function callName(scope: string): string {
  const turn = /^agent_(\d+)(_nudge)?/.exec(scope);
  if (turn) return `Turn ${turn[1]}${turn[2] ? ", asked again" : ""}`;
  return calls[scope.replace(/_err$/, "").replace(/_\d+$/, "")] ?? "Another step";
}
