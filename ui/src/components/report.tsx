import { ChevronDown } from "lucide-react";
import { Collapsible } from "radix-ui";
import type { ReactNode } from "react";
import type { FallbackProps } from "react-error-boundary";
import { cn } from "~/lib/cn";
import type { Report } from "~/platform/bindings";
import { useReadAnew } from "~/platform/cache";
import { toReport } from "~/platform/errors";
import { Button } from "./button";
import { CopyButton } from "./copy-button";
import { Icon } from "./icon";
import { StateMark } from "./state";

/** What went wrong, in place: the sentence, the next step, and the details behind a disclosure. */
export function ReportCard({
  report,
  onRetry,
  actions,
  className,
  children,
}: {
  report: Report;
  onRetry?: (() => void) | undefined;
  actions?: ReactNode;
  className?: string;
  /** A sentence of the screen about what is still safe. */
  children?: ReactNode;
}) {
  const retry = report.retryable ? onRetry : undefined;
  return (
    <div
      role="alert"
      className={cn(
        "max-w-[47.5rem] rounded-md border border-l-3 border-line border-l-bad bg-raised",
        className,
      )}
    >
      <div className="flex gap-3 px-4 py-3">
        <StateMark mark="octagon" tone="bad" className="mt-0.5" />
        <div className="min-w-0 flex-1">
          <p className="type-strong">{report.message}</p>
          {report.fields.length > 0 && (
            <ul className="mt-1 grid gap-0.5">
              {report.fields.map(({ field, message }) => (
                <li key={`${field} ${message}`}>{message}</li>
              ))}
            </ul>
          )}
          {report.hint && <p className="mt-1 text-muted">{report.hint}</p>}
          {children && <div className="mt-1 text-muted">{children}</div>}
          {(retry || actions) && (
            <div className="mt-3 flex flex-wrap gap-2">
              {retry && (
                <Button kind="primary" onClick={retry}>
                  Try again
                </Button>
              )}
              {actions}
            </div>
          )}
        </div>
      </div>
      <Details report={report} />
    </div>
  );
}

function Details({ report }: { report: Report }) {
  const lines: [string, string][] = [
    ["Code", report.code],
    ["Reason", report.reason],
    ...report.fields.map((fault): [string, string] => [fault.field, fault.message]),
    ...(report.detail ? [["Cause", report.detail] as [string, string]] : []),
    ...(report.run ? [["Run", report.run.id] as [string, string]] : []),
  ];
  const text = () =>
    [report.message, ...lines.map(([name, value]) => `${name}: ${value}`)].join("\n");
  return (
    <Collapsible.Root className="border-line border-t px-4 py-1.5">
      <div className="flex items-center">
        <Collapsible.Trigger className="type-small group flex h-6 items-center gap-1.5 text-muted hover:text-text">
          <Icon
            of={ChevronDown}
            small
            className="transition-transform group-data-[state=closed]:-rotate-90"
          />
          Details
        </Collapsible.Trigger>
        <CopyButton kind="plain" size="small" className="ml-auto" text={text}>
          Copy
        </CopyButton>
      </div>
      <Collapsible.Content>
        <dl className="grid grid-cols-[7rem_minmax(0,1fr)] gap-x-2 gap-y-0.5 pt-1 pb-2 pl-4.5">
          {lines.map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="type-small leading-5 text-faint">{name}</dt>
              <dd className="type-code select-text break-words">{value}</dd>
            </div>
          ))}
        </dl>
      </Collapsible.Content>
    </Collapsible.Root>
  );
}

/**
 * The same for a part of a screen that broke while drawing; the rest of the screen stays. Trying again
 * reads anew, since what was read may be what could not be drawn.
 */
export function BrokenPane({ error, resetErrorBoundary }: FallbackProps) {
  const readAnew = useReadAnew();
  return (
    <div className="p-4">
      <ReportCard
        report={toReport(error)}
        onRetry={() => {
          readAnew();
          resetErrorBoundary();
        }}
      />
    </div>
  );
}
