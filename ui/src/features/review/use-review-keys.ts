import { type Act, useCommands } from "~/keys/use-commands";
import type { Decision, ProposalRow, ProposalView } from "~/platform/bindings";
import type { Desk } from "./desk";
import { unavailable } from "./foot";
import { conflictsOf, decidable, isOpen } from "./op-words";
import type { ReviewPlace } from "./review-screen";
import { strings } from "./strings";
import type { useEnds } from "./use-ends";

/** What the keys of the review do; the keys themselves stand in the registry. */
export function useReviewKeys({
  view,
  rows,
  desk,
  ends,
  showEvidence,
  openForm,
  drafting,
  draft,
  place,
}: {
  view: ProposalView;
  rows: readonly ProposalRow[];
  desk: Desk;
  ends: ReturnType<typeof useEnds>;
  showEvidence: () => void;
  /** Opens the text or the note of the operation at hand, where it can be seen. */
  openForm: (which: "edit" | "note") => void;
  /** A whole text is being written; single decisions then wait. */
  drafting: boolean;
  /** Opens the whole text for editing. */
  draft: () => void;
  place: ReviewPlace;
}): void {
  const at = rows.findIndex(({ id }) => id === view.row.id);
  const step = (by: number) => () => {
    const next = rows[at + by];
    if (next) place.onProposal(next.id);
  };
  const decideAll = (decision: Decision, which: (op: ProposalView["ops"][number]) => boolean) => {
    const targets = decidable(view).filter((op) => op.conflict === null && which(op));
    if (targets.length > 0) desk.decide(targets, decision);
  };

  const closed = drafting
    ? strings.draft.first
    : isOpen(view)
      ? null
      : strings.banners.closed(strings.state[view.row.state].toLowerCase());
  /** What cannot be done to a proposal that is closed. */
  const whileOpen = (act: () => void): Act => closed ?? act;

  useCommands({
    "review.next": () => desk.move(1),
    "review.previous": () => desk.move(-1),
    "review.nextProposal": step(1),
    "review.previousProposal": step(-1),
    "review.accept": whileOpen(() => desk.decideAndMove("accepted")),
    "review.reject": whileOpen(() => desk.decideAndMove("rejected")),
    "review.defer": whileOpen(() => desk.decideAndMove("deferred")),
    "review.undecide": whileOpen(() => {
      if (desk.op) desk.decide([desk.op], "undecided");
    }),
    "review.edit": whileOpen(() => openForm("edit")),
    "review.note": whileOpen(() => openForm("note")),
    "review.acceptSupported": whileOpen(() =>
      decideAll("accepted", (op) => !op.unsupported && op.decision !== "accepted"),
    ),
    "review.rejectRemaining": whileOpen(() =>
      decideAll("rejected", (op) => op.decision === "undecided"),
    ),
    "review.draft": whileOpen(draft),
    "review.evidence": showEvidence,
    "review.context": () => desk.toggle("more"),
    "review.unified": () => place.onView("unified"),
    "review.split": () => place.onView("split"),
    "review.rendered": () => place.onView("rendered"),
    "review.structure": () => place.onView("structure"),
    "review.result": () => place.onView("result"),
    "review.deletions": () => desk.toggle("deletions"),
    "review.wrap": () => desk.toggle("wrap"),
    "review.undo": closed ?? (desk.review.canUndo ? desk.review.undo : strings.nothingToUndo),
    "review.approve": closed ?? unavailable(view, conflictsOf(view).length) ?? ends.approve,
    "review.rejectAll": whileOpen(ends.askReject),
  });
}
