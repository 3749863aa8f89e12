import { type ReactNode, useState } from "react";
import { DuringReviewQuestion } from "~/components/during-review";
import { say } from "~/components/toast";
import type { BankId, DuringReview, ModelRow, Report } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { toReport } from "~/platform/errors";
import { strings } from "./model-strings";

export interface Refresh {
  run(model: ModelRow, full: boolean): Promise<void>;
  busy: boolean;
  fault: Report | null;
  /** Why a refresh cannot be asked for now. */
  unavailable(model: ModelRow): string | undefined;
  /** What stands open while a review of the model is under way; drawn by the caller. */
  question: ReactNode;
}

/** Asks for refreshes; where a review is under way, asks first what becomes of its decisions. */
export function useRefresh(bank: BankId): Refresh {
  const refresh = useWrite("refreshModel");
  const inReview = useWrite("refreshInReview");
  const answering = useRead("appStatus", []).data?.answering.kind;
  const [asked, setAsked] = useState<{ model: ModelRow; full: boolean } | null>(null);
  const [fault, setFault] = useState<Report | null>(null);

  const choose = async (during: DuringReview) => {
    if (!asked) return;
    const { model, full } = asked;
    try {
      await inReview.mutateAsync([bank, model.id, full, during]);
      setAsked(null);
      const begun = full ? strings.rebuilding(model.name) : strings.queued(model.name);
      say(during === "wait" ? strings.waiting(model.name) : begun);
    } catch {
      // Kept by the mutation and shown in the question.
    }
  };
  return {
    run: async (model, full) => {
      if (refresh.isPending) return;
      setFault(null);
      try {
        const queued = await refresh.mutateAsync([bank, model.id, full]);
        const begun = full ? strings.rebuilding(model.name) : strings.queued(model.name);
        say(queued.ceiling_reached ? strings.beyond(model.name) : begun);
      } catch (refused) {
        const report = toReport(refused);
        if (report.reason === "review_in_progress") setAsked({ model, full });
        else setFault(report);
      }
    },
    busy: refresh.isPending || inReview.isPending,
    fault,
    unavailable: ({ state }) => {
      if (answering === "nothing") return strings.nothingAnswers;
      return state === "refreshing" ? strings.refreshing : undefined;
    },
    question: asked && (
      <DuringReviewQuestion
        name={asked.model.name}
        busy={inReview.isPending}
        report={inReview.error}
        onChoice={(during) => void choose(during)}
        onLeave={() => setAsked(null)}
      />
    ),
  };
}
