import { useEffect } from "react";
import { Pane, PaneEdge, Panes } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { SkeletonRows } from "~/components/skeleton";
import { useNarrow } from "~/lib/use-narrow";
import type { BankId, ProposalId } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { Inbox } from "./inbox";
import { NothingWaits } from "./no-operations";
import { OneReview } from "./one-review";
import { strings } from "./strings";
import type { ReviewView } from "./views";

export interface ReviewPlace {
  bank: BankId;
  /** The proposal in the address. */
  proposal: ProposalId | null;
  view: ReviewView | null;
  op: string | null;
  onProposal: (id: ProposalId) => void;
  onView: (view: ReviewView) => void;
  onOp: (id: string) => void;
}

export function ReviewScreen(place: ReviewPlace) {
  const { bank, proposal, onProposal } = place;
  const inbox = useRead("listProposals", [bank]);
  const rows = inbox.data;
  const first = rows?.[0]?.id;
  const narrow = useNarrow();
  const alone = narrow || place.view === "split";

  useEffect(() => {
    if (proposal === null && first !== undefined) onProposal(first);
  }, [proposal, first, onProposal]);

  if (inbox.error) {
    return (
      <div className="p-4">
        <ReportCard report={inbox.error} onRetry={() => void inbox.refetch()} />
      </div>
    );
  }
  if (rows === undefined) return <SkeletonRows height="4.75rem" />;
  if (proposal === null) return rows.length === 0 ? <NothingWaits bank={bank} /> : null;

  return (
    <Panes id={alone ? "review-narrow" : "review"}>
      {!alone && (
        <>
          <Pane id="inbox" label={strings.inbox} width="216px" min="160px" max="320px">
            <Inbox
              rows={rows}
              active={proposal}
              onActive={({ id }) => onProposal(id)}
              onOpen={() => document.querySelector<HTMLElement>("article[aria-current]")?.focus()}
            />
          </Pane>
          <PaneEdge label={strings.inbox} />
        </>
      )}
      <Pane id="proposal" label={strings.proposal} bare>
        <OneReview key={proposal} {...place} proposal={proposal} rows={rows} alone={alone} />
      </Pane>
    </Panes>
  );
}
