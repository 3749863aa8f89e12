import { createFileRoute } from "@tanstack/react-router";
import { ReviewScreen } from "~/features/review/review-screen";
import { isReviewView, type ReviewView } from "~/features/review/views";
import type { ProposalId } from "~/platform/bindings";

export const Route = createFileRoute("/b/$bank/review/{-$proposal}")({
  params: {
    parse: ({ proposal }) => ({ proposal: proposal as ProposalId | undefined }),
  },
  validateSearch: ({ view, op }: Record<string, unknown>): { view?: ReviewView; op?: string } => ({
    ...(isReviewView(view) ? { view } : {}),
    ...(typeof op === "string" ? { op } : {}),
  }),
  component: Review,
});

function Review() {
  const { bank, proposal } = Route.useParams();
  const { view, op } = Route.useSearch();
  const navigate = Route.useNavigate();
  return (
    <ReviewScreen
      bank={bank}
      proposal={proposal ?? null}
      view={view ?? null}
      op={op ?? null}
      onProposal={(next) =>
        void navigate({ params: (before) => ({ ...before, proposal: next }), search: {} })
      }
      onView={(next) =>
        void navigate({ replace: true, search: (before) => ({ ...before, view: next }) })
      }
      onOp={(next) =>
        void navigate({ replace: true, search: (before) => ({ ...before, op: next }) })
      }
    />
  );
}
