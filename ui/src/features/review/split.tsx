import { Fragment } from "react";
import { ChangeMap, keyOf, runsOf, SplitEntry, UnchangedSplit } from "~/components/doc-diff";
import { ReportCard } from "~/components/report";
import { SkeletonRows } from "~/components/skeleton";
import { cn } from "~/lib/cn";
import { withHeadings } from "~/lib/headings";
import { useRead } from "~/platform/cache";
import type { BankId, DiffEntry, OpView, ProposalView } from "~/platform/wire";
import type { Desk } from "./desk";
import { OpHead } from "./op-head";
import { decidable } from "./op-words";
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
  return (
    <div className="flex min-h-0 flex-1">
      <div className="scroll-quiet min-h-0 flex-1">
        <div className="sticky top-0 z-1 grid grid-cols-2 border-line border-b bg-ground">
          {[strings.split.base(view.base_version), strings.split.candidate(view.row.number)].map(
            (side) => (
              <p
                key={side}
                className="type-label px-8 py-1.5 text-faint not-first:border-line not-first:border-l"
              >
                {side}
              </p>
            ),
          )}
        </div>
        <Rows entries={entries} view={view} desk={desk} />
      </div>
      <ChangeMap entries={entries} />
    </div>
  );
}

function Rows({ entries, view, desk }: { entries: DiffEntry[]; view: ProposalView; desk: Desk }) {
  const begun = new Set<string>();
  return runsOf(entries).map((run) => {
    const [first] = run;
    if (!first) return null;
    const key = keyOf(first);
    if (first.kind === "unchanged") return <UnchangedSplit key={key} entries={run} />;
    const starting = decidable(view).filter(
      ({ op_id }) => first.op_ids.includes(op_id) && !begun.has(op_id),
    );
    for (const { op_id } of starting) begun.add(op_id);
    const own = decidable(view).find(({ op_id }) => first.op_ids.includes(op_id));
    return (
      <Fragment key={key}>
        {starting.map((op) => (
          <OpBar key={op.op_id} op={op} view={view} desk={desk} />
        ))}
        <SplitEntry entry={first} setBack={own?.decision === "rejected"} />
      </Fragment>
    );
  });
}

function OpBar({ op, view, desk }: { op: OpView; view: ProposalView; desk: Desk }) {
  const focused = desk.op?.op_id === op.op_id;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: j and k move the focus; a click is the same by pointer
    // biome-ignore lint/a11y/useKeyWithClickEvents: as above
    <div
      onClick={() => desk.focus(op)}
      ref={(bar) => {
        if (focused && desk.moved > 0) bar?.scrollIntoView({ block: "nearest" });
      }}
      className={cn(
        "mt-1 scroll-mt-10 border-line border-y",
        focused && "outline-2 -outline-offset-2 outline-focus",
      )}
    >
      <OpHead
        op={op}
        focused={focused}
        whole={view.whole}
        onDecide={(decision) => desk.decide([op], decision)}
      />
    </div>
  );
}
