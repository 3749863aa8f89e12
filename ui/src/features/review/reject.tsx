import { useState } from "react";
import { Button } from "~/components/button";
import { FormDialog } from "~/components/dialog";
import { Checkbox, RadioField, TextArea } from "~/components/field";
import { ReportCard } from "~/components/report";
import { useDraft } from "~/lib/use-draft";
import type { ProposalView, RejectDisposition, RejectInput, Report } from "~/platform/bindings";
import { strings } from "./strings";

const words = strings.rejection;

/** Ends a proposal without a version: why, and what becomes of its facts. */
export function RejectDialog({
  view,
  report,
  busy,
  onReject,
  onLeave,
}: {
  view: ProposalView;
  report: Report | null;
  busy: boolean;
  /** `after` is called once it is rejected. */
  onReject: (input: RejectInput, after: () => void) => void;
  onLeave: () => void;
}) {
  // Until it is said to the next refresh, the reason outlives the dialog.
  const { text: note, set: setNote, drop } = useDraft(`reject ${view.row.id}`, "");
  const [chosen, setChosen] = useState<RejectDisposition | null>(null);
  const [standing, setStanding] = useState(false);
  const noted = note.trim() !== "";
  const disposition = chosen ?? (noted ? "retry" : "dismiss");
  const reject = () =>
    onReject({ note: noted ? note.trim() : null, disposition, standing: noted && standing }, drop);
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && onLeave()}
      title={words.title(view.row.model_name, view.row.number)}
      foot={
        <>
          <Button onClick={onLeave}>{words.back}</Button>
          <Button kind="primary" disabled={busy} onClick={reject}>
            {words.reject}
          </Button>
        </>
      }
    >
      {report && <ReportCard report={report} />}
      <TextArea
        label={words.note}
        help={words.noteHelp}
        value={note}
        onChange={(event) => setNote(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) reject();
        }}
      />
      <RadioField
        label={words.disposition}
        name="disposition"
        value={disposition}
        onValue={(value) => setChosen(value === "retry" ? "retry" : "dismiss")}
        options={[
          { value: "retry", label: words.retry, help: words.retryHelp },
          { value: "dismiss", label: words.dismiss, help: words.dismissHelp },
        ]}
      />
      <Checkbox
        label={words.standing}
        checked={standing}
        disabled={!noted}
        onChange={(event) => setStanding(event.target.checked)}
      />
    </FormDialog>
  );
}
