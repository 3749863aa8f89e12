import { createFileRoute } from "@tanstack/react-router";
import { DirectivesScreen, type Part } from "~/features/directives/directives-screen";
import type { Scope } from "~/features/directives/scope-check";
import type { TagsMatch } from "~/platform/bindings";

/** `tags`, `match` and `all` are the question that is thought of; `part` counts in a narrow window. */
interface DirectivesSearch {
  tags?: string[];
  match?: TagsMatch;
  all?: true;
  part?: "stance";
}

const matches: readonly TagsMatch[] = ["any", "all", "any_strict", "all_strict", "exact"];

export const Route = createFileRoute("/b/$bank/directives/{-$directive}")({
  validateSearch: ({ tags, match, all, part }: Record<string, unknown>): DirectivesSearch => {
    const words = Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string") : [];
    const known = matches.find((each) => each === match);
    return {
      ...(words.length > 0 ? { tags: words } : {}),
      ...(known && known !== "any" ? { match: known } : {}),
      ...(all === true ? { all } : {}),
      ...(part === "stance" ? { part } : {}),
    };
  },
  component: Directives,
});

function Directives() {
  const { bank, directive } = Route.useParams();
  const { tags, match, all, part } = Route.useSearch();
  const navigate = Route.useNavigate();
  return (
    <DirectivesScreen
      bank={bank}
      directive={directive ?? null}
      scope={{ tags: tags ?? [], match: match ?? "any", all: all === true }}
      part={part ?? "directives"}
      onDirective={(next) =>
        void navigate({
          params: (before) => ({ ...before, directive: next ?? undefined }),
          search: ({ part: _, ...before }) => before,
        })
      }
      onScope={(next: Scope) =>
        void navigate({
          replace: true,
          search: ({ part: kept }) => ({
            ...(kept ? { part: kept } : {}),
            ...(next.tags.length > 0 ? { tags: next.tags } : {}),
            ...(next.match !== "any" ? { match: next.match } : {}),
            ...(next.all ? { all: true } : {}),
          }),
        })
      }
      onPart={(next: Part) =>
        void navigate({
          replace: true,
          search: ({ part: _, ...before }) => ({
            ...before,
            ...(next === "stance" ? { part: next } : {}),
          }),
        })
      }
      onCompare={() => void navigate({ to: "/b/$bank/directives/compare", params: { bank } })}
    />
  );
}
