import { createFileRoute } from "@tanstack/react-router";
import { isSchedule, type Schedule } from "~/features/models/filter";
import { ModelsScreen } from "~/features/models/models-screen";

export const Route = createFileRoute("/b/$bank/models/")({
  validateSearch: (search: Record<string, unknown>): ModelsSearch => ({
    words: typeof search.words === "string" ? search.words : undefined,
    states: Array.isArray(search.states) ? search.states.map(String) : undefined,
    tags: Array.isArray(search.tags) ? search.tags.map(String) : undefined,
    all: search.all === true ? true : undefined,
    when: Array.isArray(search.when) ? search.when.filter(isSchedule) : undefined,
  }),
  component: Models,
});

export interface ModelsSearch {
  words?: string | undefined;
  states?: string[] | undefined;
  tags?: string[] | undefined;
  /** All of the tags. */
  all?: boolean | undefined;
  when?: Schedule[] | undefined;
}

function Models() {
  const { bank } = Route.useParams();
  const search = Route.useSearch();
  const navigate = Route.useNavigate();
  return (
    <ModelsScreen
      bank={bank}
      filter={{
        words: search.words ?? "",
        states: search.states ?? [],
        tags: search.tags ?? [],
        allTags: search.all ?? false,
        schedules: search.when ?? [],
      }}
      onFilter={({ words, states, tags, allTags, schedules }) =>
        void navigate({
          replace: true,
          search: {
            words: words || undefined,
            states: states.length > 0 ? states : undefined,
            tags: tags.length > 0 ? tags : undefined,
            all: allTags || undefined,
            when: schedules.length > 0 ? schedules : undefined,
          },
        })
      }
    />
  );
}
