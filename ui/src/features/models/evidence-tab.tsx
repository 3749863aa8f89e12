import { Fact } from "~/components/fact";
import { ScrollText } from "~/components/scroll";
import type { EvidenceItem, ModelDetail } from "~/platform/bindings";
import { strings } from "./model-strings";

const words = strings.evidence;

/** What the document rests on: what it cites, what has gone since, what the next refresh would read. */
export function EvidenceTab({ detail }: { detail: ModelDetail }) {
  const gone = detail.based_on.filter((item) => item.gone);
  const cited = detail.based_on.filter((item) => !item.gone);
  return (
    <ScrollText label={strings.tabs.evidence}>
      <div className="max-w-[44rem] pb-8">
        {gone.length > 0 && <Group title={words.gone} items={gone} />}
        <Group title={words.newer} items={detail.newer} none={words.noneNewer} />
        <Group title={words.cited} items={cited} none={words.none} />
      </div>
    </ScrollText>
  );
}

function Group({ title, items, none }: { title: string; items: EvidenceItem[]; none?: string }) {
  return (
    <section aria-label={title}>
      <h2 className="type-label flex gap-2 px-4 pt-4 pb-1 text-faint">
        {title}
        <span>{items.length}</span>
      </h2>
      {items.map((item) => (
        <Fact key={item.id} item={item} />
      ))}
      {items.length === 0 && none && <p className="px-4 py-1 text-muted">{none}</p>}
    </section>
  );
}
