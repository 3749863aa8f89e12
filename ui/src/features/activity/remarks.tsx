import { Link } from "@tanstack/react-router";
import { Pause, Play } from "lucide-react";
import { Button } from "~/components/button";
import { ReportCard } from "~/components/report";
import { StateMark } from "~/components/state";
import { say } from "~/components/toast";
import type { BankId, Report, SettingValues } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { strings } from "./strings";

export interface Pausing {
  /** Undefined until it is known. */
  paused: boolean | undefined;
  busy: boolean;
  /** Why it could not be paused, or go on. */
  report: Report | null;
  turn: () => void;
}

/** Whether what starts by itself is paused, and the way to change that. */
export function usePausing(): Pausing {
  const program = useRead("programSettings", []).data;
  const set = useWrite("setProgramSettings");
  const paused = program && isPaused(program);
  return {
    paused,
    busy: set.isPending,
    report: set.error,
    turn: () => set.mutate([{ background_paused: !paused }]),
  };
}

const isPaused = ({ effective }: SettingValues): boolean =>
  (effective as { background_paused?: boolean } | null)?.background_paused === true;

export function PauseButton({ pausing: { paused, busy, turn } }: { pausing: Pausing }) {
  if (paused === undefined) return null;
  return (
    <Button size="small" icon={paused ? Play : Pause} disabled={busy} onClick={turn}>
      {paused ? strings.goOn : strings.pause}
    </Button>
  );
}

/** What holds the whole of it back, each with the way on, and what could not be found out about it. */
export function Remarks({ bank, pausing }: { bank: BankId; pausing: Pausing }) {
  const program = useRead("programSettings", []);
  const own = useRead("bankSettings", [bank]);
  const banks = useRead("listBanks", []);
  const again = useWrite("retryFailedConsolidation");
  const failed = banks.data?.find(({ id }) => id === bank)?.failed_consolidation ?? 0;
  const unread = [program, own, banks].find(({ error }) => error !== null);
  const ceiling = own.data?.ceiling_reached === true;
  if (!pausing.paused && !pausing.report && !ceiling && failed === 0 && !unread) return null;
  return (
    <ul className="divide-y divide-line border-line border-b bg-sunken">
      {unread?.error && (
        <li className="px-4 py-2">
          <ReportCard report={unread.error} onRetry={() => void unread.refetch()} />
        </li>
      )}
      {pausing.report && (
        <li className="px-4 py-2">
          <ReportCard report={pausing.report} onRetry={pausing.turn} />
        </li>
      )}
      {pausing.paused && (
        <li className="flex min-h-10 items-center gap-2 px-4 py-1.5">
          <StateMark mark="pause" tone="warn" />
          {strings.paused}
        </li>
      )}
      {ceiling && (
        <li className="flex min-h-10 items-center gap-2 px-4 py-1.5">
          <StateMark mark="pause" tone="warn" />
          <span className="min-w-0 flex-1">{strings.ceiling}</span>
          <Button size="small" asChild>
            <Link to="/b/$bank/settings/{-$page}" params={{ bank, page: "work" }} data-plain>
              {strings.toSettings}
            </Link>
          </Button>
        </li>
      )}
      {failed > 0 && (
        <li className="flex min-h-10 flex-wrap items-center gap-2 px-4 py-1.5">
          <StateMark mark="triangle" tone="warn" />
          <span className="min-w-0 flex-1">{strings.failedFolding(failed)}</span>
          <Button
            size="small"
            disabled={again.isPending}
            onClick={() => again.mutate([bank], { onSuccess: () => say(strings.folding) })}
          >
            {strings.foldAgain}
          </Button>
          {again.error && <ReportCard report={again.error} className="w-full" />}
        </li>
      )}
    </ul>
  );
}
