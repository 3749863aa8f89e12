import type { DiffEntry, Document } from "~/platform/bindings";

/**
 * The entries of a difference with the headings of sections that have none of their own: a section
 * whose heading stayed may be told by its blocks alone.
 */
export function withHeadings(entries: readonly DiffEntry[], base: Document): DiffEntry[] {
  const sections = new Map(base.sections.map((section) => [section.id, section]));
  const told = new Set(
    entries.filter(({ block_id }) => block_id === null).map(({ section_id }) => section_id),
  );
  return entries.flatMap((entry) => {
    const section = sections.get(entry.section_id);
    if (!section || section.level === 0 || told.has(entry.section_id)) return [entry];
    told.add(entry.section_id);
    const heading: DiffEntry = {
      kind: "unchanged",
      section_id: section.id,
      block_id: null,
      level: section.level,
      old_text: section.heading,
      new_text: section.heading,
      words: [],
      op_ids: [],
    };
    return [heading, entry];
  });
}
