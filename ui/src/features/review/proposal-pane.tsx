import { ReportCard } from "~/components/report";
import { type TabSpec, Tabs } from "~/components/tabs";
import type { BankId, ProposalId, ProposalRow, ProposalView } from "~/platform/bindings";
import { Banners } from "./banners";
import { Conflicts } from "./conflicts";
import type { Desk } from "./desk";
import { Foot } from "./foot";
import { Head } from "./head";
import { AllSkipped } from "./no-operations";
import { conflictsOf, decidable, isOpen } from "./op-words";
import { Rendered } from "./rendered";
import { Result } from "./result";
import { Split } from "./split";
import { strings } from "./strings";
import { Structure } from "./structure";
import { Unified } from "./unified";
import type { ReviewView } from "./views";

/** One proposal: head, views of the same change, and the end of the decision at the foot. */
export function ProposalPane({
  bank,
  view,
  rows,
  shown,
  desk,
  folded,
  busy,
  onView,
  onProposal,
  onEvidence,
  onDraft,
  onReject,
  onApprove,
}: {
  bank: BankId;
  view: ProposalView;
  rows: readonly ProposalRow[];
  shown: ReviewView;
  desk: Desk;
  folded: boolean;
  busy: boolean;
  onView: (view: ReviewView) => void;
  onProposal: (id: ProposalId) => void;
  onEvidence: () => void;
  /** Opens the whole text for editing. */
  onDraft: () => void;
  onReject: () => void;
  onApprove: () => void;
}) {
  const conflicts = conflictsOf(view).length;
  const tabs: TabSpec<ReviewView>[] = [
    ...(conflicts > 0
      ? [{ value: "conflicts" as const, label: strings.view.conflicts, count: conflicts }]
      : []),
    { value: "unified", label: strings.view.unified },
    { value: "split", label: strings.view.split },
    { value: "rendered", label: strings.view.rendered },
    { value: "structure", label: strings.view.structure },
    { value: "result", label: strings.view.result },
  ];
  const none = decidable(view).length === 0;
  return (
    <>
      <Head
        view={view}
        rows={rows}
        folded={folded}
        onProposal={onProposal}
        onEvidence={onEvidence}
      />
      <Banners bank={bank} view={view} onDraft={onDraft} />
      {desk.review.fault && (
        <div className="border-line border-b p-3">
          <ReportCard report={desk.review.fault} onRetry={desk.review.retry} />
        </div>
      )}
      {none ? (
        <div className="scroll-quiet min-h-0 flex-1">
          <AllSkipped bank={bank} view={view} />
        </div>
      ) : (
        <Tabs label={strings.views} value={shown} onValue={onView} tabs={tabs}>
          {shown === "conflicts" && <Conflicts view={view} desk={desk} />}
          {shown === "unified" && <Unified view={view} desk={desk} />}
          {shown === "split" && <Split bank={bank} view={view} desk={desk} />}
          {shown === "rendered" && <Rendered bank={bank} view={view} desk={desk} />}
          {shown === "structure" && <Structure bank={bank} view={view} desk={desk} />}
          {shown === "result" && <Result bank={bank} view={view} onDraft={onDraft} />}
        </Tabs>
      )}
      {isOpen(view) && <Foot view={view} busy={busy} onReject={onReject} onApprove={onApprove} />}
    </>
  );
}
