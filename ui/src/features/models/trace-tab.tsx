import { Link } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState } from "react";
import { Badge } from "~/components/badge";
import { Button } from "~/components/button";
import { List } from "~/components/list";
import { Pane, PaneEdge, PaneHead, Panes } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { SkeletonRows } from "~/components/skeleton";
import { type Mark, StateMark, type Tone } from "~/components/state";
import { Terms } from "~/components/terms";
import type { TraceOf } from "~/components/trace/span-detail";
import { type Span, spansOf } from "~/components/trace/spans";
import { Waterfall } from "~/components/trace/waterfall";
import { words as steps } from "~/components/trace/words";
import { asTrace } from "~/components/trace-steps";
import { day, dayTime, duration } from "~/lib/format";
import { useFolded } from "~/lib/use-narrow";
import type { BankId, JsonValue, ModelDetail, RefreshRunView } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { strings } from "./model-strings";

const words = strings.trace;

/** Every run of the model, whatever its end: what set it going, what it read, what came of it. */
export function TraceTab({ bank, detail }: { bank: BankId; detail: ModelDetail }) {
  const runs = useRead("listRefreshRuns", [bank, detail.model.id]);
  const folded = useFolded();
  const [chosen, setChosen] = useState<string | null>(null);
  if (runs.error) {
    return (
      <div className="p-4">
        <ReportCard report={runs.error} onRetry={() => void runs.refetch()} />
      </div>
    );
  }
  if (!runs.data) return <SkeletonRows />;
  if (runs.data.length === 0) return <p className="p-4 text-muted">{words.none}</p>;
  const [newest] = runs.data;
  const run = runs.data.find(({ id }) => id === chosen) ?? newest;
  return (
    <Panes id="model-runs">
      <Pane id="runs" label={words.list} width={folded ? "200px" : "280px"} min="160px" max="400px">
        <PaneHead title={words.list} about={runs.data.length} className="px-3" />
        <List
          label={words.list}
          items={runs.data}
          idOf={({ id }) => id}
          active={run?.id ?? null}
          onActive={({ id }) => setChosen(id)}
          rowHeight={3.5}
        >
          {(row) => <RunRow run={row} />}
        </List>
      </Pane>
      <PaneEdge label={words.list} />
      <Pane id="run" label={words.chosen}>
        {run && <Run bank={bank} detail={detail} run={run} />}
      </Pane>
    </Panes>
  );
}

function lookOf(run: RefreshRunView): { mark: Mark; tone: Tone } {
  if (run.outcome.startsWith("refresh_failed")) return { mark: "octagon", tone: "bad" };
  if (run.outcome === "skipped" || run.outcome === "cancelled") {
    return { mark: "dashed", tone: "muted" };
  }
  if (run.outcome === "proposal_created") return { mark: "diamond", tone: "accent" };
  return { mark: "tick", tone: "ok" };
}

const said = (outcome: string) => words.outcomes[outcome] ?? outcome.replaceAll("_", " ");

function causeOf({ triggered_by: [first = ""] }: RefreshRunView): string {
  return words.causes[first] ?? first.replaceAll("_", " ");
}

function RunRow({ run }: { run: RefreshRunView }) {
  const { mark, tone } = lookOf(run);
  return (
    <div className="px-3 py-2">
      <p className="flex items-center gap-1.5">
        <StateMark mark={mark} tone={tone} className="size-3" />
        <span className="min-w-0 flex-1 truncate">{said(run.outcome)}</span>
        {run.dry_run && <Badge>{words.dryRun}</Badge>}
        <time dateTime={run.started_at} className="type-small shrink-0 text-faint">
          {day(run.started_at)}
        </time>
      </p>
      <p className="type-small truncate pl-[1.125rem] text-muted">
        {[
          causeOf(run),
          run.skip_count !== null && run.skip_count > 1 && words.times(run.skip_count),
        ]
          .filter(Boolean)
          .join(", ")}
      </p>
    </div>
  );
}

/** What one run did. */
function Run({ bank, detail, run }: { bank: BankId; detail: ModelDetail; run: RefreshRunView }) {
  const model = detail.model.id;
  const sum = (counts: { [key in string]: number }) =>
    Object.values(counts).reduce((all, one) => all + one, 0);
  const at = (moment: string | null | undefined) => (moment ? dayTime(moment) : null);
  const ran = run.outcome !== "skipped";
  const rows: [string, ReactNode][] = [
    [words.outcome, said(run.outcome)],
    [words.because, run.report === null ? reasonOf(run) : null],
    [words.started, `${dayTime(run.started_at)}, ${causeOf(run)}`],
    [words.took, ran ? duration(Date.parse(run.finished_at) - Date.parse(run.started_at)) : null],
    [words.mode, run.effective_mode ? words.modeOf(run.effective_mode, run.requested_mode) : null],
    [words.fallback, fallbackWords(run.mode_fallback_reason)],
    [
      words.window,
      ran
        ? words.windowOf(
            run.window.memories ?? 0,
            at(run.window.created_after),
            at(run.window.created_before),
          )
        : null,
    ],
    [words.facts, ran ? words.factsOf(sum(run.facts.retrieved), sum(run.facts.used)) : null],
    [words.edits, ran ? words.editsOf(run.ops_applied, run.ops_noop, run.ops_skipped) : null],
    [
      words.usage,
      run.usage.total_tokens > 0
        ? words.usageOf(run.usage.total_tokens, run.usage.cached_tokens)
        : null,
    ],
    [
      words.led,
      run.version !== null ? (
        <Link
          key="version"
          to="/b/$bank/models/$model/{-$tab}"
          params={{ bank, model, tab: "history" }}
          search={{ b: run.version }}
        >
          {words.toVersion(run.version)}
        </Link>
      ) : run.proposal !== null ? (
        <Link
          key="proposal"
          to="/b/$bank/review/{-$proposal}"
          params={{ bank, proposal: run.proposal }}
          search={{}}
        >
          {words.toProposal}
        </Link>
      ) : null,
    ],
  ];
  return (
    <ScrollText label={words.did}>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4 p-4">
        <section aria-label={said(run.outcome)}>
          <Terms rows={rows} className="grid-cols-[6rem_minmax(0,1fr)]" />
        </section>
        {run.can_be_kept && (
          <Button asChild className="justify-self-start">
            <Link
              data-plain
              to="/b/$bank/models/$model/dry-run/$run"
              params={{ bank, model, run: run.id }}
            >
              {words.keepable}
            </Link>
          </Button>
        )}
        {run.report && <ReportCard report={run.report} />}
        {run.warnings.length > 0 && (
          <section aria-label={words.warnings}>
            <h2 className="type-label pb-1 text-faint">{words.warnings}</h2>
            <ul className="grid gap-1">
              {run.warnings.map(({ code, message }) => (
                <li key={`${code} ${message}`} className="flex gap-2">
                  <StateMark mark="triangle" tone="warn" className="mt-0.5" />
                  {message}
                </li>
              ))}
            </ul>
          </section>
        )}
        {run.trace !== null ? (
          <Steps key={run.id} trace={run.trace} of={{ bank, run: run.id }} />
        ) : (
          ran && <p className="text-pretty text-muted">{words.notKept}</p>
        )}
      </div>
    </ScrollText>
  );
}

/** What was called, when and for how long, as bars over time. */
function Steps({ trace, of }: { trace: JsonValue; of: TraceOf }) {
  const spans = useMemo(() => spansOf(asTrace(trace)), [trace]);
  const count = (kind: Span["kind"]) => spans.filter((span) => span.kind === kind).length;
  // As high as its steps, with room for the details of one.
  const height = `clamp(14rem, ${spans.length * 1.5 + 5}rem, 26rem)`;
  return (
    <section aria-label={steps.title}>
      <h2 className="type-label flex flex-wrap gap-x-3 pb-1 text-faint">
        {steps.title}
        <span>{steps.summary(count("model"), count("tool"))}</span>
        {count("model") > 0 && <span className="ml-auto">{steps.placed}</span>}
      </h2>
      <div className="flex flex-col rounded-md border border-line" style={{ height }}>
        <Waterfall spans={spans} elapsed={null} of={of} />
      </div>
    </section>
  );
}

function reasonOf({ failure_reason: reason }: RefreshRunView): string | null {
  if (reason === null) return null;
  return words.skips[reason] ?? reason.replaceAll("_", " ");
}

function fallbackWords(reason: string | null): string | null {
  if (reason === null) return null;
  return words.fallbacks[reason] ?? reason.replaceAll("_", " ");
}
