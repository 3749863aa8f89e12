import { say } from "~/components/toast";
import type { BankId, ModelRow, Report } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { strings } from "./model-strings";

export interface Refresh {
  run(model: ModelRow, full: boolean): Promise<void>;
  busy: boolean;
  fault: Report | null;
  /** Why a refresh cannot be asked for now. */
  unavailable(model: ModelRow): string | undefined;
}

export function useRefresh(bank: BankId): Refresh {
  const refresh = useWrite("refreshModel");
  const answering = useRead("appStatus", []).data?.answering.kind;
  return {
    run: async (model, full) => {
      try {
        await refresh.mutateAsync([bank, model.id, full]);
        say(strings.queued(model.name));
      } catch {
        // Kept by the mutation and shown beside the button.
      }
    },
    busy: refresh.isPending,
    fault: refresh.error,
    unavailable: ({ state }) => {
      if (answering === "nothing") return strings.nothingAnswers;
      return state === "refreshing" ? strings.refreshing : undefined;
    },
  };
}
