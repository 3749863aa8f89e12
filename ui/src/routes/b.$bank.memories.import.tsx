import { createFileRoute } from "@tanstack/react-router";
import { ImportScreen } from "~/features/memories/import-screen";

/** `operation` is the import that is watched. */
export const Route = createFileRoute("/b/$bank/memories/import")({
  validateSearch: ({ operation }: Record<string, unknown>): { operation?: string } =>
    typeof operation === "string" ? { operation } : {},
  component: Import,
});

function Import() {
  const { bank } = Route.useParams();
  const { operation } = Route.useSearch();
  const navigate = Route.useNavigate();
  return (
    <ImportScreen
      bank={bank}
      operation={operation ?? null}
      onOperation={(next) => void navigate({ search: next ? { operation: next } : {} })}
    />
  );
}
