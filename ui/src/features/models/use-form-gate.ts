import { useWatch } from "react-hook-form";
import { readJson } from "~/components/schema/json-text";
import { useRead } from "~/platform/cache";
import type { Form } from "./form-section";
import { strings } from "./form-strings";
import { isWhole } from "./groups";

/** Why the form cannot be saved yet, for what its own fields do not say: a schema or an expression that is unfinished. */
export function useFormGate(form: Form): string | null {
  const { control } = form;
  const schema = useWatch({ control, name: "schema" });
  const scopeBy = useWatch({ control, name: "scopeBy" });
  const groups = useWatch({ control, name: "groups" });
  const empty = schema.trim() === "";
  const readable = !empty && readJson(schema).node !== null;
  const problems = useRead("checkSchema", readable ? [JSON.parse(schema)] : null).data ?? [];
  if (!empty && (!readable || problems.length > 0)) return strings.schemaUnfinished;
  if (scopeBy === "groups" && (groups.length === 0 || !isWhole(groups))) return strings.group.open;
  return null;
}
