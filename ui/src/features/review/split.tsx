import { ChangeMap, keyOf, runsOf, SplitEntry, UnchangedSplit } from "~/components/doc-diff";
import { ReportCard } from "~/components/report";
import { SkeletonRows } from "~/components/skeleton";
import { Stack } from "~/components/stack";
import { cn } from "~/lib/cn";
import { withHeadings } from "~/lib/headings";
import { useTakesFocus } from "~/lib/use-takes-focus";
import type { BankId, DiffEntry, OpView, ProposalView } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import type { Desk } from "./desk";
import { OpHead, spokenRemarks } from "./op-head";
import { decidable, opTitle } from "./op-words";
import { strings } from "./strings";

/** Old and new side by side, one row a block, so both sides scroll as one. */
export function Split({ bank, view, desk }: { bank: BankId; view: ProposalView; desk: Desk }) {
  const preview = useRead("previewProposal", [bank, view.row.id, "everything"], {
    keepPrevious: true,
  });
  if (preview.error) {
    return (
      <div className="p-4">
        <ReportCard report={preview.error} onRetry={() => void preview.refetch()} />
      </div>
    );
  }
  if (!preview.data) return <SkeletonRows />;
  const entries = withHeadings(preview.data.diff.entries, view.base);
  const runs = withOps(entries, decidable(view));
  return (
    <div className="flex min-h-0 flex-1">
      <Stack
        items={runs}
        keyOf={({ entries: [first] }) => (first ? keyOf(first) : "")}
        current={runs.findIndex(({ ops }) => ops.some(({ op_id }) => op_id === desk.op?.op_id))}
        moved={desk.moved}
        height={4}
        before={
          <Sides
            left={strings.split.base(view.base_version)}
            right={strings.split.candidate(view.row.number)}
          />
        }
      >
        {(run) => <Run run={run} view={view} desk={desk} />}
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

/** Entries that are drawn as one, with the operations that begin there. */
interface RunOfEntries {
  entries: DiffEntry[];
  ops: OpView[];
}

/** Changes alone, unchanged entries in runs; an operation stands before its first change. */
function withOps(entries: DiffEntry[], ops: OpView[]): RunOfEntries[] {
  const begun = new Set<string>();
  return runsOf(entries).map((run) => {
    const starting = ops.filter(
      ({ op_id }) => !begun.has(op_id) && run.some(({ op_ids }) => op_ids.includes(op_id)),
    );
    for (const { op_id } of starting) begun.add(op_id);
    return { entries: run, ops: starting };
  });
}

function Run({ run, view, desk }: { run: RunOfEntries; view: ProposalView; desk: Desk }) {
  const [first] = run.entries;
  if (!first) return null;
  const of = decidable(view).length;
  const own = decidable(view).filter(({ op_id }) => first.op_ids.includes(op_id));
  const setBack = own.length > 0 && own.every(({ decision }) => decision === "rejected");
  return (
    <>
      {run.ops.map((op) => (
        <OpBar key={op.op_id} op={op} of={of} view={view} desk={desk} />
      ))}
      {first.kind === "unchanged" ? (
        <UnchangedSplit entries={run.entries} />
      ) : (
        <SplitEntry entry={first} setBack={setBack} />
      )}
    </>
  );
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
