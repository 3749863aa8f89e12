import { useState } from "react";
import { useAnnounce } from "~/components/announce";
import { Button } from "~/components/button";
import { Back, Confirm } from "~/components/dialog";
import { DraftDialog } from "~/components/draft-dialog";
import { TextArea } from "~/components/field";
import { attend } from "~/components/left-behind";
import { MemoryText } from "~/components/memory-text";
import { ReportCard } from "~/components/report";
import { say } from "~/components/toast";
import type { BankId, MemoryId } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { strings } from "./strings";

/** Takes a fact out of use, with the reason. */
export function InvalidateDialog({
  bank,
  id,
  onClose,
}: {
  bank: BankId;
  id: MemoryId;
  onClose: () => void;
}) {
  const words = strings.invalidate;
  const [reason, setReason] = useState("");
  const call = useWrite("invalidateMemory");
  const restore = useWrite("restoreMemory");
  const announce = useAnnounce();
  const act = () =>
    call.mutate([bank, id, reason.trim() || null], {
      onSuccess: () => {
        announce(words.done);
        say(words.done, {
          label: strings.factForm.undo,
          run: () => void attend(strings.notUndone, () => restore.mutateAsync([bank, id])),
        });
        onClose();
      },
    });
  return (
    <DraftDialog
      title={words.title}
      about={words.about}
      holds={reason.trim() !== ""}
      back={strings.factForm.cancel}
      act={
        <Button kind="primary" onClick={act} disabled={call.isPending}>
          {words.act}
        </Button>
      }
      onClose={onClose}
    >
      {call.error && <ReportCard report={call.error} onRetry={act} />}
      <TextArea
        label={words.reason}
        help={words.reasonHelp}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
      />
    </DraftDialog>
  );
}

/** Deletes for good, after saying what rests on it. */
export function DeleteDialog({
  bank,
  id,
  onClose,
  onDeleted,
}: {
  bank: BankId;
  id: MemoryId;
  onClose: () => void;
  onDeleted: () => void;
}) {
  const words = strings.remove;
  const reach = useRead("getMemory", [bank, id]);
  const detail = reach.data;
  const call = useWrite("deleteMemory");
  const announce = useAnnounce();
  const act = () =>
    call.mutate([bank, id], {
      onSuccess: () => {
        announce(words.done);
        onClose();
        onDeleted();
      },
    });
  return (
    <Confirm
      open
      onOpenChange={(open) => !open && onClose()}
      title={words.title}
      about={words.about}
      foot={
        <>
          <Back asChild>
            <Button>{words.keep}</Button>
          </Back>
          <Button
            kind="danger"
            onClick={act}
            disabled={call.isPending}
            unavailable={detail ? undefined : words.unknown}
          >
            {words.act}
          </Button>
        </>
      }
    >
      {call.error && <ReportCard report={call.error} onRetry={act} />}
      {reach.error && <ReportCard report={reach.error} onRetry={() => void reach.refetch()} />}
      {detail && (
        <>
          <blockquote className="border-edge border-l-3 pl-3">
            <MemoryText text={detail.memory.text} />
          </blockquote>
          <p>{words.reach(detail.observations.length, detail.cited_by.length)}</p>
        </>
      )}
    </Confirm>
  );
}
