import { createFileRoute } from "@tanstack/react-router";
import { TwoMinds } from "~/features/reflect/two-minds";
import type { RunId } from "~/platform/bindings";

/** `left` and `right` are the two questions whose answers are on show. */
export const Route = createFileRoute("/b/$bank/directives/compare")({
  validateSearch: ({ left, right }: Record<string, unknown>): { left?: RunId; right?: RunId } => ({
    ...(typeof left === "string" ? { left: left as RunId } : {}),
    ...(typeof right === "string" ? { right: right as RunId } : {}),
  }),
  component: Compared,
});

function Compared() {
  const { bank } = Route.useParams();
  const { left, right } = Route.useSearch();
  const navigate = Route.useNavigate();
  return (
    <TwoMinds
      bank={bank}
      left={left ?? null}
      right={right ?? null}
      onRun={(side, run) =>
        void navigate({
          replace: true,
          search: ({ [side]: _, ...before }) => ({ ...before, ...(run ? { [side]: run } : {}) }),
        })
      }
    />
  );
}
