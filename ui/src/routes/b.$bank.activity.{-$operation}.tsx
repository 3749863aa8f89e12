import { createFileRoute } from "@tanstack/react-router";
import {
  type ActivityFilter,
  ActivityScreen,
  activityFilters,
} from "~/features/activity/activity-screen";
import type { ModelId } from "~/platform/bindings";

/** `show`, `kind` and `model` narrow the list. */
interface ActivitySearch {
  show?: ActivityFilter;
  kind?: string;
  model?: ModelId;
}

export const Route = createFileRoute("/b/$bank/activity/{-$operation}")({
  validateSearch: ({ show, kind, model }: Record<string, unknown>): ActivitySearch => {
    const filter = activityFilters.find((each) => each === show);
    return {
      ...(filter && filter !== "all" ? { show: filter } : {}),
      ...(typeof kind === "string" ? { kind } : {}),
      ...(typeof model === "string" ? { model: model as ModelId } : {}),
    };
  },
  component: Activity,
});

function Activity() {
  const { bank, operation } = Route.useParams();
  const { show, kind, model } = Route.useSearch();
  const navigate = Route.useNavigate();
  return (
    <ActivityScreen
      bank={bank}
      operation={operation ?? null}
      view={{ filter: show ?? "all", kind: kind ?? null, model: model ?? null }}
      onOperation={(next) =>
        void navigate({
          params: (before) => ({ ...before, operation: next ?? undefined }),
          search: (before) => before,
        })
      }
      onView={(next) =>
        void navigate({
          replace: true,
          search: {
            ...(next.filter !== "all" ? { show: next.filter } : {}),
            ...(next.kind ? { kind: next.kind } : {}),
            ...(next.model ? { model: next.model } : {}),
          },
        })
      }
    />
  );
}
