import { createFileRoute } from "@tanstack/react-router";
import { type EvidenceKind, isEvidenceKind } from "~/features/reflect/kinds";
import { ReflectScreen } from "~/features/reflect/reflect-screen";

/**
 * `kind` is the tab of the evidence, `source` the memory that is marked there, `beside` another run
 * that is compared with, `fields` whether the builder of fields is open.
 */
interface ReflectSearch {
  kind?: EvidenceKind;
  source?: string;
  beside?: string;
  fields?: true;
}

export const Route = createFileRoute("/b/$bank/reflect/{-$run}")({
  validateSearch: ({ kind, source, beside, fields }: Record<string, unknown>): ReflectSearch => ({
    ...(isEvidenceKind(kind) ? { kind } : {}),
    ...(typeof source === "string" ? { source } : {}),
    ...(typeof beside === "string" ? { beside } : {}),
    ...(fields === true ? { fields } : {}),
  }),
  component: Asked,
});

function Asked() {
  const { bank, run } = Route.useParams();
  const { kind, source, beside, fields } = Route.useSearch();
  const navigate = Route.useNavigate();
  return (
    <ReflectScreen
      bank={bank}
      run={run ?? null}
      kind={kind ?? null}
      source={source ?? null}
      beside={beside ?? null}
      building={fields === true}
      onRun={(next, other) =>
        void navigate({
          params: (before) => ({ ...before, run: next ?? undefined }),
          search: other ? { beside: other } : {},
        })
      }
      onKind={(next) => void navigate({ replace: true, search: { kind: next } })}
      onSource={(next, of) => void navigate({ replace: true, search: { kind: of, source: next } })}
      onBeside={(other) => void navigate({ search: other ? { beside: other } : {} })}
      onBuilding={(on) => void navigate({ search: on ? { fields: true } : {} })}
    />
  );
}
