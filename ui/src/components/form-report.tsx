import type { Report } from "~/platform/bindings";
import { ReportCard } from "./report";

/** What a form was refused with, as far as its own fields do not say it. */
export function FormReport({
  report,
  placed,
  onRetry,
}: {
  report: Report | null;
  /** Fields at which the form shows their fault. */
  placed: readonly string[];
  onRetry?: () => void;
}) {
  if (!report) return null;
  const untold = report.fields.filter(({ field }) => !placed.includes(field));
  if (report.fields.length > 0 && untold.length === 0) return null;
  return <ReportCard report={{ ...report, fields: untold }} onRetry={onRetry} />;
}
