import { useEffect, useSyncExternalStore } from "react";
import type { Report } from "~/platform/bindings";
import { toReport } from "~/platform/errors";
import { Button } from "./button";
import { ReportCard } from "./report";

interface Left {
  /** What did not happen, in a sentence. */
  about: string;
  report: Report;
  again: () => Promise<unknown>;
}

let lefts: readonly Left[] = [];
const hearers = new Set<() => void>();

function change(next: readonly Left[]): void {
  lefts = next;
  for (const hear of hearers) hear();
}

/**
 * Does something whose screen may be gone when it ends: an act from a notice, or one that leads away.
 * What it is refused with is shown above whatever screen there is then.
 */
export async function attend(about: string, act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (refused) {
    change([...lefts, { about, report: toReport(refused), again: act }]);
  }
}

const subscribe = (hear: () => void) => {
  hearers.add(hear);
  return () => hearers.delete(hear);
};

/** The refusals of acts whose screen was left, until each is dismissed or has worked. */
export function LeftBehind() {
  const all = useSyncExternalStore(subscribe, () => lefts);
  useEffect(() => () => change([]), []);
  if (all.length === 0) return null;
  return (
    <div className="grid gap-2 border-line border-b p-3">
      {all.map((left) => {
        const gone = () => change(lefts.filter((other) => other !== left));
        return (
          <ReportCard
            key={`${left.about} ${left.report.code}`}
            report={left.report}
            onRetry={() => {
              gone();
              void attend(left.about, left.again);
            }}
            actions={<Button onClick={gone}>Dismiss</Button>}
          >
            {left.about}
          </ReportCard>
        );
      })}
    </div>
  );
}
