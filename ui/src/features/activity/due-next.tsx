import { Link } from "@tanstack/react-router";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { dayTime } from "~/lib/format";
import { scheduleWords } from "~/lib/schedule";
import type { BankId } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { strings } from "./strings";

const words = strings.due;

/** What starts by itself next, while nothing is chosen. */
export function DueNext({ bank }: { bank: BankId }) {
  const models = useRead("listModels", [bank]);
  const due = (models.data ?? [])
    .flatMap((model) => (model.next_run ? [{ model, at: model.next_run }] : []))
    .sort((a, b) => a.at.localeCompare(b.at))
    .slice(0, 12);
  return (
    <ScrollText label={words.title} className="px-4 py-4">
      <h2 className="type-strong">{words.title}</h2>
      <p className="mt-1 text-pretty text-muted">{words.about}</p>
      {models.error && (
        <ReportCard className="mt-3" report={models.error} onRetry={() => void models.refetch()} />
      )}
      {models.data && due.length === 0 && <p className="mt-3 text-faint">{words.none}</p>}
      <ul className="mt-3 divide-y divide-line">
        {due.map(({ model, at }) => (
          <li key={model.id} className="flex items-baseline gap-3 py-2">
            <div className="min-w-0 flex-1">
              <Link
                to="/b/$bank/models/$model/{-$tab}"
                params={{ bank, model: model.id, tab: undefined }}
                className="block truncate"
              >
                {model.name}
              </Link>
              {model.refresh_cron && (
                <p className="type-small text-muted">{scheduleWords(model.refresh_cron)}</p>
              )}
            </div>
            <time dateTime={at} className="type-small shrink-0 text-muted">
              {dayTime(at)}
            </time>
          </li>
        ))}
      </ul>
    </ScrollText>
  );
}
