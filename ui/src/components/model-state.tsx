import { dayTime, plural, time } from "~/lib/format";
import type { ModelRow, ModelState } from "~/platform/bindings";
import { type Mark, StateWord, type Tone } from "./state";

const looks: Record<ModelState, { mark: Mark; tone: Tone; word: string }> = {
  refreshing: { mark: "turning", tone: "accent", word: "Refreshing" },
  conflicted: { mark: "triangle", tone: "warn", word: "Conflicted" },
  waiting_for_review: { mark: "diamond", tone: "accent", word: "Waiting for review" },
  needs_attention: { mark: "octagon", tone: "bad", word: "Needs attention" },
  failed: { mark: "octagon", tone: "bad", word: "Failed" },
  parked: { mark: "pause", tone: "muted", word: "Parked" },
  never_refreshed: { mark: "dashed", tone: "muted", word: "Never refreshed" },
  behind: { mark: "half", tone: "warn", word: "Behind" },
  unknown: { mark: "ring", tone: "muted", word: "Unknown" },
  current: { mark: "tick", tone: "ok", word: "Current" },
};

/** In the order of precedence, as filters list them. */
export const modelStates = Object.keys(looks) as ModelState[];

export const modelStateWord = (state: ModelState): string => looks[state].word;

/** Where a model stands, completed by what is known: how far behind, until when it is parked. */
function modelStateText(model: Pick<ModelRow, "state" | "newer" | "parked_until">): string {
  const { word } = looks[model.state];
  if (model.state === "behind" && model.newer) {
    return `${word} (${model.newer >= 100 ? "100+" : model.newer})`;
  }
  if (model.state === "parked" && model.parked_until)
    return `${word} until ${time(model.parked_until)}`;
  return word;
}

const holds: Record<string, string> = {
  review_in_progress: "A refresh waits until the review has ended.",
  llm_not_configured: "A refresh waits until a language model is set up.",
  token_ceiling: "A refresh waits: today’s limit of tokens is reached.",
  paused_by_person: "A refresh waits while background work is paused.",
};

/** Why a model waits or will not start by itself; null when nothing holds it back. */
export function heldWords(
  model: Pick<ModelRow, "held_reason" | "paused_until" | "failure_streak">,
): string | null {
  if (model.held_reason) return holds[model.held_reason] ?? null;
  if (model.paused_until) {
    return `After ${plural(model.failure_streak, "failed run")} it starts by itself again from ${dayTime(model.paused_until)}.`;
  }
  return null;
}

export function ModelStateWord({ model, className }: { model: ModelRow; className?: string }) {
  const { mark, tone } = looks[model.state];
  const why = heldWords(model);
  return (
    <span title={why ?? undefined} className="inline-flex min-w-0">
      <StateWord mark={mark} tone={tone} className={className}>
        {modelStateText(model)}
        {why && <span className="sr-only">. {why}</span>}
      </StateWord>
    </span>
  );
}
