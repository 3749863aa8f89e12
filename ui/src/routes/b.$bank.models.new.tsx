import { createFileRoute } from "@tanstack/react-router";
import { NewModelScreen } from "~/features/models/new-model-screen";

export const Route = createFileRoute("/b/$bank/models/new")({
  validateSearch: (search: Record<string, unknown>): { template?: string } =>
    typeof search.template === "string" ? { template: search.template } : {},
  component: NewModel,
});

function NewModel() {
  const { bank } = Route.useParams();
  const { template } = Route.useSearch();
  return <NewModelScreen bank={bank} template={template} />;
}
