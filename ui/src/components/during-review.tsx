import type { DuringReview, Report } from "~/platform/bindings";
import { Button } from "./button";
import { Back, Confirm } from "./dialog";
import { ReportCard } from "./report";

const words = {
  title: (name: string) => `A review of ${name} is under way`,
  about: "You have begun to decide on what an earlier refresh proposed.",
  back: "Do not refresh",
  wait: "Wait until it ends",
  waitHelp: "The refresh starts when the proposal is approved or rejected.",
  fold: "Move my decisions",
  foldHelp:
    "The refresh runs now. Decisions on changes that come back the same are kept; the rest asks you again.",
} as const;

/** Asked when a refresh meets a review: wait for its end, or move the decisions into a new proposal. */
export function DuringReviewQuestion({
  name,
  busy,
  report,
  onChoice,
  onLeave,
}: {
  name: string;
  busy: boolean;
  report: Report | null;
  onChoice: (during: DuringReview) => void;
  onLeave: () => void;
}) {
  return (
    <Confirm
      open
      onOpenChange={(open) => !open && onLeave()}
      title={words.title(name)}
      about={words.about}
      foot={
        <>
          <Back asChild>
            <Button className="mr-auto">{words.back}</Button>
          </Back>
          <Button disabled={busy} onClick={() => onChoice("wait")}>
            {words.wait}
          </Button>
          <Button kind="primary" disabled={busy} onClick={() => onChoice("fold")}>
            {words.fold}
          </Button>
        </>
      }
    >
      {report && <ReportCard report={report} />}
      <dl className="grid gap-2">
        <div>
          <dt className="font-medium">{words.wait}</dt>
          <dd className="text-muted">{words.waitHelp}</dd>
        </div>
        <div>
          <dt className="font-medium">{words.fold}</dt>
          <dd className="text-muted">{words.foldHelp}</dd>
        </div>
      </dl>
    </Confirm>
  );
}
