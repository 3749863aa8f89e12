import { useState } from "react";
import { Button } from "~/components/button";
import { Markdown } from "~/components/markdown";
import { MarkdownEditor } from "~/components/markdown-editor";
import { Pane, PaneEdge, PaneHead, Panes } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { say } from "~/components/toast";
import { useCommands } from "~/keys/use-commands";
import { takeEdit } from "~/lib/kept-edit";
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
  // The version that was being read when editing began; if it has moved, saving is refused.
  const [began] = useState(() => {
    const handed = takeEdit(id);
    return {
      version: handed?.version ?? detail.model.version,
      text: handed?.content ?? detail.content,
      handed,
    };
  });
  const draft = useDraft(`model ${bank} ${id} ${began.version}`, began.text);
  const { text } = draft;
  const narrow = useNarrow();
  const save = useWrite("editModel");
  const conflict = save.error?.code === "conflict";
  const keep = (version: number) =>
    save.mutate([bank, id, text, version], {
      onSuccess: (saved) => {
        draft.drop();
        say(words.saved(saved.model.version));
        onDone();
      },
    });
  const leave = () => {
    draft.drop();
    onDone();
  };
  const beside = conflict ? detail.content : text;
  useCommands({ "model.save": () => keep(began.version) });

  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {save.error && (
        <div className="border-line border-b p-3">
          <ReportCard
            report={save.error}
            {...(conflict ? {} : { onRetry: () => keep(began.version) })}
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
      {(draft.begun || began.handed) && (
        <p className="type-small border-line border-b px-4 py-1.5 text-muted">
          {began.handed ? words.from(began.handed.left_out) : words.begun}
        </p>
      )}
      <Panes id="model-editor">
        <Pane id="text" label={words.editor}>
          <MarkdownEditor
            label={words.editor}
            value={text}
            onChange={draft.set}
            onSave={() => keep(began.version)}
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
          disabled={save.isPending || (text === began.text && !began.handed)}
          onClick={() => keep(began.version)}
        >
          {words.save}
        </Button>
      </div>
    </div>
  );
}
