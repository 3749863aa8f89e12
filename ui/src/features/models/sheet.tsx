import { Markdown } from "~/components/markdown";
import { ScrollText } from "~/components/scroll";
import { cn } from "~/lib/cn";
import { day } from "~/lib/format";
import type { Block, BlockBlame, ModelDetail, Section } from "~/platform/bindings";
import { strings } from "./model-strings";

/** The document block by block, each with an edge that tells its age and, on demand, its author. */
export function Sheet({
  detail,
  blame,
  chosen,
  onCurrent,
}: {
  detail: ModelDetail;
  blame: boolean;
  /** The section that the side is about. */
  chosen: string | null;
  onCurrent: (section: string) => void;
}) {
  const byBlock = new Map(detail.blame.map((entry) => [entry.block_id, entry]));
  return (
    <ScrollText label={strings.document.text}>
      <article
        className={cn(
          "pt-6 pr-8 pb-10",
          blame
            ? "pl-4 [--who:8.25rem] [--gap:1.25rem] max-[1100px]:[--who:7rem]"
            : "pl-6 [--who:0.25rem] [--gap:0.75rem]",
        )}
      >
        {detail.structure.sections.map((section) => (
          <SectionRows
            key={section.id}
            section={section}
            byBlock={byBlock}
            newest={detail.model.version}
            blame={blame}
            chosen={section.id === chosen}
            onChoose={() => onCurrent(section.id)}
          />
        ))}
      </article>
    </ScrollText>
  );
}

function SectionRows({
  section,
  byBlock,
  newest,
  blame,
  chosen,
  onChoose,
}: {
  section: Section;
  byBlock: ReadonlyMap<string, BlockBlame>;
  newest: number;
  blame: boolean;
  chosen: boolean;
  onChoose: () => void;
}) {
  const Heading = (["h2", "h2", "h2", "h3", "h4", "h5", "h6"] as const)[section.level] ?? "h2";
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the outline at the side does the same by key
    <section
      className="group grid grid-cols-[var(--who)_minmax(0,var(--measure))] gap-x-(--gap) pb-5 [contain-intrinsic-size:auto_10rem] [content-visibility:auto]"
      id={`section-${section.id}`}
      aria-label={section.heading || undefined}
      data-chosen={chosen || undefined}
      onClick={onChoose}
    >
      {section.level > 0 && (
        <>
          <Who
            entry={section.blocks[0] && byBlock.get(section.blocks[0].id)}
            newest={newest}
            words={false}
          />
          <div className="doc pb-1 group-data-chosen:bg-accent-soft group-data-chosen:shadow-[-1rem_0_0_var(--accent-soft),0.75rem_0_0_var(--accent-soft)]">
            <Heading className={section.level === 1 ? "text-[1.375rem]" : undefined}>
              {section.heading}
            </Heading>
          </div>
        </>
      )}
      {section.blocks.map((block, place) => (
        <BlockRow
          key={block.id}
          block={block}
          entry={byBlock.get(block.id)}
          newest={newest}
          words={blame}
          last={place === section.blocks.length - 1}
        />
      ))}
    </section>
  );
}

function BlockRow({
  block,
  entry,
  newest,
  words,
  last,
}: {
  block: Block;
  entry: BlockBlame | undefined;
  newest: number;
  words: boolean;
  last: boolean;
}) {
  const item = /^([-*+]|\d+[.)])\s/.test(block.text);
  return (
    <>
      <Who entry={entry} newest={newest} words={words} />
      <div
        className={cn(
          "doc select-text group-data-chosen:bg-accent-soft group-data-chosen:shadow-[-1rem_0_0_var(--accent-soft),0.75rem_0_0_var(--accent-soft)]",
          last ? "pb-1" : item ? "pb-1" : "pb-3",
        )}
      >
        <Markdown>{block.text}</Markdown>
      </div>
    </>
  );
}

/** Version and day of a block, and its bar: strong when new, paler with age, dashed for a person. */
function Who({
  entry,
  newest,
  words,
}: {
  entry: BlockBlame | undefined;
  newest: number;
  words: boolean;
}) {
  const person = entry?.author === "person";
  const strength = entry ? Math.max(0.18, 1 - (newest - entry.version) / Math.max(4, newest)) : 0;
  return (
    <div className="type-small relative text-right text-faint">
      {words && entry && (
        <div className="pt-0.5 pr-3">
          <strong className="block font-semibold text-muted">
            {person
              ? strings.blame.person(day(entry.at))
              : strings.blame.version(entry.version, day(entry.at))}
          </strong>
          {!person && (
            <span
              className="block truncate"
              title={
                entry.proposal
                  ? strings.blame.operation(entry.proposal.number, entry.operation)
                  : undefined
              }
            >
              {[
                entry.proposal && strings.blame.proposal(entry.proposal.number),
                entry.sources.length > 0 && strings.blame.facts(entry.sources.length),
              ]
                .filter(Boolean)
                .join(" · ")}
            </span>
          )}
        </div>
      )}
      <span
        aria-hidden="true"
        className={cn(
          "absolute inset-y-0.5 right-0 w-1 rounded-full",
          person
            ? "bg-[repeating-linear-gradient(var(--text-muted)_0_4px,transparent_4px_7px)]"
            : "bg-accent-text",
        )}
        style={person ? undefined : { opacity: strength }}
      />
    </div>
  );
}
