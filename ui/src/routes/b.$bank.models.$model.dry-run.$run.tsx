import { createFileRoute } from "@tanstack/react-router";
import { DryRunScreen } from "~/features/review/dry-run-screen";
import type { ModelId, RunId } from "~/platform/bindings";

export const Route = createFileRoute("/b/$bank/models/$model/dry-run/$run")({
  params: {
    parse: ({ model, run }) => ({ model: model as ModelId, run: run as RunId }),
  },
  component: DryRun,
});

function DryRun() {
  const { bank, model, run } = Route.useParams();
  return <DryRunScreen key={run} bank={bank} model={model} run={run} />;
}
