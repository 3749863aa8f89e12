import {
  ArrowDownUp,
  Equal,
  type LucideIcon,
  Minus,
  PencilLine,
  Plus,
  TextCursorInput,
} from "lucide-react";
import { useMemo, useState } from "react";
import { Icon } from "~/components/icon";
import { ReportCard } from "~/components/report";
import { Segmented } from "~/components/segmented";
import { SkeletonRows } from "~/components/skeleton";
import { Stack } from "~/components/stack";
import { cn } from "~/lib/cn";
import { withHeadings } from "~/lib/headings";
import { shown } from "~/lib/markers";
import { useTakesFocus } from "~/lib/use-takes-focus";
import type {
  BankId,
  DiffEntry,
  DiffKind,
  OpView,
  Preview,
  ProposalView,
} from "~/platform/bindings";
import type { Desk } from "./desk";
import { EvidenceChange } from "./evidence-change";
import { OpHead, spokenRemarks } from "./op-head";
import { decidable, opTitle } from "./op-words";
import { strings } from "./strings";
import { StructuredChange } from "./structured-change";
import { usePreview } from "./use-preview";

const words = strings.structure;

type Part = "document" | "structured" | "evidence";

/** What changes, as an outline: for large rewrites, where lines would be too many to read. */
export function Structure({ bank, view, desk }: { bank: BankId; view: ProposalView; desk: Desk }) {
  const [part, setPart] = useState<Part>("document");
  const preview = usePreview(bank, view, "everything");
  return (
    <>
      <div className="flex min-h-9 shrink-0 items-center gap-2 border-line border-b px-4">
        <Segmented
          label={words.parts}
          value={part}
          onValue={setPart}
          segments={[
            { value: "document", label: words.document },
            { value: "structured", label: words.structured },
            { value: "evidence", label: words.evidence },
          ]}
        />
      </div>
      {preview.error && (
        <div className="p-4">
          <ReportCard report={preview.error} onRetry={() => void preview.refetch()} />
        </div>
      )}
      {preview.isPending && <SkeletonRows />}
      {part === "document" && preview.data && (
        <Outline preview={preview.data} view={view} desk={desk} />
      )}
      {part === "structured" && <StructuredChange bank={bank} view={view} />}
      {part === "evidence" && <EvidenceChange bank={bank} view={view} />}
    </>
  );
}

/** A line of the outline: a section, a block that changes, or how many stay. */
type Row =
  | { kind: "section" | "block"; key: string; entry: DiffEntry; level: number; begins: OpView[] }
  | { kind: "same"; key: string; blocks: number; level: number };

function rowsOf(entries: readonly DiffEntry[], ops: readonly OpView[]): Row[] {
  const byId = new Map(ops.map((op) => [op.op_id, op]));
  const begun = new Set<string>();
  const rows: Row[] = [];
  let level = 0;
  for (const entry of entries) {
    const key = `${entry.section_id} ${entry.block_id} ${entry.kind} ${entry.op_ids.join()}`;
    const begins = entry.op_ids
      .filter((id) => !begun.has(id))
      .map((id) => byId.get(id))
      .filter((op) => op !== undefined);
    for (const { op_id } of begins) begun.add(op_id);
    if (entry.block_id === null) {
      level = Math.max(0, entry.level - 1);
      rows.push({ kind: "section", key, entry, level, begins });
    } else if (entry.kind === "unchanged") {
      const last = rows.at(-1);
      if (last?.kind === "same") last.blocks += 1;
      else rows.push({ kind: "same", key: `same ${key}`, blocks: 1, level: level + 1 });
    } else rows.push({ kind: "block", key, entry, level: level + 1, begins });
  }
  return rows;
}

function Outline({ preview, view, desk }: { preview: Preview; view: ProposalView; desk: Desk }) {
  const ops = decidable(view);
  const rows = useMemo(
    () => rowsOf(withHeadings(preview.diff.entries, view.base), ops),
    [preview, view.base, ops],
  );
  return (
    <Stack
      items={rows}
      keyOf={({ key }) => key}
      current={rows.findIndex(
        (row) => row.kind !== "same" && row.begins.some(({ op_id }) => op_id === desk.op?.op_id),
      )}
      moved={desk.moved}
      height={2}
      className="py-2"
    >
      {(row) =>
        row.kind === "same" ? (
          <p
            className="type-small flex min-h-6 items-center gap-2 text-faint"
            style={{ paddingLeft: `${1 + row.level * 1.25}rem` }}
          >
            <Icon of={Equal} small />
            {words.same(row.blocks)}
          </p>
        ) : (
          <Entry row={row} of={ops.length} view={view} desk={desk} />
        )
      }
    </Stack>
  );
}

const looks: Record<DiffKind, { icon: LucideIcon; tone: string; word: string | null }> = {
  section_added: { icon: Plus, tone: "text-ok", word: words.added },
  section_removed: { icon: Minus, tone: "text-bad", word: words.removed },
  section_renamed: { icon: TextCursorInput, tone: "text-warn", word: words.renamed },
  section_moved: { icon: ArrowDownUp, tone: "text-warn", word: words.moved },
  block_added: { icon: Plus, tone: "text-ok", word: words.added },
  block_removed: { icon: Minus, tone: "text-bad", word: words.removed },
  block_changed: { icon: PencilLine, tone: "text-warn", word: words.changed },
  unchanged: { icon: Equal, tone: "text-faint", word: null },
};

function Entry({
  row,
  of,
  view,
  desk,
}: {
  row: Extract<Row, { entry: DiffEntry }>;
  of: number;
  view: ProposalView;
  desk: Desk;
}) {
  const { entry, level, begins } = row;
  const look = looks[entry.kind];
  const section = entry.block_id === null;
  const text = entry.new_text ?? entry.old_text ?? "";
  return (
    <>
      {begins.map((op) => (
        <OpRow key={op.op_id} op={op} of={of} view={view} desk={desk} />
      ))}
      <div
        className={cn("flex min-h-7 items-start gap-2 py-0.5 pr-4", section && "mt-1")}
        style={{ paddingLeft: `${1 + level * 1.25}rem` }}
      >
        <Icon of={look.icon} small className={cn("mt-1 shrink-0", look.tone)} />
        <span className={cn("min-w-0 flex-1 truncate", section && "type-strong")}>
          {entry.kind === "section_renamed" && (
            <del className="mr-1.5 text-muted">{entry.old_text}</del>
          )}
          {shown(text).split("\n")[0] || strings.opening}
        </span>
        {look.word && (
          <span className={cn("type-small mt-0.5 shrink-0", look.tone)}>{look.word}</span>
        )}
      </div>
    </>
  );
}

/** The decision stands before the first thing that it changes. */
function OpRow({ op, of, view, desk }: { op: OpView; of: number; view: ProposalView; desk: Desk }) {
  const focused = desk.op?.op_id === op.op_id;
  const bar = useTakesFocus<HTMLElement>(focused, desk.moved);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: j and k move the focus; a click is the same by pointer
    <article
      ref={bar}
      aria-label={strings.cardName(op.number, of, opTitle(op), op.heading, spokenRemarks(op))}
      aria-current={focused || undefined}
      tabIndex={focused ? 0 : -1}
      onClick={() => desk.focus(op)}
      className={cn("mt-1", focused && "outline-2 -outline-offset-2 outline-focus")}
    >
      <OpHead
        op={op}
        focused={focused}
        view={view}
        onDecide={(decision) => desk.decide([op], decision)}
      />
    </article>
  );
}
