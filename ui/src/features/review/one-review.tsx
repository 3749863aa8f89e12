import { useState } from "react";
import { ErrorBoundary } from "react-error-boundary";
import { Pane, PaneEdge, Panes } from "~/components/panes";
import { BrokenPane, ReportCard } from "~/components/report";
import { SkeletonRows } from "~/components/skeleton";
import { useFolded } from "~/lib/use-narrow";
import type { ProposalId, ProposalRow, ProposalView } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { ApproveDialog } from "./approve";
import { useDesk } from "./desk";
import { DraftPane } from "./draft-pane";
import { EvidencePane } from "./evidence-pane";
import { conflictsOf } from "./op-words";
import { ProposalPane } from "./proposal-pane";
import { RejectDialog } from "./reject";
import type { ReviewPlace } from "./review-screen";
import { strings } from "./strings";
import { useEnds } from "./use-ends";
import { useReviewKeys } from "./use-review-keys";

type Place = ReviewPlace & {
  proposal: ProposalId;
  rows: readonly ProposalRow[];
  /** The inbox is folded away. */
  alone: boolean;
};

/** One proposal with the evidence beside it. */
export function OneReview(place: Place) {
  const loaded = useRead("getProposal", [place.bank, place.proposal]);
  if (loaded.error) {
    return (
      <div className="p-4">
        <ReportCard report={loaded.error} onRetry={() => void loaded.refetch()} />
      </div>
    );
  }
  return loaded.data ? (
    <Loaded {...place} loaded={loaded.data} />
  ) : (
    <SkeletonRows height="9rem" rows={4} />
  );
}

function Loaded({ loaded: view, ...place }: Place & { loaded: ProposalView }) {
  const conflicts = conflictsOf(view).length;
  const wanted = place.view === "conflicts" && conflicts === 0 ? null : place.view;
  const shown = wanted ?? (conflicts > 0 ? "conflicts" : "unified");
  const desk = useDesk(place.bank, view, place.op, place.onOp, shown === "conflicts");
  const ends = useEnds(place.bank, view);
  const folded = useFolded();
  // Side by side needs the width; there and in a folded window the evidence comes when asked for.
  const roomy = shown !== "split" && !folded;
  const [asked, setAsked] = useState<boolean | null>(null);
  const [drafting, setDrafting] = useState(false);
  const evidence = asked ?? roomy;
  const showEvidence = () => {
    setAsked(true);
    setTimeout(() => document.getElementById("evidence-text")?.focus(), 0);
  };
  const draft = () => setDrafting(true);
  const openForm = (which: "edit" | "note") => {
    if (!desk.op) return;
    // Texts and notes are written in the list of operations; conflicts have an editor of their own.
    if (shown !== "unified" && !(shown === "conflicts" && which === "edit")) {
      place.onView("unified");
    }
    desk.openForm(desk.op, which);
  };
  useReviewKeys({
    view,
    rows: place.rows,
    desk,
    ends,
    showEvidence,
    openForm,
    drafting,
    draft,
    place,
  });

  return (
    <>
      {drafting ? (
        <section aria-label={strings.draft.title} className="flex min-h-0 min-w-0 flex-1" data-pane>
          <DraftPane
            bank={place.bank}
            view={view}
            review={desk.review}
            busy={ends.busy}
            report={ends.summary ? null : (ends.report ?? desk.review.fault)}
            onApprove={ends.approveDraft}
            onLeave={() => setDrafting(false)}
          />
        </section>
      ) : (
        <Panes id="review-evidence">
          <Pane id="change" label={strings.proposal} min="300px">
            <ErrorBoundary FallbackComponent={BrokenPane}>
              <ProposalPane
                bank={place.bank}
                view={view}
                rows={place.rows}
                shown={shown}
                desk={desk}
                folded={place.alone}
                busy={ends.busy}
                onView={(next) => {
                  setAsked(null);
                  place.onView(next);
                }}
                onProposal={place.onProposal}
                onEvidence={() => setAsked(!evidence)}
                onDraft={draft}
                onReject={ends.askReject}
                onApprove={ends.approve}
              />
            </ErrorBoundary>
          </Pane>
          {evidence && (
            <>
              <PaneEdge label={strings.evidence.title} />
              <Pane
                id="evidence"
                as="aside"
                label={strings.evidence.title}
                width={place.alone ? "256px" : "312px"}
                min="200px"
                max="480px"
              >
                <ErrorBoundary FallbackComponent={BrokenPane}>
                  <EvidencePane
                    op={desk.op}
                    outside={view.row.origin === "file"}
                    onNote={() => openForm("note")}
                    onLeave={() =>
                      document.querySelector<HTMLElement>("article[aria-current]")?.focus()
                    }
                  />
                </ErrorBoundary>
              </Pane>
            </>
          )}
        </Panes>
      )}
      {ends.summary && (
        <ApproveDialog
          view={view}
          preview={ends.summary.preview}
          draft={ends.summary.draft !== null}
          report={ends.report}
          busy={ends.busy}
          onPublish={ends.publish}
          onLeave={ends.leave}
        />
      )}
      {ends.rejecting && (
        <RejectDialog
          view={view}
          report={ends.report}
          busy={ends.busy}
          onReject={ends.reject}
          onLeave={ends.leave}
        />
      )}
    </>
  );
}
