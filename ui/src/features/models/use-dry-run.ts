import { useNavigate } from "@tanstack/react-router";
import { useRef } from "react";
import { uniqueName } from "~/lib/unique";
import type { BankId, ModelRow, Report, RunId } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { strings } from "./model-strings";

export interface DryRun {
  run(): void;
  stop(): void;
  running: boolean;
  fault: Report | null;
  unavailable: string | undefined;
}

/** Tries a refresh without writing anything and opens what would come of it. */
export function useDryRun(bank: BankId, model: ModelRow | undefined): DryRun {
  const attempt = useWrite("dryRunModel");
  const cancel = useWrite("cancelDryRun");
  const navigate = useNavigate();
  const answering = useRead("appStatus", []).data?.answering.kind;
  const current = useRef<RunId>("");
  const unavailable =
    answering === "nothing"
      ? strings.nothingAnswers
      : model === undefined
        ? strings.dry.noneChosen
        : undefined;
  return {
    run: () => {
      if (unavailable || attempt.isPending || !model) return;
      current.current = uniqueName();
      attempt.mutate([bank, model.id, current.current], {
        onSuccess: ({ dry_run_id }) =>
          void navigate({
            to: "/b/$bank/models/$model/dry-run/$run",
            params: { bank, model: model.id, run: dry_run_id },
          }),
      });
    },
    stop: () => cancel.mutate([current.current]),
    running: attempt.isPending,
    fault: attempt.error?.code === "cancelled" ? null : attempt.error,
    unavailable,
  };
}
