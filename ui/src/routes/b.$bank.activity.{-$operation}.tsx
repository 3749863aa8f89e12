import { createFileRoute } from "@tanstack/react-router";
import {
  type ActivityFilter,
  ActivityScreen,
  activityFilters,
} from "~/features/activity/activity-screen";
import { readDay, type Span, spans, type When } from "~/features/activity/span";
import type { ModelId } from "~/platform/bindings";

/** `show`, `kind`, `model` and the time narrow the list: a span, or days with one end or both. */
interface ActivitySearch {
  show?: ActivityFilter;
  kind?: string;
  model?: ModelId;
  time?: Span | "between";
  from?: string;
  to?: string;
}

export const Route = createFileRoute("/b/$bank/activity/{-$operation}")({
  validateSearch: ({
    show,
    kind,
    model,
    time,
    from,
    to,
  }: Record<string, unknown>): ActivitySearch => {
    const filter = activityFilters.find((each) => each === show);
    const span = [...spans, "between" as const].find((each) => each === time);
    const [first, last] = [readDay(from), readDay(to)];
    return {
      ...(span ? { time: span } : {}),
      ...(span === "between" && first ? { from: first } : {}),
      ...(span === "between" && last ? { to: last } : {}),
      ...(filter && filter !== "all" ? { show: filter } : {}),
      ...(typeof kind === "string" ? { kind } : {}),
      ...(typeof model === "string" ? { model: model as ModelId } : {}),
    };
  },
  component: Activity,
});

function Activity() {
  const { bank, operation } = Route.useParams();
  const { show, kind, model, time, from, to } = Route.useSearch();
  const when = time === "between" ? { from: from ?? null, to: to ?? null } : (time ?? null);
  const navigate = Route.useNavigate();
  return (
    <ActivityScreen
      bank={bank}
      operation={operation ?? null}
      view={{ filter: show ?? "all", kind: kind ?? null, model: model ?? null, when }}
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
            ...searchOf(next.when),
          },
        })
      }
    />
  );
}

/** A time as it stands in the address. */
function searchOf(when: When): Pick<ActivitySearch, "time" | "from" | "to"> {
  if (when === null) return {};
  if (typeof when === "string") return { time: when };
  return {
    time: "between",
    ...(when.from ? { from: when.from } : {}),
    ...(when.to ? { to: when.to } : {}),
  };
}
