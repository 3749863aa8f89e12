/** What is asked beside the question, as the row of options holds it. */
import { readJson } from "~/components/schema/json-text";
import type { Budget, FactType, JsonValue, ReflectInput, TagsMatch } from "~/platform/bindings";

export interface Options {
  budget: Budget;
  /** Null for the usual size. */
  tokens: number | null;
  tags: string[];
  match: TagsMatch;
  kinds: FactType[];
  excludeModels: boolean;
  /** Obey every rule that is switched on, whatever its tags. */
  allRules: boolean;
  /** An expression over tags that a question was asked with; it stands in the place of tags. */
  groups: JsonValue[] | null;
  /** Text of the schema of fields; empty for none. */
  schema: string;
}

export const allKinds: FactType[] = ["world", "experience", "observation"];

export const usual: Options = {
  budget: "low",
  tokens: null,
  tags: [],
  match: "any",
  kinds: allKinds,
  excludeModels: false,
  allRules: false,
  groups: null,
  schema: "",
};

/** The schema of a question; undefined while its text cannot be read, null for none. */
export function schemaOf({ schema }: Options): JsonValue | undefined {
  if (schema.trim() === "") return null;
  const { node } = readJson(schema);
  return node === null ? undefined : (JSON.parse(schema) as JsonValue);
}

export function inputOf(query: string, options: Options): ReflectInput {
  return {
    query: query.trim(),
    budget: options.budget,
    max_tokens: options.tokens,
    tags: options.tags.length > 0 ? options.tags : null,
    tags_match: options.tags.length > 0 ? options.match : null,
    tag_groups: options.tags.length > 0 ? null : options.groups,
    fact_types: options.kinds.length === allKinds.length ? null : options.kinds,
    exclude_mental_models: options.excludeModels,
    apply_all_directives: options.allRules,
    response_schema: schemaOf(options) ?? null,
  };
}

const matches: TagsMatch[] = ["any", "all", "any_strict", "all_strict", "exact"];

export function optionsOf(input: ReflectInput): Options {
  return {
    budget: input.budget ?? usual.budget,
    tokens: input.max_tokens ?? null,
    tags: input.tags ?? [],
    match: matches.find((each) => each === input.tags_match) ?? "any",
    kinds: input.fact_types ?? allKinds,
    excludeModels: input.exclude_mental_models ?? false,
    allRules: input.apply_all_directives ?? false,
    groups: input.tag_groups?.length ? input.tag_groups : null,
    schema: input.response_schema ? `${JSON.stringify(input.response_schema, null, 2)}\n` : "",
  };
}
