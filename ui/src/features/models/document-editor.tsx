import { useState } from "react";
import { Button } from "~/components/button";
import { Markdown } from "~/components/markdown";
import { MarkdownEditor } from "~/components/markdown-editor";
import { Pane, PaneEdge, PaneHead, Panes } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { say } from "~/components/toast";
import { useCommands } from "~/keys/use-commands";
import { editKey, takeEdit } from "~/lib/kept-edit";
import { useDraft } from "~/lib/use-draft";
import { useNarrow } from "~/lib/use-narrow";
import type { BankId, ModelDetail } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { strings } from "./model-strings";

const words = strings.document;

/** The whole document as Markdown with what it becomes beside it; saved as a version by a person. */
export function DocumentEditor({
  bank,
  detail,
  onDone,
}: {
  bank: BankId;
  detail: ModelDetail;
  onDone: () => void;
}) {
  const { id } = detail.model;
  const [handed] = useState(() => takeEdit(id));
  // On the version that was being read when editing began; if it has moved, saving is refused.
  const [began] = useState(() => ({
    text: handed?.content ?? detail.content,
    on: String(handed?.version ?? detail.model.version),
  }));
  const draft = useDraft(editKey(bank, id), began.text, began.on);
  const { text } = draft;
  const version = Number(draft.on);
  // What was handed over waits while a text that was begun earlier is shown.
  const [taken, setTaken] = useState(false);
  const shown = handed && (!draft.found || taken);
  const narrow = useNarrow();
  const save = useWrite("editModel");
  const conflict = save.error?.code === "conflict";
  const same = text === detail.content && !handed;
  const keep = (over: number) => {
    if (save.isPending || same) return;
    save.mutate([bank, id, text, over], {
      onSuccess: (saved) => {
        draft.drop();
        say(words.saved(saved.model.version));
        onDone();
      },
    });
  };
  const leave = () => {
    draft.drop();
    onDone();
  };
  const beside = conflict ? detail.content : text;
  useCommands({ "model.save": same ? words.same : () => keep(version) });

  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {save.error && (
        <div className="border-line border-b p-3">
          <ReportCard
            report={save.error}
            {...(conflict ? {} : { onRetry: () => keep(version) })}
            actions={
              conflict && (
                <Button onClick={() => keep(detail.model.version)}>{words.saveOver}</Button>
              )
            }
          >
            {conflict && words.conflict}
          </ReportCard>
        </div>
      )}
      {(draft.found || handed) && (
        <p className="type-small flex flex-wrap items-center gap-2 border-line border-b px-4 py-1.5 text-muted">
          {shown
            ? words.from(handed.left_out)
            : version === detail.model.version
              ? words.begun
              : words.begunOn(version, detail.model.version)}
          {handed && !shown && (
            <Button
              size="small"
              onClick={() => {
                draft.take(began);
                setTaken(true);
              }}
            >
              {words.takeHanded}
            </Button>
          )}
        </p>
      )}
      <Panes id="model-editor">
        <Pane id="text" label={words.editor}>
          <MarkdownEditor
            key={String(taken)}
            label={words.editor}
            value={text}
            onChange={draft.set}
            onSave={() => keep(version)}
          />
        </Pane>
        {!narrow && (
          <>
            <PaneEdge label={conflict ? words.now : words.preview} />
            <Pane id="preview" label={conflict ? words.now : words.preview} as="aside">
              {conflict && <PaneHead title={words.now} />}
              <ScrollText label={words.text} className="px-8 py-6">
                <article className="doc">
                  <Markdown>{beside}</Markdown>
                </article>
              </ScrollText>
            </Pane>
          </>
        )}
      </Panes>
      <div className="flex min-h-(--foot) shrink-0 items-center gap-2 border-line border-t bg-sunken px-4">
        <Button onClick={leave}>{words.cancel}</Button>
        <Button
          kind="primary"
          command="model.save"
          className="ml-auto"
          disabled={save.isPending}
          unavailable={same ? words.same : undefined}
          onClick={() => keep(version)}
        >
          {words.save}
        </Button>
      </div>
    </div>
  );
}
