/**
 * Which field is which from one text of a schema to the next. A row keeps its key while its field is
 * renamed or moved among its neighbours, so that what is typed in it and the focus stay with it.
 */
import { groupBy } from "~/lib/group";
import type { Field } from "./fields";

export type Row = Field & { key: number };

/** The id of the field above; empty at the top. */
export const stem = (id: string) => id.split(".").slice(0, -1).join(".");

/**
 * The fields of the present text with the keys that they had in the one before. Below the same field a
 * name is the same row; of the rest, a place is (it was renamed). Anything else is new.
 */
export function keyed(before: readonly Row[], now: readonly Field[]): Row[] {
  const earlier = groupBy(before, ({ id }) => stem(id));
  const idOf = new Map(before.map(({ key, id }) => [key, id]));
  const keys = new Map<string, number>();
  let next = before.reduce((most, { key }) => Math.max(most, key), 0) + 1;
  // A field stands before those below it, so the one above always has its key already.
  for (const [above, fields] of groupBy(now, ({ id }) => stem(id))) {
    const place = above === "" ? "" : idOf.get(keys.get(above) ?? 0);
    const had = (place === undefined ? undefined : earlier.get(place)) ?? [];
    const names = new Set(fields.map(({ name }) => name));
    const byName = new Map(had.map((row) => [row.name, row]));
    for (const field of fields) {
      const renamed = had.find((row) => row.place === field.place && !names.has(row.name));
      keys.set(field.id, (byName.get(field.name) ?? renamed)?.key ?? next++);
    }
  }
  return now.map((field) => ({ ...field, key: keys.get(field.id) ?? 0 }));
}
