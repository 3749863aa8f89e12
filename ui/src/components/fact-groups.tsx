import type { EvidenceItem } from "~/platform/bindings";
import { Fact } from "./fact";
import { Shown } from "./shown";

export interface FactGroup {
  title: string;
  items: readonly EvidenceItem[];
  /** Set back: what is not new. */
  quiet?: boolean;
  /** Said when there are none; without it the group is then left out. */
  none?: string;
}

/** Facts under headings with their number. */
export function FactGroups({ groups }: { groups: readonly FactGroup[] }) {
  return groups.map(({ title, items, quiet = false, none }) =>
    items.length === 0 && none === undefined ? null : (
      <section key={title} aria-label={title} className="max-w-[44rem]">
        <h2 className="type-label flex gap-2 px-4 pt-3 pb-1 text-faint">
          {title}
          <span>{items.length}</span>
        </h2>
        <Shown items={items} className="mx-4 my-2">
          {(item) => <Fact key={item.id} item={item} quiet={quiet} />}
        </Shown>
        {items.length === 0 && <p className="px-4 py-1 text-muted">{none}</p>}
      </section>
    ),
  );
}
