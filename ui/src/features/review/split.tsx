import { useMemo } from "react";
import {
  ChangeMap,
  type SplitRow,
  SplitRowView,
  splitRows,
  useOpenedRuns,
} from "~/components/doc-diff";
import { ReportCard } from "~/components/report";
import { SkeletonRows } from "~/components/skeleton";
import { Stack } from "~/components/stack";
import { cn } from "~/lib/cn";
import { withHeadings } from "~/lib/headings";
import { useTakesFocus } from "~/lib/use-takes-focus";
import type { BankId, OpView, Preview, ProposalView } from "~/platform/bindings";
import type { Desk } from "./desk";
import { OpHead, spokenRemarks } from "./op-head";
import { decidable, opTitle } from "./op-words";
import { strings } from "./strings";
import { usePreview } from "./use-preview";

/** Old and new side by side, one row a block, so both sides scroll as one. */
export function Split({ bank, view, desk }: { bank: BankId; view: ProposalView; desk: Desk }) {
  const preview = usePreview(bank, view, "everything");
  if (preview.error) {
    return (
      <div className="p-4">
        <ReportCard report={preview.error} onRetry={() => void preview.refetch()} />
      </div>
    );
  }
  if (!preview.data) return <SkeletonRows />;
  return <Rows preview={preview.data} view={view} desk={desk} />;
}

function Rows({ preview, view, desk }: { preview: Preview; view: ProposalView; desk: Desk }) {
  const [opened, open] = useOpenedRuns();
  const ops = decidable(view);
  const entries = useMemo(
    () => withHeadings(preview.diff.entries, view.base),
    [preview, view.base],
  );
  const rows = withOps(splitRows(entries, opened), ops);
  return (
    <div className="flex min-h-0 flex-1">
      <Stack
        items={rows}
        keyOf={({ row }) => row.key}
        current={rows.findIndex(({ begins }) =>
          begins.some(({ op_id }) => op_id === desk.op?.op_id),
        )}
        moved={desk.moved}
        height={2}
        before={
          <Sides
            left={strings.split.base(view.base_version)}
            right={strings.split.candidate(view.row.number)}
          />
        }
      >
        {({ row, begins, setBack }) => (
          <>
            {begins.map((op) => (
              <OpBar key={op.op_id} op={op} of={ops.length} view={view} desk={desk} />
            ))}
            <SplitRowView row={row} setBack={setBack} onOpen={open} />
          </>
        )}
      </Stack>
      <ChangeMap entries={entries} />
    </div>
  );
}

function Sides({ left, right }: { left: string; right: string }) {
  return (
    <div className="sticky top-0 z-1 grid grid-cols-2 border-line border-b bg-ground">
      {[left, right].map((side) => (
        <p
          key={side}
          className="type-label px-8 py-1.5 text-faint not-first:border-line not-first:border-l"
        >
          {side}
        </p>
      ))}
    </div>
  );
}

/** A row with the operations that begin there. */
interface RowWithOps {
  row: SplitRow;
  begins: OpView[];
  /** All that changes it is rejected. */
  setBack: boolean;
}

/** An operation stands before its first change. */
function withOps(rows: SplitRow[], ops: readonly OpView[]): RowWithOps[] {
  const byId = new Map(ops.map((op) => [op.op_id, op]));
  const begun = new Set<string>();
  return rows.map((row) => {
    const ids = row.kind === "entry" ? row.entry.op_ids : [];
    const own = ids.map((id) => byId.get(id)).filter((op) => op !== undefined);
    const begins = own.filter(({ op_id }) => !begun.has(op_id));
    for (const { op_id } of begins) begun.add(op_id);
    return {
      row,
      begins,
      setBack: own.length > 0 && own.every(({ decision }) => decision === "rejected"),
    };
  });
}

function OpBar({ op, of, view, desk }: { op: OpView; of: number; view: ProposalView; desk: Desk }) {
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
      className={cn(
        "mt-1 scroll-mt-10 border-line border-y",
        focused && "outline-2 -outline-offset-2 outline-focus",
      )}
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
