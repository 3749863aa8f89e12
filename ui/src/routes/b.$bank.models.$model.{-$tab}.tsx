import { createFileRoute } from "@tanstack/react-router";
import { ModelScreen } from "~/features/models/model-screen";
import { isModelTab } from "~/features/models/tabs";
import type { ModelId } from "~/platform/bindings";

/** `a` and `b` are the compared versions of the history; `edit` opens the editor at once. */
export interface ModelSearch {
  a?: number | undefined;
  b?: number | undefined;
  edit?: boolean | undefined;
}

export const Route = createFileRoute("/b/$bank/models/$model/{-$tab}")({
  params: {
    parse: ({ model, tab }) => ({ model: model as ModelId, tab }),
  },
  validateSearch: ({ a, b, edit }: Record<string, unknown>): ModelSearch => ({
    a: typeof a === "number" ? a : undefined,
    b: typeof b === "number" ? b : undefined,
    edit: edit === true ? true : undefined,
  }),
  component: Model,
});

function Model() {
  const { bank, model, tab } = Route.useParams();
  const { a, b, edit } = Route.useSearch();
  const navigate = Route.useNavigate();
  return (
    <ModelScreen
      key={`${bank} ${model}`}
      bank={bank}
      model={model}
      tab={isModelTab(tab) ? tab : "document"}
      compared={{ a, b }}
      editing={edit === true}
      onTab={(next) =>
        void navigate({ params: (before) => ({ ...before, tab: next }), search: {} })
      }
      onCompared={(next) => void navigate({ replace: true, search: next })}
    />
  );
}
