import { Button } from "~/components/button";
import { Fact } from "~/components/fact";
import { MemoryText } from "~/components/memory-text";
import { PaneHead } from "~/components/panes";
import { ScrollText } from "~/components/scroll";
import type { EvidenceItem, OpView } from "~/platform/bindings";
import { strings } from "./strings";

const words = strings.evidence;

/** What the operation at hand rests on: each claim with its facts, then what the old text rested on. */
export function EvidencePane({
  op,
  outside = false,
  onNote,
  onLeave,
}: {
  op: OpView | null;
  /** The change was written by a person in the published file, so that no fact can be asked of it. */
  outside?: boolean;
  /** Absent where nothing can be said about it. */
  onNote?: () => void;
  /** Esc goes back to the operation. */
  onLeave: () => void;
}) {
  if (!op) return <p className="p-4 text-muted">{words.noOperation}</p>;
  const claimed = new Set(op.claims.flatMap(({ evidence }) => evidence));
  const rest = op.evidence.filter(({ id }) => !claimed.has(id));
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Esc is heard from whatever inside has the focus
    <div
      className="flex min-h-0 flex-1 flex-col"
      onKeyDown={(event) => {
        if (event.key === "Escape") onLeave();
      }}
    >
      <PaneHead title={words.title} about={words.for(op.number)}>
        <span className="type-small text-faint">{words.facts(op.evidence.length)}</span>
      </PaneHead>
      <ScrollText label={words.title} id="evidence-text">
        {op.claims.map((claim) => (
          <Claim key={claim.quote} quote={claim.quote} facts={pick(op.evidence, claim.evidence)} />
        ))}
        {op.claims.length > 0 && rest.length > 0 && <GroupHead>{words.rest}</GroupHead>}
        <Facts items={rest} />
        {op.evidence.length === 0 && (
          <p className="px-4 py-3 text-muted">{outside ? words.outside : words.none}</p>
        )}
        {(op.old_evidence.length > 0 || op.human_touch) && <GroupHead>{words.old}</GroupHead>}
        {op.human_touch && <p className="px-4 py-2 text-muted">{words.human}</p>}
        <Facts items={op.old_evidence} quiet />
      </ScrollText>
      {onNote && (
        <div className="border-line border-t px-4 py-3">
          <Button size="small" command="review.note" onClick={onNote}>
            {op.note ? strings.note.change : strings.note.add}
          </Button>
        </div>
      )}
    </div>
  );
}

function Claim({ quote, facts }: { quote: string; facts: EvidenceItem[] }) {
  return (
    <section aria-label={quote} className="pt-3">
      <h3 className="type-strong mx-4 border-add-bar whitespace-pre-line border-l-3 pl-2.5">
        <MemoryText text={quote} />
      </h3>
      {facts.map((item) => (
        <Fact key={item.id} item={item} mark={sharedWords(quote, item.text)} />
      ))}
    </section>
  );
}

function Facts({ items, quiet = false }: { items: EvidenceItem[]; quiet?: boolean }) {
  return items.map((item, place) => (
    <Fact key={item.id} item={item} quiet={quiet} bare={place === items.length - 1} />
  ));
}

function GroupHead({ children }: { children: string }) {
  return <h3 className="type-label px-4 pt-3 text-faint">{children}</h3>;
}

const pick = (items: EvidenceItem[], ids: string[]) => items.filter(({ id }) => ids.includes(id));

/** The longest run of words of the claim that stands in the fact, if it is more than one word. */
function sharedWords(claim: string, fact: string): string | undefined {
  const parts = claim.split(/\s+/);
  const text = fact.toLowerCase();
  for (let length = parts.length; length > 0; length--) {
    for (let from = 0; from + length <= parts.length; from++) {
      const run = parts.slice(from, from + length).join(" ");
      if (run.length > 4 && text.includes(run.toLowerCase())) return run;
    }
  }
  return undefined;
}
