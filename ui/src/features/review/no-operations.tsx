import { Link } from "@tanstack/react-router";
import { Button } from "~/components/button";
import { Empty } from "~/components/empty";
import { ModelStateWord } from "~/components/model-state";
import { ReportCard } from "~/components/report";
import { say } from "~/components/toast";
import { dayTime } from "~/lib/format";
import type { BankId, ProposalView } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { Skipped } from "./skipped";
import { strings } from "./strings";

/** The inbox is empty: which models are behind, and where to go. */
export function NothingWaits({ bank }: { bank: BankId }) {
  const words = strings.empty;
  const models = useRead("listModels", [bank]).data ?? [];
  const behind = models.filter(({ state }) => state === "behind" || state === "never_refreshed");
  const due = models
    .filter((model) => model.next_run !== null && !behind.includes(model))
    .toSorted((a, b) => ((a.next_run ?? "") < (b.next_run ?? "") ? -1 : 1))
    .slice(0, 3);
  return (
    <section className="min-w-0 flex-1" aria-label={strings.title} data-pane tabIndex={-1}>
      <h1 className="sr-only">{strings.title}</h1>
      <Empty
        title={words.title}
        actions={
          <Button kind="primary" asChild>
            <Link data-plain to="/b/$bank/models" params={{ bank }}>
              {words.models}
            </Link>
          </Button>
        }
      >
        <p>{words.about}</p>
        {behind.length === 0 ? (
          models.length > 0 && <p>{words.none}</p>
        ) : (
          <>
            <p>{words.behind(behind.length)}</p>
            <ul className="grid gap-1">
              {behind.slice(0, 5).map((model) => (
                <li key={model.id} className="flex items-center gap-2">
                  <Link
                    to="/b/$bank/models/$model/{-$tab}"
                    params={{ bank, model: model.id, tab: undefined }}
                    className="truncate"
                  >
                    {model.name}
                  </Link>
                  <ModelStateWord model={model} className="type-small ml-auto" />
                </li>
              ))}
            </ul>
          </>
        )}
        {due.length > 0 && (
          <>
            <p>{words.due}</p>
            <ul className="grid gap-1">
              {due.map((model) => (
                <li key={model.id} className="flex gap-2">
                  <Link
                    to="/b/$bank/models/$model/{-$tab}"
                    params={{ bank, model: model.id, tab: undefined }}
                    className="truncate"
                  >
                    {model.name}
                  </Link>
                  {model.next_run && (
                    <time dateTime={model.next_run} className="type-small ml-auto text-muted">
                      {dayTime(model.next_run)}
                    </time>
                  )}
                </li>
              ))}
            </ul>
          </>
        )}
      </Empty>
    </section>
  );
}

/** Every operation was skipped: why, and the offer of a full refresh. */
export function AllSkipped({ bank, view }: { bank: BankId; view: ProposalView }) {
  const words = strings.allSkipped;
  const refresh = useWrite("refreshModel");
  return (
    <Empty
      title={words.title}
      actions={
        <Button
          kind="primary"
          disabled={refresh.isPending}
          onClick={() =>
            refresh.mutate([bank, view.row.model_id, true], {
              onSuccess: () => say(strings.folding),
            })
          }
        >
          {words.full}
        </Button>
      }
    >
      <p>{words.about}</p>
      {refresh.error && <ReportCard report={refresh.error} />}
      <Skipped view={view} />
    </Empty>
  );
}
