import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import { Button, IconButton } from "~/components/button";
import { ReportCard } from "~/components/report";
import { Stack } from "~/components/stack";
import { type Mark, StateWord, type Tone } from "~/components/state";
import type { BankId } from "~/platform/bindings";
import { strings } from "./strings";
import type { Attempt, DryRuns as Runs } from "./use-dry-runs";

const words = strings.dryRuns;

const looks: Record<Attempt["state"], { mark: Mark; tone: Tone }> = {
  waiting: { mark: "dashed", tone: "muted" },
  running: { mark: "turning", tone: "accent" },
  done: { mark: "tick", tone: "ok" },
  failed: { mark: "octagon", tone: "bad" },
  stopped: { mark: "ring", tone: "muted" },
};

/** What several dry runs say, each with the way to look at it. Nothing while there are none. */
export function DryRuns({ bank, runs }: { bank: BankId; runs: Runs }) {
  const { attempts, busy, report, stop, close } = runs;
  if (attempts.length === 0) return null;
  const done = attempts.filter(({ state }) => state !== "waiting" && state !== "running").length;
  return (
    <section aria-label={words.title} className="shrink-0 border-line border-b bg-sunken">
      <div className="flex min-h-9 items-center gap-3 px-4">
        <h2 className="type-strong">{words.title}</h2>
        <span role="status" className="type-small text-muted">
          {words.done(done, attempts.length)}
        </span>
        <span className="ml-auto">
          {busy ? (
            <Button size="small" onClick={stop}>
              {words.stop}
            </Button>
          ) : (
            <IconButton icon={X} small name={words.close} onClick={close} />
          )}
        </span>
      </div>
      {report && <ReportCard className="mx-4 mb-2" report={report} />}
      <div className="flex max-h-48">
        <Stack
          label={words.list}
          items={attempts}
          keyOf={({ key }) => key}
          current={-1}
          moved={0}
          height={2}
        >
          {(attempt) => <Line bank={bank} attempt={attempt} />}
        </Stack>
      </div>
    </section>
  );
}

function Line({
  bank,
  attempt: { model, name, state, result, report },
}: {
  bank: BankId;
  attempt: Attempt;
}) {
  const { mark, tone } = looks[state];
  return (
    <div className="grid min-h-8 grid-cols-[6.5rem_minmax(0,1fr)_minmax(0,1.4fr)_minmax(0,1fr)] items-center gap-x-3 border-line border-t px-4">
      <StateWord mark={mark} tone={tone}>
        {words.states[state]}
      </StateWord>
      <span className="truncate">{name}</span>
      <span className="truncate text-muted" title={report?.message}>
        {report ? report.message : result?.words}
      </span>
      {result ? (
        <Link
          to="/b/$bank/models/$model/dry-run/$run"
          params={{ bank, model, run: result.run }}
          className="min-h-6 truncate text-right leading-6"
        >
          {words.look(name)}
        </Link>
      ) : (
        <span />
      )}
    </div>
  );
}
