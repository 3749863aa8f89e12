import { createFileRoute } from "@tanstack/react-router";
import { NewModelScreen } from "~/features/models/new-model-screen";

/** `question`, `tags` and `schema` come from an answer that is to be kept as a model. */
interface NewModelSearch {
  template?: string;
  question?: string;
  tags?: string[];
  schema?: string;
}

export const Route = createFileRoute("/b/$bank/models/new")({
  validateSearch: ({
    template,
    question,
    tags,
    schema,
  }: Record<string, unknown>): NewModelSearch => ({
    ...(typeof template === "string" ? { template } : {}),
    ...(typeof question === "string" ? { question } : {}),
    ...(Array.isArray(tags) ? { tags: tags.map(String) } : {}),
    ...(typeof schema === "string" ? { schema } : {}),
  }),
  component: NewModel,
});

function NewModel() {
  const { bank } = Route.useParams();
  const { template, question, tags, schema } = Route.useSearch();
  return <NewModelScreen bank={bank} template={template} given={{ question, tags, schema }} />;
}
