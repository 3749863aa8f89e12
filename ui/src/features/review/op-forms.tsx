import { type KeyboardEvent, useState } from "react";
import { Button } from "~/components/button";
import { TextArea } from "~/components/field";
import { shown } from "~/lib/markers";
import type { OpView } from "~/platform/bindings";
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
  onSave,
  onLeave,
}: {
  op: OpView;
  onSave: (text: string | null) => void;
  onLeave: () => void;
}) {
  const [text, setText] = useState(op.new_text ?? "");
  const words = strings.editor;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the field inside, heard on their way up
    <div className="grid gap-2 px-4 py-3 pl-8" onKeyDown={formKeys(() => onSave(text), onLeave)}>
      {op.old_text && (
        <div>
          <p className="type-small font-medium text-muted">{words.old}</p>
          <p className="type-diff whitespace-pre-wrap text-muted">{shown(op.old_text)}</p>
        </div>
      )}
      <TextArea
        label={words.text}
        value={text}
        onChange={(event) => setText(event.target.value)}
        rows={Math.min(12, 2 + Math.ceil(text.length / 70) + text.split("\n").length)}
        autoFocus
      />
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" size="small" onClick={() => onSave(text)}>
          {words.save}
        </Button>
        <Button size="small" onClick={onLeave}>
          {words.cancel}
        </Button>
        {op.proposed_text !== null && (
          <Button kind="plain" size="small" onClick={() => onSave(null)}>
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
  onSave,
  onLeave,
}: {
  op: OpView;
  onSave: (note: string | null) => void;
  onLeave: () => void;
}) {
  const [note, setNote] = useState(op.note ?? "");
  const save = () => onSave(note.trim() === "" ? null : note.trim());
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the field inside, heard on their way up
    <div className="grid gap-2 px-4 pb-3 pl-8" onKeyDown={formKeys(save, onLeave)}>
      <TextArea
        label={strings.note.label}
        rows={2}
        value={note}
        onChange={(event) => setNote(event.target.value)}
        autoFocus
      />
      <div className="flex gap-2">
        <Button kind="primary" size="small" onClick={save}>
          {strings.note.save}
        </Button>
        <Button size="small" onClick={onLeave}>
          {strings.note.cancel}
        </Button>
      </div>
    </div>
  );
}
