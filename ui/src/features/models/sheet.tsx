import { Lock } from "lucide-react";
import { useMemo } from "react";
import { Icon } from "~/components/icon";
import { Markdown } from "~/components/markdown";
import { Stack } from "~/components/stack";
import { cn } from "~/lib/cn";
import { day } from "~/lib/format";
import type { Block, BlockBlame, ModelDetail, Section } from "~/platform/bindings";
import { strings } from "./model-strings";

/** What the side is about: a section, or one block of it. */
export interface Chosen {
  section: string;
  block: string | null;
}

/** Up to this many headings and blocks a document is in the page as a whole. */
const usualLength = 160;

type Row =
  | { kind: "heading"; key: string; section: Section }
  | { kind: "block"; key: string; section: Section; block: Block; last: boolean };

/** The document block by block, each with an edge that tells its age and, on demand, its author. */
export function Sheet({
  detail,
  blame,
  chosen,
  jumped,
  onChosen,
  onAsk,
}: {
  detail: ModelDetail;
  blame: boolean;
  chosen: Chosen | null;
  /** Grows with each jump from the outline. */
  jumped: number;
  onChosen: (chosen: Chosen) => void;
  /** Who wrote a block was asked for by its mark. */
  onAsk: () => void;
}) {
  const { structure } = detail;
  const rows = useMemo(() => structure.sections.flatMap(rowsOf), [structure]);
  const byBlock = useMemo(
    () => new Map(detail.blame.map((entry) => [entry.block_id, entry])),
    [detail.blame],
  );
  const locks = useMemo(
    () =>
      new Map(detail.locks.map(({ kind, element_id, note }) => [`${kind} ${element_id}`, note])),
    [detail.locks],
  );
  const newest = detail.model.version;
  return (
    <Stack
      label={strings.document.text}
      items={rows}
      keyOf={({ key }) => key}
      current={rows.findIndex(({ section }) => section.id === chosen?.section)}
      moved={jumped}
      height={3}
      whole={usualLength}
      align="start"
      className={cn(
        "pt-6 pb-10",
        blame
          ? "[--gap:1.25rem] [--who:8.25rem] max-[1100px]:[--who:7rem]"
          : "[--gap:0.75rem] [--who:0.25rem]",
      )}
    >
      {(row) => (
        <RowView
          row={row}
          blame={blame}
          newest={newest}
          entry={row.kind === "block" ? byBlock.get(row.block.id) : undefined}
          lock={
            row.kind === "block"
              ? locks.get(`block ${row.block.id}`)
              : locks.get(`section ${row.section.id}`)
          }
          chosen={isChosen(row, chosen)}
          onChosen={onChosen}
          onAsk={onAsk}
        />
      )}
    </Stack>
  );
}

function rowsOf(section: Section): Row[] {
  const blocks = section.blocks.map(
    (block, place): Row => ({
      kind: "block",
      key: block.id,
      section,
      block,
      last: place === section.blocks.length - 1,
    }),
  );
  if (section.level === 0) return blocks;
  return [{ kind: "heading", key: `heading ${section.id}`, section }, ...blocks];
}

function isChosen(row: Row, chosen: Chosen | null): boolean {
  if (chosen?.section !== row.section.id) return false;
  return chosen.block === null || (row.kind === "block" && row.block.id === chosen.block);
}

function RowView({
  row,
  blame,
  newest,
  entry,
  lock,
  chosen,
  onChosen,
  onAsk,
}: {
  row: Row;
  blame: boolean;
  newest: number;
  entry: BlockBlame | undefined;
  /** Note of its lock; undefined when it is not locked. */
  lock: string | null | undefined;
  chosen: boolean;
  onChosen: (chosen: Chosen) => void;
  onAsk: () => void;
}) {
  const { section } = row;
  const heading = row.kind === "heading";
  const Heading = (["h2", "h2", "h2", "h3", "h4", "h5", "h6"] as const)[section.level] ?? "h2";
  const choose = () => onChosen({ section: section.id, block: heading ? null : row.block.id });
  const item = !heading && /^([-*+]|\d+[.)])\s/.test(row.block.text);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the mark beside it and the outline do the same by key
    // biome-ignore lint/a11y/useKeyWithClickEvents: as above
    <div
      onClick={choose}
      className={cn(
        "grid grid-cols-[var(--who)_minmax(0,var(--measure))] gap-x-(--gap) pr-8",
        blame ? "pl-4" : "pl-6",
        heading ? "pb-1" : row.last ? "pb-6" : item ? "pb-1" : "pb-3",
      )}
    >
      {heading ? (
        <Lamp lock={lock} />
      ) : (
        <Who
          entry={entry}
          newest={newest}
          words={blame}
          lock={lock}
          chosen={chosen}
          onChoose={() => {
            choose();
            onAsk();
          }}
        />
      )}
      <div
        className={cn(
          "doc select-text",
          chosen &&
            "bg-accent-soft shadow-[-1rem_0_0_var(--accent-soft),0.75rem_0_0_var(--accent-soft)]",
        )}
      >
        {heading ? (
          <Heading className={section.level === 1 ? "text-[1.375rem]" : undefined}>
            {section.heading}
          </Heading>
        ) : (
          <Markdown>{row.block.text}</Markdown>
        )}
      </div>
    </div>
  );
}

/** A lock beside a heading. */
function Lamp({ lock }: { lock: string | null | undefined }) {
  return (
    <div className="relative flex justify-end pt-1 pr-3">
      {lock !== undefined && <Locked note={lock} />}
    </div>
  );
}

function Locked({ note }: { note: string | null }) {
  return (
    <span title={note ?? strings.blame.locked} className="inline-flex text-muted">
      <Icon of={Lock} small />
      <span className="sr-only">{strings.blame.locked}</span>
    </span>
  );
}

/** Version and day of a block, and its bar: strong when new, paler with age, dashed for a person. */
function Who({
  entry,
  newest,
  words,
  lock,
  chosen,
  onChoose,
}: {
  entry: BlockBlame | undefined;
  newest: number;
  words: boolean;
  lock: string | null | undefined;
  chosen: boolean;
  onChoose: () => void;
}) {
  const person = entry?.author === "person";
  const strength = entry ? Math.max(0.18, 1 - (newest - entry.version) / Math.max(4, newest)) : 0;
  return (
    <div className="type-small relative text-right text-faint">
      {words && (entry || lock !== undefined) && (
        <button
          type="button"
          aria-pressed={chosen}
          onClick={(event) => {
            event.stopPropagation();
            onChoose();
          }}
          className="block w-full rounded-small py-0.5 pr-3 text-right hover:bg-hover"
        >
          <strong className="flex items-center justify-end gap-1 font-semibold text-muted">
            {lock !== undefined && <Locked note={lock} />}
            {entry &&
              (person
                ? strings.blame.person(day(entry.at))
                : strings.blame.version(entry.version, day(entry.at)))}
          </strong>
          {entry && !person && (
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
        </button>
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
