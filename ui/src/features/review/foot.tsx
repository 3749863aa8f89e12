import { Check, Clock, X } from "lucide-react";
import { Button } from "~/components/button";
import { Icon } from "~/components/icon";
import { cn } from "~/lib/cn";
import type { Decision, ProposalView } from "~/platform/bindings";
import { conflictsOf, decidable, isOpen } from "./op-words";
import { strings } from "./strings";

const drawings = { accepted: Check, rejected: X, deferred: Clock } as const;
const looks: Record<Decision, string> = {
  accepted: "bg-ok-soft text-ok",
  rejected: "bg-bad-soft text-bad",
  deferred: "bg-hover text-muted",
  undecided: "border border-dashed border-control",
};

/** How the review stands, and its two ends. */
export function Foot({
  view,
  busy,
  onReject,
  onApprove,
}: {
  view: ProposalView;
  busy: boolean;
  onReject: () => void;
  onApprove: () => void;
}) {
  const ops = decidable(view);
  const conflicts = conflictsOf(view).length;
  const { decisions } = view.row;
  return (
    <div className="flex min-h-(--foot) shrink-0 items-center gap-3 border-line border-t bg-sunken px-4 py-1.5">
      <Button onClick={onReject} disabled={busy}>
        {strings.reject}
      </Button>
      <div className="grid min-w-0 flex-1 grid-cols-[minmax(0,1fr)] gap-1">
        {ops.length <= 24 && (
          <span aria-hidden="true" className="flex flex-wrap gap-[3px]">
            {ops.map(({ op_id, decision }) => (
              <span
                key={op_id}
                className={cn("grid h-3.5 w-5 place-items-center rounded-[3px]", looks[decision])}
              >
                {decision !== "undecided" && <Icon of={drawings[decision]} small />}
              </span>
            ))}
          </span>
        )}
        <span className="type-small truncate text-muted">{strings.tally(decisions)}</span>
      </div>
      <Button
        kind="primary"
        command="review.approve"
        data-tour="approve"
        className="ml-auto"
        unavailable={unavailable(view, conflicts)}
        disabled={busy}
        onClick={onApprove}
      >
        {conflicts > 0
          ? strings.approveAfter(conflicts)
          : strings.approve(decisions.accepted, ops.length)}
      </Button>
    </div>
  );
}

/** Why approving is not possible now. */
export function unavailable(view: ProposalView, conflicts: number): string | undefined {
  if (!isOpen(view)) return strings.banners.closed(strings.state[view.row.state].toLowerCase());
  if (conflicts > 0) return strings.conflictsLeft(conflicts);
  return view.row.decisions.accepted === 0 ? strings.nothingAccepted : undefined;
}
