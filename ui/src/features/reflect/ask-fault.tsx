import { Link } from "@tanstack/react-router";
import { Button } from "~/components/button";
import { ReportCard } from "~/components/report";
import type { BankId, ErrorCode, Report } from "~/platform/bindings";
import { strings } from "./strings";

/** What only the settings can put right. */
const inSettings: ErrorCode[] = [
  "provider_not_configured",
  "provider_auth",
  "provider_unreachable",
  "model_lacks_tools",
];

/** Why a question has no answer, and what to do about it. */
export function AskFault({
  bank,
  report,
  goesOn = false,
  onRetry,
}: {
  bank: BankId;
  report: Report;
  /** Whether another try goes on from what this one found. */
  goesOn?: boolean;
  onRetry: () => void;
}) {
  return (
    <ReportCard
      report={report}
      onRetry={onRetry}
      actions={
        inSettings.includes(report.code) && (
          <Button asChild>
            <Link to="/b/$bank/settings/{-$page}" params={{ bank, page: undefined }} data-plain>
              {strings.settings}
            </Link>
          </Button>
        )
      }
    >
      {strings.remedies[report.code]}
      {goesOn && report.retryable && <p>{strings.goesOn}</p>}
    </ReportCard>
  );
}
