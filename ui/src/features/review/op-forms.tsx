import type { KeyboardEvent } from "react";
import { Button } from "~/components/button";
import { TextArea } from "~/components/field";
import { shown } from "~/lib/markers";
import { useDraft } from "~/lib/use-draft";
import type { OpView, ProposalId } from "~/platform/bindings";
import { strings } from "./strings";

/** Ctrl+Enter keeps, Esc leaves; neither reaches the commands of the screen. */
function formKeys(save: () => void, leave: () => void) {
  return (event: KeyboardEvent) => {
    const send = event.key === "Enter" && (event.ctrlKey || event.metaKey);
    if (!send && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    (send ? save : leave)();
  };
}

/** The proposed text in place, the old one above it. */
export function OpEditor({
  op,
  proposal,
  onSave,
  onLeave,
}: {
  op: OpView;
  proposal: ProposalId;
  /** `after` is called once the text is kept. */
  onSave: (text: string | null, after: () => void) => void;
  onLeave: () => void;
}) {
  const draft = useDraft(`op ${proposal} ${op.op_id}`, op.new_text ?? "");
  const { text } = draft;
  const words = strings.editor;
  const save = (next: string | null) => onSave(next, draft.drop);
  const leave = () => {
    draft.drop();
    onLeave();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the field inside, heard on their way up
    <div className="grid gap-2 px-4 py-3 pl-8" onKeyDown={formKeys(() => save(text), leave)}>
      {op.old_text && (
        <div>
          <p className="type-small font-medium text-muted">{words.old}</p>
          <p className="type-diff whitespace-pre-wrap text-muted">{shown(op.old_text)}</p>
        </div>
      )}
      <TextArea
        label={words.text}
        value={text}
        onChange={(event) => draft.set(event.target.value)}
        rows={Math.min(12, 2 + Math.ceil(text.length / 70) + text.split("\n").length)}
        autoFocus
      />
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" size="small" onClick={() => save(text)}>
          {words.save}
        </Button>
        <Button size="small" onClick={leave}>
          {words.cancel}
        </Button>
        {op.proposed_text !== null && (
          <Button kind="plain" size="small" onClick={() => save(null)}>
            {words.reset}
          </Button>
        )}
      </div>
    </div>
  );
}

/** A person's words about an operation; an empty note removes it. */
export function OpNote({
  op,
  proposal,
  onSave,
  onLeave,
}: {
  op: OpView;
  proposal: ProposalId;
  /** `after` is called once the note is kept. */
  onSave: (note: string | null, after: () => void) => void;
  onLeave: () => void;
}) {
  const draft = useDraft(`note ${proposal} ${op.op_id}`, op.note ?? "");
  const save = () => onSave(draft.text.trim() || null, draft.drop);
  const leave = () => {
    draft.drop();
    onLeave();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the field inside, heard on their way up
    <div className="grid gap-2 px-4 pb-3 pl-8" onKeyDown={formKeys(save, leave)}>
      <TextArea
        label={strings.note.label}
        rows={2}
        value={draft.text}
        onChange={(event) => draft.set(event.target.value)}
        autoFocus
      />
      <div className="flex gap-2">
        <Button kind="primary" size="small" onClick={save}>
          {strings.note.save}
        </Button>
        <Button size="small" onClick={leave}>
          {strings.note.cancel}
        </Button>
      </div>
    </div>
  );
}
