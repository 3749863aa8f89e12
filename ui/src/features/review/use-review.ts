import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useAnnounce } from "~/components/announce";
import { groupBy } from "~/lib/group";
import { uniqueName } from "~/lib/unique";
import { usePlatform } from "~/platform";
import type {
  BankId,
  ConflictChoice,
  DecideOps,
  Decision,
  OpView,
  ProposalView,
  Report,
  Turn,
} from "~/platform/bindings";
import { toReport } from "~/platform/errors";
import { decidable, numbersOf } from "./op-words";
import { strings } from "./strings";

/** What a decision replaced, so that it can be taken back. */
type Step = { op_id: string; decision: Decision }[];

export interface Review {
  decide(ids: string[], decision: Decision): void;
  undo(): void;
  canUndo: boolean;
  /** `after` is called once it is saved, and only then: until then the words are the person's draft. */
  edit(op: OpView, text: string | null, after: () => void): void;
  note(op: OpView, note: string | null, after: () => void): void;
  resolve(op: OpView, choice: ConflictChoice, after?: () => void): void;
  /** Keeps a whole text of the person's own, or with null drops it. */
  draft(text: string | null, after: () => void): void;
  /** What the last act was refused with. */
  fault: Report | null;
  /** Does the refused act again. */
  retry(): void;
}

/**
 * The acts of a review. Each is saved at once and in turn: the next one waits for the state that the
 * last one led to, so quick keys never send a decision about a state that is gone.
 */
export function useReview(bank: BankId, view: ProposalView): Review {
  const { commands } = usePlatform();
  const client = useQueryClient();
  const announce = useAnnounce();
  const [steps, setSteps] = useState<Step[]>([]);
  const [refused, setRefused] = useState<{ report: Report; again: () => void } | null>(null);
  const turn = useRef<Promise<void>>(Promise.resolve());
  const latest = useRef(view);
  if (view.state_seq >= latest.current.state_seq) latest.current = view;
  const id = view.row.id;

  const act = (
    make: (now: ProposalView, turn: typeof turnOf) => Promise<ProposalView>,
    after?: (before: ProposalView, next: ProposalView) => void,
  ) => {
    turn.current = turn.current.then(async () => {
      const before = latest.current;
      try {
        const next = await make(before, turnOf);
        latest.current = next;
        client.setQueryData(["getProposal", bank, id], next);
        setRefused(null);
        after?.(before, next);
      } catch (why) {
        setRefused({ report: toReport(why), again: () => act(make, after) });
        await client.invalidateQueries({ queryKey: ["getProposal", bank, id] });
      }
    });
  };

  const decide = (ids: string[], decision: Decision) =>
    act(
      (now, turn) => commands.decideOps(bank, id, decisionsOf(ids, decision), turn(now)),
      (before, next) => {
        const changed = changes(before, next);
        if (changed.length === 0) return;
        setSteps((earlier) => [...earlier, changed]);
        const followed = numbersOf(
          next,
          changed.map(({ op_id }) => op_id).filter((op_id) => !ids.includes(op_id)),
        );
        announce(
          [
            `${strings.decided[decision]}.`,
            `${strings.tally(next.row.decisions)}.`,
            followed.length > 0 && strings.followed(followed),
          ]
            .filter(Boolean)
            .join(" "),
        );
      },
    );

  const undo = () => {
    const step = steps.at(-1);
    if (!step) return;
    setSteps((earlier) => earlier.slice(0, -1));
    const groups = groupBy(step, ({ decision }) => decision);
    for (const [decision, ops] of groups) {
      const ids = ops.map(({ op_id }) => op_id);
      act(
        (now, turn) => commands.decideOps(bank, id, decisionsOf(ids, decision), turn(now)),
        (_, next) => announce(`${strings.tally(next.row.decisions)}.`),
      );
    }
  };

  return {
    decide,
    undo,
    canUndo: steps.length > 0,
    edit: (op, text, after) =>
      act((now, turn) => commands.editOp(bank, id, op.op_id, text, turn(now)), after),
    note: (op, note, after) =>
      act((now, turn) => commands.setOpNote(bank, id, op.op_id, note, turn(now)), after),
    resolve: (op, choice, after) =>
      act((now, turn) => commands.resolveConflict(bank, id, op.op_id, choice, turn(now)), after),
    draft: (text, after) =>
      act((now, turn) => commands.editDraft(bank, id, text, turn(now)), after),
    fault: refused?.report ?? null,
    retry: () => refused?.again(),
  };
}

/** What was seen when a person spoke, under a name of its own, so that nothing counts twice. */
export function turnOf(view: ProposalView): Turn {
  return { state_seq: view.state_seq, request_id: uniqueName() };
}

const decisionsOf = (ids: readonly string[], decision: Decision): DecideOps => ({
  decisions: ids.map((op_id) => ({ op_id, decision, note: null })),
});

/** The operations whose decision changed, with what it was. */
function changes(before: ProposalView, after: ProposalView): Step {
  const now = new Map(decidable(after).map((op) => [op.op_id, op.decision]));
  return decidable(before)
    .filter(({ op_id, decision }) => now.get(op_id) !== decision)
    .map(({ op_id, decision }) => ({ op_id, decision }));
}
