import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { StateMark } from "~/components/state";
import { dayTime, duration } from "~/lib/format";
import type { LastRun } from "~/platform/bindings";
import { strings } from "./model-strings";
import { TraceSteps } from "./trace-steps";

const words = strings.trace;

function fallbackWords(reason: string | null): string | null {
  if (reason === null) return null;
  return words.fallbacks[reason] ?? reason.replaceAll("_", " ");
}

/** What the last run did, whatever its end. */
export function TraceTab({ run }: { run: LastRun | null }) {
  if (!run) return <p className="p-4 text-muted">{words.none}</p>;
  const rows: [string, string | null][] = [
    [words.outcome, words.outcomes[run.outcome] ?? run.outcome.replaceAll("_", " ")],
    [words.started, dayTime(run.started_at)],
    [words.took, duration(Date.parse(run.finished_at) - Date.parse(run.started_at))],
    [words.mode, words.modeOf(run.effective_mode, run.requested_mode)],
    [words.fallback, fallbackWords(run.mode_fallback_reason)],
  ];
  return (
    <ScrollText label={strings.tabs.trace}>
      <div className="grid max-w-[47.5rem] gap-4 p-4">
        <section aria-label={words.run}>
          <h2 className="type-label pb-2 text-faint">{words.run}</h2>
          <dl className="grid grid-cols-[6rem_minmax(0,1fr)] gap-x-2 gap-y-1">
            {rows.map(([name, value]) =>
              value === null ? null : (
                <div key={name} className="contents">
                  <dt className="text-faint">{name}</dt>
                  <dd>{value}</dd>
                </div>
              ),
            )}
          </dl>
        </section>
        {run.report && <ReportCard report={run.report} />}
        {run.warnings.length > 0 && (
          <section aria-label={words.warnings}>
            <h2 className="type-label pb-1 text-faint">{words.warnings}</h2>
            <ul className="grid gap-1">
              {run.warnings.map(({ code, message }) => (
                <li key={code} className="flex gap-2">
                  <StateMark mark="triangle" tone="warn" className="mt-0.5" />
                  {message}
                </li>
              ))}
            </ul>
          </section>
        )}
        {run.trace === null ? (
          <p className="text-pretty text-muted">{words.notKept}</p>
        ) : (
          <TraceSteps trace={run.trace} />
        )}
      </div>
    </ScrollText>
  );
}
