import { createFileRoute } from "@tanstack/react-router";
import { ModelsScreen } from "~/features/models/models-screen";

export const Route = createFileRoute("/b/$bank/models/")({
  validateSearch: (search: Record<string, unknown>): ModelsSearch => ({
    words: typeof search.words === "string" ? search.words : undefined,
    states: Array.isArray(search.states) ? search.states.map(String) : undefined,
    tags: Array.isArray(search.tags) ? search.tags.map(String) : undefined,
  }),
  component: Models,
});

export interface ModelsSearch {
  words?: string | undefined;
  states?: string[] | undefined;
  tags?: string[] | undefined;
}

function Models() {
  const { bank } = Route.useParams();
  const search = Route.useSearch();
  const navigate = Route.useNavigate();
  return (
    <ModelsScreen
      bank={bank}
      filter={{ words: search.words ?? "", states: search.states ?? [], tags: search.tags ?? [] }}
      onFilter={({ words, states, tags }) =>
        void navigate({
          replace: true,
          search: {
            words: words || undefined,
            states: states.length > 0 ? states : undefined,
            tags: tags.length > 0 ? tags : undefined,
          },
        })
      }
    />
  );
}
