import { Button } from "~/components/button";
import { ReportCard } from "~/components/report";
import type { BankId } from "~/platform/bindings";
import { useRefusal, useUndoRefusal, useWrite } from "~/platform/cache";
import { strings } from "./strings";

const words = strings.unattended;

/**
 * What could not be done although its screen may be gone by now: that the first page was left, which
 * bank is open, and an act that was to be taken back. Stands above the screen until it has worked.
 */
export function Unattended({ bank }: { bank: BankId }) {
  const finish = useWrite("finishFirstRun");
  const open = useWrite("openBank");
  const left = useRefusal("finishFirstRun");
  const opened = useRefusal("openBank");
  const undo = useUndoRefusal();
  if (!left && !opened && !undo) return null;
  return (
    <div className="grid gap-2 border-line border-b p-3">
      {undo && (
        <ReportCard
          report={undo.report}
          actions={<Button onClick={undo.dismiss}>{words.dismiss}</Button>}
        >
          <p>{words.undo}</p>
        </ReportCard>
      )}
      {left && (
        <ReportCard report={{ ...left, retryable: true }} onRetry={() => finish.mutate([])}>
          <p>{words.firstRun}</p>
        </ReportCard>
      )}
      {opened && (
        <ReportCard report={{ ...opened, retryable: true }} onRetry={() => open.mutate([bank])}>
          <p>{words.bank}</p>
        </ReportCard>
      )}
    </div>
  );
}
