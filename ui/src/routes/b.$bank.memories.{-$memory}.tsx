import { createFileRoute } from "@tanstack/react-router";
import { MemoriesScreen } from "~/features/memories/memories-screen";
import type { FactType } from "~/platform/bindings";

/** `q` holds words and tokens, `kind` the segment; `add` opens the dialog for a new fact. */
interface MemoriesSearch {
  q?: string;
  kind?: FactType;
  mode?: "meaning" | "recall";
  add?: true;
}

const isKind = (value: unknown): value is FactType =>
  value === "world" || value === "experience" || value === "observation";

export const Route = createFileRoute("/b/$bank/memories/{-$memory}")({
  validateSearch: ({ q, kind, mode, add }: Record<string, unknown>): MemoriesSearch => ({
    ...(typeof q === "string" && q !== "" ? { q } : {}),
    ...(isKind(kind) ? { kind } : {}),
    ...(mode === "meaning" || mode === "recall" ? { mode } : {}),
    ...(add === true ? { add } : {}),
  }),
  component: Memories,
});

function Memories() {
  const { bank, memory } = Route.useParams();
  const { q, kind, mode, add } = Route.useSearch();
  const navigate = Route.useNavigate();
  return (
    <MemoriesScreen
      bank={bank}
      memory={memory ?? null}
      view={{ text: q ?? "", segment: kind ?? null, mode: mode ?? "words", add: add ?? false }}
      onMemory={(next) =>
        void navigate({
          params: (before) => ({ ...before, memory: next ?? undefined }),
          search: ({ add: _, ...before }) => before,
        })
      }
      onView={(next) =>
        void navigate({
          replace: true,
          search: {
            ...(next.text !== "" ? { q: next.text } : {}),
            ...(next.segment ? { kind: next.segment } : {}),
            ...(next.mode === "words" ? {} : { mode: next.mode }),
            ...(next.add ? { add: true } : {}),
          },
        })
      }
    />
  );
}
