import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Button } from "~/components/button";
import { StateMark } from "~/components/state";
import { say } from "~/components/toast";
import type { BankId, ProposalView } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { conflictsOf, decidable, isOpen } from "./op-words";
import { strings } from "./strings";

const words = strings.banners;

/** What has changed around the proposal since it was made, each with its way on. */
export function Banners({ bank, view }: { bank: BankId; view: ProposalView }) {
  const refresh = useWrite("refreshInReview");
  const { row } = view;
  const again = async () => {
    await refresh.mutateAsync([bank, row.model_id, false, "fold"]);
    say(strings.folding);
  };
  const conflicts = conflictsOf(view).length;
  const closed = !isOpen(view);
  return (
    <>
      {row.state === "superseded" && view.superseded_by && (
        <Banner
          action={
            <Button size="small" asChild>
              <Link
                data-plain
                to="/b/$bank/review/{-$proposal}"
                params={{ bank, proposal: view.superseded_by }}
              >
                {words.toNewer}
              </Link>
            </Button>
          }
        >
          {words.superseded}
        </Banner>
      )}
      {closed && row.state !== "superseded" && (
        <Banner
          action={
            view.published_version !== null && (
              <Button size="small" asChild>
                <Link
                  data-plain
                  to="/b/$bank/models/$model/{-$tab}"
                  params={{ bank, model: row.model_id, tab: "history" }}
                >
                  {words.toVersion(view.published_version)}
                </Link>
              </Button>
            )
          }
        >
          {words.closed(strings.state[row.state].toLowerCase())}
          {view.resolution_note && ` “${view.resolution_note}”`}
        </Banner>
      )}
      {conflicts > 0 && (
        <Banner
          action={
            <Button size="small" onClick={again} disabled={refresh.isPending}>
              {strings.conflict.again}
            </Button>
          }
        >
          {strings.conflict.banner(conflicts, decidable(view).length)}
        </Banner>
      )}
      {view.banners.includes("query_changed") && <Banner>{words.query_changed}</Banner>}
      {view.banners.includes("scope_changed") && <Banner>{words.scope_changed}</Banner>}
      {row.newer > 0 && !closed && (
        <Banner
          action={
            <Button size="small" onClick={again} disabled={refresh.isPending}>
              {words.fold}
            </Button>
          }
        >
          {words.newer(row.newer)}
        </Banner>
      )}
    </>
  );
}

function Banner({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <div className="flex shrink-0 items-center gap-2 border-line border-b bg-warn-soft py-2 pr-3 pl-4">
      <StateMark mark="triangle" tone="warn" />
      <p className="min-w-0 flex-1 text-pretty">{children}</p>
      {action}
    </div>
  );
}
