import type { JsonValue } from "~/platform/bindings";
import { Line } from "./diff";

/** One place at which two JSON values differ; absent where there was or is nothing. */
export interface JsonChange {
  /** JSON pointer; empty for the whole value. */
  pointer: string;
  old?: JsonValue | null;
  new?: JsonValue | null;
}

/** Places at which two values differ, each with what stood and what stands there. */
export function JsonChanges({
  changes,
  nameOf = spoken,
}: {
  changes: readonly JsonChange[];
  /** A place in words. */
  nameOf?: (pointer: string) => string;
}) {
  return changes.map((change) => (
    <section key={change.pointer} aria-label={nameOf(change.pointer)} className="pb-2">
      <h2 className="type-label pt-3 pb-1 pl-8 text-faint">{nameOf(change.pointer)}</h2>
      {change.old != null && <Line change="del">{written(change.old)}</Line>}
      {change.new != null && <Line change="ins">{written(change.new)}</Line>}
    </section>
  ));
}

/** `/next_steps/0` as `next steps, 1`. */
function spoken(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step) => (/^\d+$/.test(step) ? String(Number(step) + 1) : step.replaceAll("_", " ")))
    .join(", ");
}

function written(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
