import type { JsonChange } from "~/components/json-changes";
import type { JsonValue } from "~/platform/bindings";

/**
 * The places at which two values differ: the deepest ones that tell the difference. A list is compared
 * by position, since its members have no names.
 */
export function jsonChanges(
  old: JsonValue | null | undefined,
  next: JsonValue | null | undefined,
  pointer = "",
): JsonChange[] {
  if (JSON.stringify(old ?? null) === JSON.stringify(next ?? null)) return [];
  if (isRecord(old) && isRecord(next)) {
    const names = [...new Set([...Object.keys(old), ...Object.keys(next)])].sort();
    return names.flatMap((name) =>
      jsonChanges(old[name], next[name], `${pointer}/${escaped(name)}`),
    );
  }
  if (Array.isArray(old) && Array.isArray(next)) {
    const places = Array.from({ length: Math.max(old.length, next.length) }, (_, at) => at);
    return places.flatMap((at) => jsonChanges(old[at], next[at], `${pointer}/${at}`));
  }
  return [{ pointer, old: old ?? null, new: next ?? null }];
}

const isRecord = (value: unknown): value is { [key: string]: JsonValue } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const escaped = (name: string) => name.replaceAll("~", "~0").replaceAll("/", "~1");
