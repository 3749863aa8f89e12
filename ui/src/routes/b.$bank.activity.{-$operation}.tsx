import { createFileRoute } from "@tanstack/react-router";
import {
  type ActivityFilter,
  ActivityScreen,
  activityFilters,
} from "~/features/activity/activity-screen";

/** `show` and `kind` narrow the list. */
interface ActivitySearch {
  show?: ActivityFilter;
  kind?: string;
}

export const Route = createFileRoute("/b/$bank/activity/{-$operation}")({
  validateSearch: ({ show, kind }: Record<string, unknown>): ActivitySearch => {
    const filter = activityFilters.find((each) => each === show);
    return {
      ...(filter && filter !== "all" ? { show: filter } : {}),
      ...(typeof kind === "string" ? { kind } : {}),
    };
  },
  component: Activity,
});

function Activity() {
  const { bank, operation } = Route.useParams();
  const { show, kind } = Route.useSearch();
  const navigate = Route.useNavigate();
  return (
    <ActivityScreen
      bank={bank}
      operation={operation ?? null}
      view={{ filter: show ?? "all", kind: kind ?? null }}
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
          },
        })
      }
    />
  );
}
