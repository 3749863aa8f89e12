import { ReportCard } from "~/components/report";
import type { BankId } from "~/platform/bindings";
import { useRefusal, useWrite } from "~/platform/cache";
import { strings } from "./strings";

const words = strings.unattended;

/**
 * What could not be kept although its screen is gone by now: that the first page was left, and
 * which bank is open. Stands above the screen until it has worked.
 */
export function Unattended({ bank }: { bank: BankId }) {
  const finish = useWrite("finishFirstRun");
  const open = useWrite("openBank");
  const left = useRefusal("finishFirstRun");
  const opened = useRefusal("openBank");
  if (!left && !opened) return null;
  return (
    <div className="grid gap-2 border-line border-b p-3">
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
