import { Button } from "~/components/button";
import { ReportCard } from "~/components/report";
import { usePlatform } from "~/platform";
import type { AppStatus, Report } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { strings } from "./strings";

const words = strings.blocked;

/** The whole page while the data cannot be opened: where it lies, why, and the ways on. */
export function Blocked({ status, report }: { status: AppStatus; report: Report }) {
  const platform = usePlatform();
  const reopen = useWrite("reopen");
  const choose = async () => {
    const folders = await platform.chooseFiles({ title: words.chooseTitle, folders: true });
    if (folders?.[0]) reopen.mutate([folders[0]]);
  };
  return (
    <main className="grid h-full content-center justify-items-center gap-4 bg-sunken p-8">
      <div className="grid w-full max-w-[47.5rem] gap-4">
        <h1 className="type-title">{words.title}</h1>
        <ReportCard
          report={{ ...(reopen.error ?? report), retryable: false }}
          actions={
            <>
              <Button kind="primary" onClick={() => reopen.mutate([null])}>
                {words.again}
              </Button>
              <Button onClick={choose}>{words.choose}</Button>
            </>
          }
        >
          {words.untouched}
        </ReportCard>
        <p className="type-small text-muted">
          {words.folder} <span className="type-code select-text">{status.data_folder}</span>
        </p>
      </div>
    </main>
  );
}
