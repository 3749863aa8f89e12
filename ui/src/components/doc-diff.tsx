import { ChevronRight } from "lucide-react";
import { Fragment, type ReactNode, useMemo, useState } from "react";
import { cn } from "~/lib/cn";
import { plural } from "~/lib/format";
import { groupBy } from "~/lib/group";
import { shown, shownSpans } from "~/lib/markers";
import type { DiffEntry } from "~/platform/bindings";
import { Line, Words } from "./diff";
import { Icon } from "./icon";
import { Stack } from "./stack";

const words = {
  opening: "Opening",
  unchanged: (count: number) => plural(count, "unchanged block"),
};

/** An entry's place: one document never has two entries of one kind for one block. */
export const keyOf = (entry: DiffEntry): string =>
  `${entry.section_id} ${entry.block_id} ${entry.kind} ${entry.op_ids.join()}`;

/** One row of a difference in one column. */
type UnifiedRow =
  | { kind: "heading"; key: string; text: string }
  | { kind: "folded"; key: string; text: string; open: boolean }
  | { kind: "entry"; key: string; entry: DiffEntry };

/** A difference as one column, grouped by section; sections without changes are folded. */
export function UnifiedDiff({
  label,
  entries,
  headings,
}: {
  label: string;
  entries: readonly DiffEntry[];
  /** Headings by section id, of either side. */
  headings: ReadonlyMap<string, string>;
}) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => unifiedRows(entries, headings, opened), [entries, headings, opened]);
  return (
    <Stack
      label={label}
      items={rows}
      keyOf={({ key }) => key}
      current={-1}
      moved={0}
      height={2}
      className="pb-6"
    >
      {(row) => {
        if (row.kind === "entry") return <UnifiedEntry entry={row.entry} />;
        if (row.kind === "heading") {
          return <h3 className="type-label pt-3 pb-1 pl-8 text-faint">{row.text}</h3>;
        }
        return (
          <FoldLine
            open={row.open}
            text={row.text}
            onToggle={() => setOpened(toggled(opened, row.key))}
          />
        );
      }}
    </Stack>
  );
}

function unifiedRows(
  entries: readonly DiffEntry[],
  headings: ReadonlyMap<string, string>,
  opened: ReadonlySet<string>,
): UnifiedRow[] {
  const sections = groupBy(entries, ({ section_id }) => section_id);
  const rowOf = (entry: DiffEntry): UnifiedRow => ({ kind: "entry", key: keyOf(entry), entry });
  return [...sections].flatMap(([id, own]): UnifiedRow[] => {
    const heading = headings.get(id) || words.opening;
    if (own.some(({ kind }) => kind !== "unchanged")) {
      return [{ kind: "heading", key: `heading ${id}`, text: heading }, ...near(own).map(rowOf)];
    }
    const key = `folded ${id}`;
    const blocks = own.filter(({ block_id }) => block_id !== null).length;
    const text = `${heading}, ${words.unchanged(blocks)}`;
    const open = opened.has(key);
    return [{ kind: "folded", key, text, open }, ...(open ? own.map(rowOf) : [])];
  });
}

function toggled(set: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(key)) next.add(key);
  return next;
}

/** A run without changes as one line that opens. */
function FoldLine({ open, text, onToggle }: { open: boolean; text: string; onToggle: () => void }) {
  return (
    <button
      type="button"
      aria-expanded={open}
      data-focus-inside
      onClick={onToggle}
      className="type-small flex h-7 w-full items-center gap-2 pl-8 text-faint hover:bg-hover"
    >
      <Icon of={ChevronRight} small className={open ? "rotate-90" : undefined} />
      {text}
    </button>
  );
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

/** Changes with at most one unchanged block on either side of each. */
function near(entries: readonly DiffEntry[]): DiffEntry[] {
  const changed = (entry: DiffEntry | undefined) =>
    entry !== undefined && entry.kind !== "unchanged";
  return entries.filter(
    (entry, at) => changed(entry) || changed(entries[at - 1]) || changed(entries[at + 1]),
  );
}

/** Runs without changes up to this length are shown as they are. */
const shortRun = 6;

/** One row of a difference side by side: an entry, or a long run without changes. */
export type SplitRow =
  | { kind: "entry"; key: string; entry: DiffEntry }
  | { kind: "folded"; key: string; entries: number };

/** The rows of a difference side by side; of long runs without changes only those that were opened. */
export function splitRows(entries: readonly DiffEntry[], opened: ReadonlySet<string>): SplitRow[] {
  return runsOf(entries).flatMap((run): SplitRow[] => {
    const [first] = run;
    if (!first) return [];
    const key = `folded ${keyOf(first)}`;
    if (first.kind === "unchanged" && run.length > shortRun && !opened.has(key)) {
      return [{ kind: "folded", key, entries: run.length }];
    }
    return run.map((entry) => ({ kind: "entry", key: keyOf(entry), entry }));
  });
}

/** Opened runs, and the way to open one more. */
export function useOpenedRuns(): [ReadonlySet<string>, (key: string) => void] {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  return [opened, (key) => setOpened(toggled(opened, key))];
}

/** A difference side by side, row by row. */
export function SplitDiff({ label, entries }: { label: string; entries: readonly DiffEntry[] }) {
  const [opened, open] = useOpenedRuns();
  const rows = useMemo(() => splitRows(entries, opened), [entries, opened]);
  return (
    <div className="flex min-h-0 flex-1">
      <Stack
        label={label}
        items={rows}
        keyOf={({ key }) => key}
        current={-1}
        moved={0}
        height={2}
        className="pb-6"
      >
        {(row) => <SplitRowView row={row} onOpen={open} />}
      </Stack>
      <ChangeMap entries={entries} />
    </div>
  );
}

export function SplitRowView({
  row,
  setBack = false,
  onOpen,
}: {
  row: SplitRow;
  setBack?: boolean;
  onOpen: (key: string) => void;
}) {
  if (row.kind === "folded") {
    return (
      <FoldLine open={false} text={words.unchanged(row.entries)} onToggle={() => onOpen(row.key)} />
    );
  }
  const { entry } = row;
  const spans = shownSpans(entry.words);
  const same = entry.kind === "unchanged";
  const heading = entry.block_id === null;
  const both = entry.old_text !== null && entry.new_text !== null && spans.length > 0;
  const side = (which: "del" | "ins", text: string | null) =>
    text === null ? null : both ? <Words spans={spans} side={which} /> : shown(text);
  const text = entry.new_text ?? entry.old_text ?? "";
  return (
    <Sides
      setBack={setBack}
      left={same ? shown(text) : side("del", entry.old_text)}
      right={same ? shown(text) : side("ins", entry.new_text)}
      leftChange={same ? "same" : "del"}
      rightChange={same ? "same" : "ins"}
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

/** Marks that the map has room for; more changes than this share one. */
const mapPlaces = 160;

/** Where in the document the changes lie. The list itself tells the same, so readers skip it. */
export function ChangeMap({ entries }: { entries: readonly DiffEntry[] }) {
  const marks = useMemo(() => mapOf(entries), [entries]);
  return (
    <div aria-hidden="true" className="relative w-3.5 shrink-0 border-line border-l bg-sunken">
      {marks.map(({ at, share, went, came }) => (
        <span
          key={at}
          className="absolute inset-x-0.5 flex gap-px"
          style={{ top: `${at}%`, height: `max(4px, ${share}%)` }}
        >
          <i className={cn("flex-1 rounded-[1px]", went && "bg-del-bar")} />
          <i className={cn("flex-1 rounded-[1px]", came && "bg-add-bar")} />
        </span>
      ))}
    </div>
  );
}

interface MapMark {
  at: number;
  share: number;
  went: boolean;
  came: boolean;
}

function mapOf(entries: readonly DiffEntry[]): MapMark[] {
  const places = Math.max(1, Math.min(mapPlaces, entries.length));
  const share = 100 / places;
  const marks = new Map<number, MapMark>();
  for (const [index, entry] of entries.entries()) {
    if (entry.kind === "unchanged") continue;
    const place = Math.floor((index * places) / entries.length);
    const mark = marks.get(place) ?? { at: place * share, share, went: false, came: false };
    mark.went ||= entry.old_text !== null;
    mark.came ||= entry.new_text !== null;
    marks.set(place, mark);
  }
  return [...marks.values()];
}

/** Changes alone, unchanged entries in runs. */
function runsOf(entries: readonly DiffEntry[]): DiffEntry[][] {
  const runs: DiffEntry[][] = [];
  for (const entry of entries) {
    const last = runs.at(-1);
    if (entry.kind === "unchanged" && last?.[0]?.kind === "unchanged") last.push(entry);
    else runs.push([entry]);
  }
  return runs;
}
