import { createFileRoute } from "@tanstack/react-router";
import { type EvidenceKind, isEvidenceKind } from "~/features/reflect/kinds";
import { ReflectScreen } from "~/features/reflect/reflect-screen";

/** `kind` is the tab of the evidence, `source` the memory that is marked there. */
export const Route = createFileRoute("/b/$bank/reflect/{-$run}")({
  validateSearch: ({
    kind,
    source,
  }: Record<string, unknown>): { kind?: EvidenceKind; source?: string } => ({
    ...(isEvidenceKind(kind) ? { kind } : {}),
    ...(typeof source === "string" ? { source } : {}),
  }),
  component: Asked,
});

function Asked() {
  const { bank, run } = Route.useParams();
  const { kind, source } = Route.useSearch();
  const navigate = Route.useNavigate();
  return (
    <ReflectScreen
      bank={bank}
      run={run ?? null}
      kind={kind ?? null}
      source={source ?? null}
      onRun={(next) =>
        void navigate({
          params: (before) => ({ ...before, run: next ?? undefined }),
          search: {},
        })
      }
      onKind={(next) => void navigate({ replace: true, search: { kind: next } })}
      onSource={(next, of) => void navigate({ replace: true, search: { kind: of, source: next } })}
    />
  );
}
