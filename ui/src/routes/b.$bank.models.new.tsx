import { createFileRoute } from "@tanstack/react-router";
import { NewModelScreen } from "~/features/models/new-model-screen";

/** `question` and `tags` come from an answer that is to be kept as a model. */
interface NewModelSearch {
  template?: string;
  question?: string;
  tags?: string[];
}

export const Route = createFileRoute("/b/$bank/models/new")({
  validateSearch: ({ template, question, tags }: Record<string, unknown>): NewModelSearch => ({
    ...(typeof template === "string" ? { template } : {}),
    ...(typeof question === "string" ? { question } : {}),
    ...(Array.isArray(tags) ? { tags: tags.map(String) } : {}),
  }),
  component: NewModel,
});

function NewModel() {
  const { bank } = Route.useParams();
  const { template, question, tags } = Route.useSearch();
  return <NewModelScreen bank={bank} template={template} given={{ question, tags }} />;
}
