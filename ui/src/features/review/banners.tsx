import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { Button } from "~/components/button";
import { ReportCard } from "~/components/report";
import { StateMark } from "~/components/state";
import { say } from "~/components/toast";
import { keepEdit } from "~/lib/kept-edit";
import { usePlatform } from "~/platform";
import type { BankId, ProposalView, Report } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { toReport } from "~/platform/errors";
import { conflictsOf, decidable, isOpen } from "./op-words";
import { strings } from "./strings";
import { turnOf } from "./use-review";

const words = strings.banners;

/** What has changed around the proposal since it was made, each with its way on. */
export function Banners({
  bank,
  view,
  onDraft,
}: {
  bank: BankId;
  view: ProposalView;
  onDraft: () => void;
}) {
  const fold = useWrite("refreshInReview");
  const repeat = useWrite("requestAgain");
  const { row } = view;
  const folded = () =>
    fold.mutate([bank, row.model_id, false, "fold"], { onSuccess: () => say(strings.folding) });
  const again = () =>
    repeat.mutate([bank, row.id, {}, turnOf(view)], { onSuccess: () => say(strings.folding) });
  const fault = fold.error ?? repeat.error;
  const conflicts = conflictsOf(view).length;
  const closed = !isOpen(view);
  return (
    <>
      {fault && (
        <div className="border-line border-b p-3">
          <ReportCard report={fault} />
        </div>
      )}
      {view.draft && !closed && (
        <Banner
          action={
            <Button size="small" onClick={onDraft}>
              {strings.draft.show}
            </Button>
          }
        >
          {strings.draft.waiting}
        </Banner>
      )}
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
      {closed && row.state !== "approved" && <CopyAsEdit bank={bank} view={view} />}
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
            <Button size="small" onClick={again} disabled={repeat.isPending}>
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
            <Button size="small" onClick={folded} disabled={fold.isPending}>
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

/** What was not published can still be the beginning of an edit by hand. */
function CopyAsEdit({ bank, view }: { bank: BankId; view: ProposalView }) {
  const { commands } = usePlatform();
  const navigate = useNavigate();
  const [fault, setFault] = useState<Report | null>(null);
  const copy = async () => {
    try {
      const text = await commands.proposalAsEdit(bank, view.row.id);
      keepEdit(text.model_id, text);
      await navigate({
        to: "/b/$bank/models/$model/{-$tab}",
        params: { bank, model: text.model_id, tab: undefined },
        search: { edit: true },
      });
      if (text.left_out > 0) say(words.leftOut(text.left_out));
    } catch (refused) {
      setFault(toReport(refused));
    }
  };
  return (
    <>
      {fault && (
        <div className="border-line border-b p-3">
          <ReportCard report={fault} />
        </div>
      )}
      <Banner
        action={
          <Button size="small" onClick={() => void copy()}>
            {words.copy}
          </Button>
        }
      >
        {words.copyAbout}
      </Banner>
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
