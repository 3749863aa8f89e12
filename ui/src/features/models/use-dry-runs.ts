import { uniqueName } from "~/lib/unique";
import type { BankId, ModelId, ModelRow, Report, RunId } from "~/platform/bindings";
import { useKept, useRead, useWrite } from "~/platform/cache";
import { toReport } from "~/platform/errors";
import { strings as model } from "./model-strings";
import { strings } from "./strings";

/** One of several dry runs, and what came of it. */
export interface Attempt {
  model: ModelId;
  name: string;
  /** The name by which it can be stopped. */
  key: RunId;
  state: keyof typeof strings.dryRuns.states;
  /** What would happen, once it is done. */
  result: { run: RunId; words: string } | null;
  report: Report | null;
}

export interface DryRuns {
  attempts: readonly Attempt[];
  busy: boolean;
  /** Why the one that runs could not be stopped. */
  report: Report | null;
  /** Why none can be asked for now. */
  unavailable: string | undefined;
  run(models: readonly ModelRow[]): void;
  stop(): void;
  close(): void;
}

const isOpen = ({ state }: Attempt): boolean => state === "waiting" || state === "running";

/**
 * Dry runs of several models, one after the other: each is as dear as a refresh. They go on while
 * other screens are looked at, and are there again when the list is.
 */
export function useDryRuns(bank: BankId): DryRuns {
  const cancel = useWrite("cancelDryRun");
  const attempt = useWrite("dryRunModel");
  const answering = useRead("appStatus", []).data?.answering.kind;
  const [attempts, change] = useKept<readonly Attempt[]>(`dry runs ${bank}`, []);
  const busy = attempts.some(isOpen);

  const set = (key: RunId, part: Partial<Attempt>) =>
    change((before) => before.map((each) => (each.key === key ? { ...each, ...part } : each)));
  /** Begins the next one that still waits; tells whether there was one. */
  const next = (): Attempt | undefined => {
    let begun: Attempt | undefined;
    change((before) => {
      begun = before.find(({ state }) => state === "waiting");
      return before.map((each) => (each === begun ? { ...each, state: "running" } : each));
    });
    return begun;
  };
  const runAll = async () => {
    for (let at = next(); at; at = next()) {
      const { key, model: id } = at;
      try {
        const view = await attempt.mutateAsync([bank, id, key]);
        const words = view.would_propose
          ? strings.dryRuns.propose(view.review?.row.operations ?? 0)
          : view.would_persist
            ? strings.dryRuns.publish
            : strings.dryRuns.nothing;
        set(key, {
          state: view.report ? "failed" : "done",
          report: view.report,
          result: { run: view.dry_run_id, words },
        });
      } catch (refused) {
        const report = toReport(refused);
        const stopped = report.code === "cancelled";
        set(key, { state: stopped ? "stopped" : "failed", report: stopped ? null : report });
      }
    }
  };

  return {
    attempts,
    busy,
    report: busy ? cancel.error : null,
    unavailable:
      answering === "nothing" ? model.nothingAnswers : busy ? strings.dryRuns.busy : undefined,
    run: (models) => {
      change(() =>
        models.map(({ id, name }) => ({
          model: id,
          name,
          key: uniqueName() as RunId,
          state: "waiting",
          result: null,
          report: null,
        })),
      );
      void runAll();
    },
    stop: () => {
      const running = attempts.find(({ state }) => state === "running");
      change((before) =>
        before.map((each) => (each.state === "waiting" ? { ...each, state: "stopped" } : each)),
      );
      if (running) cancel.mutate([running.key]);
    },
    close: () => change(() => []),
  };
}
