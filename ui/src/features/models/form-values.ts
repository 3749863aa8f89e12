import type { FactType, JsonValue, ModelDetail, ModelPatch, NewModel } from "~/platform/bindings";
import { strings } from "./form-strings";
import { strings as list } from "./strings";

/** What the form holds; the engine's shapes are made from it at the end. */
export interface FormValues {
  name: string;
  question: string;
  tags: string;
  size: number;
  when: "manual" | "after" | "schedule";
  cron: string;
  ownCron: string;
  mode: "delta" | "full";
  review: "manual" | "auto";
  kinds: Record<FactType, boolean>;
  excludeModels: boolean;
  keepTrace: boolean;
}

const kinds: FactType[] = ["world", "experience", "observation"];

/** What is already known about a model that is to be made: a question that was asked, its tags. */
export interface Given {
  question?: string | undefined;
  tags?: string[] | undefined;
}

export function emptyValues(template: string | undefined, given: Given = {}): FormValues {
  const chosen = list.templates.find(({ id }) => id === template);
  return {
    name: chosen?.name ?? "",
    question: given.question ?? chosen?.question ?? "",
    tags: given.tags?.join(", ") ?? "",
    size: 2048,
    when: "manual",
    cron: "0 7 * * *",
    ownCron: "0 7 * * *",
    mode: "delta",
    review: "manual",
    kinds: { world: true, experience: true, observation: true },
    excludeModels: false,
    keepTrace: false,
  };
}

export function valuesOf({ model, trigger }: ModelDetail): FormValues {
  const cron = trigger.refresh_cron ?? "0 7 * * *";
  const all = trigger.fact_types ?? kinds;
  return {
    name: model.name,
    question: model.source_query,
    tags: model.tags.join(", "),
    size: model.max_tokens,
    when: trigger.refresh_cron
      ? "schedule"
      : trigger.refresh_after_consolidation
        ? "after"
        : "manual",
    cron: strings.presets.some(({ value }) => value === cron) ? cron : "own",
    ownCron: cron,
    mode: trigger.mode === "full" ? "full" : "delta",
    review: model.review,
    kinds: {
      world: all.includes("world"),
      experience: all.includes("experience"),
      observation: all.includes("observation"),
    },
    excludeModels: trigger.exclude_mental_models ?? false,
    keepTrace: trigger.keep_trace ?? false,
  };
}

function tagsOf(text: string): string[] {
  return text
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
}

export function cronOf({ when, cron, ownCron }: FormValues): string | null {
  if (when !== "schedule") return null;
  return cron === "own" ? ownCron.trim() : cron;
}

function triggerOf(values: FormValues): JsonValue {
  const chosen = kinds.filter((kind) => values.kinds[kind]);
  return {
    mode: values.mode,
    refresh_after_consolidation: values.when === "after",
    refresh_cron: cronOf(values),
    fact_types: chosen.length === kinds.length ? null : chosen,
    exclude_mental_models: values.excludeModels,
    keep_trace: values.keepTrace,
  };
}

export function newModelOf(values: FormValues): NewModel {
  return {
    id: null,
    name: values.name.trim(),
    source_query: values.question.trim(),
    tags: tagsOf(values.tags),
    max_tokens: values.size,
    trigger: triggerOf(values),
    review: values.review,
    content: null,
  };
}

export function patchOf(values: FormValues): ModelPatch {
  const { name, source_query, tags, max_tokens, trigger, review } = newModelOf(values);
  return { name, source_query, tags, max_tokens, trigger, review };
}

/** Which field of the form a path of the engine's report belongs to. */
const fields: Record<string, keyof FormValues> = {
  name: "name",
  source_query: "question",
  tags: "tags",
  max_tokens: "size",
  "trigger.refresh_cron": "ownCron",
};

export function fieldOf(path: string): keyof FormValues | undefined {
  return fields[path] ?? fields[path.replace(/\[\d+\].*$/, "")];
}
