import { createFileRoute } from "@tanstack/react-router";
import { useState } from "react";
import { isSchedule, type Schedule } from "~/features/models/filter";
import { ModelsScreen } from "~/features/models/models-screen";
import { type Layout, LayoutSwitch } from "~/features/pages/layout-switch";
import { PagesScreen } from "~/features/pages/pages-screen";
import type { NodeId } from "~/platform/bindings";

export const Route = createFileRoute("/b/$bank/models/")({
  validateSearch: (search: Record<string, unknown>): ModelsSearch => ({
    words: typeof search.words === "string" ? search.words : undefined,
    states: Array.isArray(search.states) ? search.states.map(String) : undefined,
    tags: Array.isArray(search.tags) ? search.tags.map(String) : undefined,
    all: search.all === true ? true : undefined,
    when: Array.isArray(search.when) ? search.when.filter(isSchedule) : undefined,
    layout: search.layout === "folders" ? "folders" : undefined,
    node: typeof search.node === "string" ? search.node : undefined,
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
  /** As folders and pages instead of a list. */
  layout?: "folders" | undefined;
  /** The folder or page that is shown. */
  node?: NodeId | undefined;
}

function Models() {
  const { bank } = Route.useParams();
  const search = Route.useSearch();
  const navigate = Route.useNavigate();
  const [switched, setSwitched] = useState(false);
  const shown: Layout = search.layout ?? "list";
  const layout = (
    <LayoutSwitch
      key={shown}
      value={shown}
      takesFocus={switched}
      onLayout={(next) => {
        setSwitched(true);
        void navigate({ search: next === "folders" ? { layout: next } : {} });
      }}
    />
  );
  if (shown === "folders")
    return (
      <PagesScreen
        bank={bank}
        node={search.node ?? null}
        words={search.words ?? ""}
        layout={layout}
        onNode={(node) =>
          void navigate({
            // Going back leads out of the tree, not through all that was looked at in it.
            replace: search.node !== undefined && node !== null,
            search: (before) => ({ ...before, node: node ?? undefined }),
          })
        }
        onWords={(words) =>
          void navigate({
            replace: true,
            search: (before) => ({ ...before, words: words || undefined }),
          })
        }
      />
    );
  return (
    <ModelsScreen
      bank={bank}
      layout={layout}
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
