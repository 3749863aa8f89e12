/** The steps of a trace in words: tools that were used, and what a language model was asked for. */

const tools: Record<string, { name: string; searches?: string }> = {
  search_mental_models: { name: "Search of models", searches: "Models" },
  search_observations: { name: "Search of observations", searches: "Observations" },
  recall: { name: "Search of facts", searches: "Facts" },
  expand: { name: "Look at the source" },
  done: { name: "Answer" },
};

/** What a tool does. */
export const toolName = (tool: string): string => tools[tool]?.name ?? "Another tool";

/** What was searched, and for what: `Facts: “delays of the move”`. */
export const searchName = (tool: string, query: string): string =>
  `${tools[tool]?.searches ?? toolName(tool)}: “${query}”`;

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
