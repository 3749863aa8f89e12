import { Button } from "~/components/button";
import { StateMark } from "~/components/state";
import type { ModelRow } from "~/platform/bindings";
import { strings } from "./strings";

/** One line for everything that lags, with one act for all of it. */
export function BehindBar({
  due,
  busy,
  onRefresh,
}: {
  due: ModelRow[];
  busy: boolean;
  onRefresh: () => void;
}) {
  if (due.length === 0) return null;
  const never = due.filter(({ state }) => state === "never_refreshed").length;
  return (
    <div className="flex min-h-9 items-center gap-2 border-line border-b bg-sunken px-4 text-muted">
      <StateMark mark="half" tone="warn" />
      <span className="min-w-0 truncate">{strings.behind(due.length - never, never)}</span>
      <Button size="small" className="ml-auto" onClick={onRefresh} disabled={busy}>
        {strings.refreshAll(due.length)}
      </Button>
    </div>
  );
}
