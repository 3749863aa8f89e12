import { readJson } from "~/components/schema/json-text";
import type {
  Budget,
  DeltaFailurePolicy,
  FactType,
  JsonValue,
  ModelDetail,
  ModelPatch,
  NewModel,
  SettingValues,
  TagsMatch,
  Trigger,
} from "~/platform/bindings";
import { type GroupNode, groupsOf, isWhole, newLeaf, nodesOf, tagsOf } from "./groups";
import { strings as list } from "./strings";

/** What the form holds; the engine's shapes are made from it at the end. */
export interface FormValues {
  name: string;
  question: string;
  tags: string;
  size: number;
  when: "manual" | "after" | "schedule";
  /** Expression of the schedule. */
  cron: string;
  /** At least this many minutes between two runs by themselves; empty for the bank's value. */
  pause: string;
  mode: "delta" | "full";
  rebuild: boolean;
  /** Expression of the full rebuild. */
  rebuildCron: string;
  failurePolicy: DeltaFailurePolicy;
  failureLimit: string;
  review: "manual" | "auto";
  scopeBy: "tags" | "groups";
  /** Empty for the default: all of the tags, or everything without tags. */
  match: TagsMatch | "";
  groups: GroupNode[];
  kinds: Record<FactType, boolean>;
  excludeModels: boolean;
  /** Ids of models that are not read. */
  excludeIds: string[];
  chunks: "" | "yes" | "no";
  budget: Budget | "";
  recallTokens: string;
  chunkTokens: string;
  observationTokens: string;
  observationEntities: "" | "yes" | "no";
  keepTrace: boolean;
  /** Text of the response schema; empty for none. */
  schema: string;
}

const kinds: FactType[] = ["world", "experience", "observation"];

/** What is already known about a model that is to be made: a question that was asked, its tags. */
export interface Given {
  question?: string | undefined;
  tags?: string[] | undefined;
  /** Text of the schema of its fields. */
  schema?: string | undefined;
}

const usualCron = "0 7 * * *";
const usualRebuild = "0 6 * * 1";

export function emptyValues(template: string | undefined, given: Given = {}): FormValues {
  const chosen = list.templates.find(({ id }) => id === template);
  return {
    name: chosen?.name ?? "",
    question: given.question ?? chosen?.question ?? "",
    tags: given.tags?.join(", ") ?? "",
    size: 4096,
    when: "manual",
    mode: "delta",
    review: "manual",
    ...triggerValues({}),
    ...(given.schema ? { schema: given.schema } : {}),
  };
}

/** Who decides on new models of a bank, when that is stated for it. */
export function reviewOf(settings: SettingValues | undefined): FormValues["review"] | undefined {
  const { review_default: stated } = (settings?.effective ?? {}) as Record<string, unknown>;
  return stated === "auto" || stated === "manual" ? stated : undefined;
}

export function valuesOf({ model, trigger }: ModelDetail): FormValues {
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
    mode: trigger.mode === "full" ? "full" : "delta",
    review: model.review,
    ...triggerValues(trigger),
  };
}

type TriggerValues = Omit<
  FormValues,
  "name" | "question" | "tags" | "size" | "when" | "mode" | "review"
>;

function triggerValues(trigger: Trigger): TriggerValues {
  const all = trigger.fact_types ?? kinds;
  const seconds = trigger.min_refresh_interval_seconds;
  const schema = trigger.response_schema ?? null;
  return {
    cron: trigger.refresh_cron ?? usualCron,
    pause: seconds == null ? "" : String(Math.round(seconds / 60)),
    rebuild: trigger.full_refresh_cron != null,
    rebuildCron: trigger.full_refresh_cron ?? usualRebuild,
    failurePolicy: trigger.delta_failure_policy ?? "propose_full",
    failureLimit: String(trigger.delta_failure_limit ?? 3),
    scopeBy: trigger.tag_groups ? "groups" : "tags",
    match: trigger.tags_match ?? "",
    groups: trigger.tag_groups ? nodesOf(trigger.tag_groups) : [newLeaf()],
    kinds: {
      world: all.includes("world"),
      experience: all.includes("experience"),
      observation: all.includes("observation"),
    },
    excludeModels: trigger.exclude_mental_models ?? false,
    excludeIds: trigger.exclude_mental_model_ids ?? [],
    chunks: choice(trigger.include_chunks),
    budget: trigger.budget ?? "",
    recallTokens: text(trigger.recall_max_tokens),
    chunkTokens: text(trigger.recall_chunks_max_tokens),
    observationTokens: text(trigger.reflect_search_observations_max_tokens),
    observationEntities: choice(trigger.reflect_search_observations_include_entities),
    keepTrace: trigger.keep_trace ?? false,
    schema: schema === null ? "" : `${JSON.stringify(schema, null, 2)}\n`,
  };
}

const text = (value: number | null | undefined) => (value == null ? "" : String(value));
const choice = (value: boolean | null | undefined) => (value == null ? "" : value ? "yes" : "no");
const flag = (value: "" | "yes" | "no") => (value === "" ? null : value === "yes");
const whole = (typed: string) => (typed.trim() === "" ? null : Number(typed));

/** The schedule that the form states, if it states one. */
export function cronOf({ when, cron }: FormValues): string | null {
  return when === "schedule" ? cron.trim() : null;
}

/** What the scope is made of; the rest of the trigger does not move it. */
function scopeOf(values: FormValues): { [key: string]: JsonValue } {
  const chosen = kinds.filter((kind) => values.kinds[kind]);
  const grouped = values.scopeBy === "groups" && isWhole(values.groups);
  return {
    fact_types: chosen.length === kinds.length ? null : chosen,
    tags_match: values.scopeBy === "tags" && values.match !== "" ? values.match : null,
    tag_groups: grouped && values.groups.length > 0 ? groupsOf(values.groups) : null,
  };
}

function triggerOf(values: FormValues): JsonValue {
  const minutes = whole(values.pause);
  const schema = readJson(values.schema).node ? JSON.parse(values.schema) : null;
  return {
    ...scopeOf(values),
    mode: values.mode,
    refresh_after_consolidation: values.when === "after",
    refresh_cron: cronOf(values),
    min_refresh_interval_seconds: minutes === null ? null : Math.round(minutes * 60),
    full_refresh_cron: values.mode === "delta" && values.rebuild ? values.rebuildCron.trim() : null,
    delta_failure_policy: values.failurePolicy,
    delta_failure_limit: whole(values.failureLimit) ?? 3,
    exclude_mental_models: values.excludeModels,
    exclude_mental_model_ids:
      values.excludeModels || values.excludeIds.length === 0 ? null : values.excludeIds,
    include_chunks: flag(values.chunks),
    budget: values.budget === "" ? null : values.budget,
    recall_max_tokens: whole(values.recallTokens),
    recall_chunks_max_tokens: whole(values.chunkTokens),
    reflect_search_observations_max_tokens: whole(values.observationTokens),
    reflect_search_observations_include_entities: flag(values.observationEntities),
    keep_trace: values.keepTrace,
    response_schema: schema,
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

/** A model of the form's scope alone, for asking how far it reaches. */
export function reachOf(values: FormValues): NewModel {
  return {
    id: null,
    name: "scope",
    source_query: "scope",
    tags: tagsOf(values.tags),
    trigger: scopeOf(values),
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
  "trigger.refresh_cron": "cron",
  "trigger.full_refresh_cron": "rebuildCron",
  "trigger.min_refresh_interval_seconds": "pause",
  "trigger.delta_failure_limit": "failureLimit",
  "trigger.recall_max_tokens": "recallTokens",
  "trigger.recall_chunks_max_tokens": "chunkTokens",
  "trigger.reflect_search_observations_max_tokens": "observationTokens",
  "trigger.fact_types": "kinds",
  "trigger.tag_groups": "groups",
  "trigger.response_schema": "schema",
};

/** The field that a path of the engine's report belongs to, if the form shows it as it stands. */
export function fieldOf(path: string, values: FormValues): keyof FormValues | undefined {
  const own = Object.keys(fields).find(
    (known) => path === known || path.startsWith(`${known}.`) || path.startsWith(`${known}[`),
  );
  const field = fields[own ?? ""];
  return field !== undefined && isShown(field, values) ? field : undefined;
}

function isShown(field: keyof FormValues, values: FormValues): boolean {
  const delta = values.mode === "delta";
  switch (field) {
    case "cron":
      return values.when === "schedule";
    case "pause":
      return values.when !== "manual";
    case "rebuildCron":
      return delta && values.rebuild;
    case "failureLimit":
      return delta;
    case "groups":
      return values.scopeBy === "groups";
    default:
      return true;
  }
}
