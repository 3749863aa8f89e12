import { useState } from "react";
import type { BankId, Decision, OpView, ProposalView } from "~/platform/bindings";
import { conflictsOf, decidable } from "./op-words";
import { type Review, useReview } from "./use-review";

type Form = "edit" | "note" | null;

/** The state of one review at hand: which operation is looked at, what is open, how it is shown. */
export interface Desk {
  review: Review;
  op: OpView | null;
  /** Grows with each move by key, so that the card then takes the focus. */
  moved: number;
  form: Form;
  more: boolean;
  wrap: boolean;
  deletions: boolean;
  focus(op: OpView): void;
  move(step: 1 | -1): void;
  decide(ops: OpView[], decision: Decision): void;
  /** Decides the operation at hand and goes on to the next. */
  decideAndMove(decision: Decision): void;
  openForm(op: OpView, form: "edit" | "note"): void;
  closeForm(): void;
  saveEdit(op: OpView, text: string | null, after: () => void): void;
  saveNote(op: OpView, note: string | null, after: () => void): void;
  toggle(what: "more" | "wrap" | "deletions"): void;
}

export function useDesk(
  bank: BankId,
  view: ProposalView,
  opId: string | null,
  onOp: (id: string) => void,
  conflictsOnly: boolean,
): Desk {
  const review = useReview(bank, view);
  const [moved, setMoved] = useState(0);
  const [form, setForm] = useState<Form>(null);
  const [shown, setShown] = useState({ more: false, wrap: true, deletions: true });
  const ops = conflictsOnly ? conflictsOf(view) : decidable(view);
  const at = Math.max(
    0,
    ops.findIndex(({ op_id }) => op_id === opId),
  );
  const op = ops[at] ?? null;

  const focus = (next: OpView) => {
    if (next.op_id === op?.op_id) return;
    setForm(null);
    onOp(next.op_id);
  };
  const move = (step: 1 | -1) => {
    const next = ops[at + step];
    if (next) focus(next);
    setMoved((count) => count + 1);
  };
  const closeForm = () => {
    setForm(null);
    setMoved((count) => count + 1);
  };

  return {
    review,
    op,
    moved,
    form,
    ...shown,
    focus,
    move,
    decide: (targets, decision) =>
      review.decide(
        targets.map(({ op_id }) => op_id),
        decision,
      ),
    decideAndMove: (decision) => {
      if (!op || op.conflict) return;
      review.decide([op.op_id], decision);
      move(1);
    },
    openForm: (target, next) => {
      focus(target);
      setForm(next);
    },
    closeForm,
    saveEdit: (target, text, after) => {
      review.edit(target, text, after);
      closeForm();
    },
    saveNote: (target, note, after) => {
      review.note(target, note, after);
      closeForm();
    },
    toggle: (what) => setShown((before) => ({ ...before, [what]: !before[what] })),
  };
}
