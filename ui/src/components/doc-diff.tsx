import { ChevronRight } from "lucide-react";
import { Fragment, type ReactNode, useState } from "react";
import { cn } from "~/lib/cn";
import { plural } from "~/lib/format";
import { groupBy } from "~/lib/group";
import { shown, shownSpans } from "~/lib/markers";
import type { DiffEntry } from "~/platform/bindings";
import { Line, Words } from "./diff";
import { Icon } from "./icon";

const words = {
  opening: "Opening",
  unchanged: (count: number) => plural(count, "unchanged block"),
};

/** An entry's place: one document never has two entries of one kind for one block. */
export const keyOf = (entry: DiffEntry): string =>
  `${entry.section_id} ${entry.block_id} ${entry.kind} ${entry.op_ids.join()}`;

/** A difference as one column, grouped by section; sections without changes are folded. */
export function UnifiedDiff({
  entries,
  headings,
}: {
  entries: readonly DiffEntry[];
  /** Headings by section id, of either side. */
  headings: ReadonlyMap<string, string>;
}) {
  const sections = groupBy(entries, ({ section_id }) => section_id);
  return [...sections].map(([id, own]) => {
    const heading = headings.get(id) || words.opening;
    const changed = own.some(({ kind }) => kind !== "unchanged");
    return (
      <section key={id} aria-label={heading} className="pb-2">
        {changed ? (
          <>
            <h3 className="type-label pt-3 pb-1 pl-8 text-faint">{heading}</h3>
            {near(own).map((entry) => (
              <UnifiedEntry key={keyOf(entry)} entry={entry} />
            ))}
          </>
        ) : (
          <FoldedSection heading={heading} entries={own} />
        )}
      </section>
    );
  });
}

function UnifiedEntry({ entry }: { entry: DiffEntry }) {
  const heading = entry.block_id === null;
  if (entry.kind === "unchanged" || entry.kind === "section_moved") {
    const text = entry.new_text ?? entry.old_text ?? "";
    return heading ? null : <Line change="same">{shown(text)}</Line>;
  }
  const spans = shownSpans(entry.words);
  const both = entry.old_text !== null && entry.new_text !== null && spans.length > 0;
  return (
    <Fragment>
      {entry.old_text !== null && (
        <Line change="del" heading={heading}>
          {both ? <Words spans={spans} side="del" /> : shown(entry.old_text)}
        </Line>
      )}
      {entry.new_text !== null && (
        <Line change="ins" heading={heading}>
          {both ? <Words spans={spans} side="ins" /> : shown(entry.new_text)}
        </Line>
      )}
    </Fragment>
  );
}

function FoldedSection({ heading, entries }: { heading: string; entries: readonly DiffEntry[] }) {
  const [open, setOpen] = useState(false);
  const blocks = entries.filter(({ block_id }) => block_id !== null).length;
  return (
    <>
      <button
        type="button"
        aria-expanded={open}
        data-focus-inside
        onClick={() => setOpen(!open)}
        className="type-small flex h-7 w-full items-center gap-2 pl-8 text-faint hover:bg-hover"
      >
        <Icon of={ChevronRight} small className={open ? "rotate-90" : undefined} />
        {heading}, {words.unchanged(blocks)}
      </button>
      {open && entries.map((entry) => <UnifiedEntry key={keyOf(entry)} entry={entry} />)}
    </>
  );
}

/** Changes with at most one unchanged block on either side of each. */
function near(entries: readonly DiffEntry[]): DiffEntry[] {
  const changed = (entry: DiffEntry | undefined) =>
    entry !== undefined && entry.kind !== "unchanged";
  return entries.filter(
    (entry, at) => changed(entry) || changed(entries[at - 1]) || changed(entries[at + 1]),
  );
}

/** A changed entry side by side. */
export function SplitEntry({ entry, setBack = false }: { entry: DiffEntry; setBack?: boolean }) {
  const spans = shownSpans(entry.words);
  const heading = entry.kind.startsWith("section_");
  const both = entry.old_text !== null && entry.new_text !== null && spans.length > 0;
  const side = (which: "del" | "ins", text: string | null) =>
    text === null ? null : both ? <Words spans={spans} side={which} /> : shown(text);
  return (
    <Sides
      setBack={setBack}
      left={side("del", entry.old_text)}
      right={side("ins", entry.new_text)}
      leftChange="del"
      rightChange="ins"
      heading={heading}
    />
  );
}

function Sides({
  left,
  right,
  leftChange,
  rightChange,
  heading,
  setBack = false,
}: {
  left: ReactNode;
  right: ReactNode;
  leftChange: "same" | "del";
  rightChange: "same" | "ins";
  heading: boolean;
  setBack?: boolean;
}) {
  return (
    <div
      data-set-back={setBack || undefined}
      className="grid grid-cols-2 [content-visibility:auto] [contain-intrinsic-size:auto_2rem]"
    >
      {left === null ? (
        <div className="hatch" />
      ) : (
        <Line change={leftChange} heading={heading} className="py-0.5">
          {left}
        </Line>
      )}
      <div className="grid border-line border-l">
        {right === null ? (
          <div className="hatch" />
        ) : (
          <Line change={rightChange} heading={heading} className="py-0.5">
            {right}
          </Line>
        )}
      </div>
    </div>
  );
}

/** A run without changes, side by side; folded when it is long. */
export function UnchangedSplit({ entries }: { entries: DiffEntry[] }) {
  const [open, setOpen] = useState(entries.length <= 6);
  if (!open) {
    return (
      <button
        type="button"
        onClick={() => setOpen(true)}
        data-focus-inside
        className="type-small flex h-7 w-full items-center gap-2 pl-8 text-faint hover:bg-hover"
      >
        <Icon of={ChevronRight} small />
        {words.unchanged(entries.length)}
      </button>
    );
  }
  return entries.map((entry) => {
    const text = shown(entry.new_text ?? entry.old_text ?? "");
    return (
      <Sides
        key={keyOf(entry)}
        left={text}
        right={text}
        leftChange="same"
        rightChange="same"
        heading={entry.block_id === null}
      />
    );
  });
}

/** Where in the document the changes lie. The list itself tells the same, so readers skip it. */
export function ChangeMap({ entries }: { entries: DiffEntry[] }) {
  const share = 100 / Math.max(1, entries.length);
  return (
    <div aria-hidden="true" className="relative w-3.5 shrink-0 border-line border-l bg-sunken">
      {entries.map((entry, place) =>
        entry.kind === "unchanged" ? null : (
          <span
            key={keyOf(entry)}
            className="absolute inset-x-0.5 flex gap-px"
            style={{ top: `${place * share}%`, height: `max(4px, ${share}%)` }}
          >
            <i className={cn("flex-1 rounded-[1px]", entry.old_text !== null && "bg-del-bar")} />
            <i className={cn("flex-1 rounded-[1px]", entry.new_text !== null && "bg-add-bar")} />
          </span>
        ),
      )}
    </div>
  );
}

/** Changes alone, unchanged entries in runs. */
export function runsOf(entries: DiffEntry[]): DiffEntry[][] {
  const runs: DiffEntry[][] = [];
  for (const entry of entries) {
    const last = runs.at(-1);
    if (entry.kind === "unchanged" && last?.[0]?.kind === "unchanged") last.push(entry);
    else runs.push([entry]);
  }
  return runs;
}
