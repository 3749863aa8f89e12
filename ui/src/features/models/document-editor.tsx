import { useState } from "react";
import { Button } from "~/components/button";
import { Markdown } from "~/components/markdown";
import { MarkdownEditor } from "~/components/markdown-editor";
import { Pane, PaneEdge, Panes } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { say } from "~/components/toast";
import { useCommands } from "~/keys/use-commands";
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
  // The version that was being read when editing began; if it has moved, saving is refused.
  const [{ version, text: began }] = useState({
    version: detail.model.version,
    text: detail.content,
  });
  const [text, setText] = useState(began);
  const narrow = useNarrow();
  const save = useWrite("editModel");
  const keep = () =>
    save.mutate([bank, detail.model.id, text, version], {
      onSuccess: (saved) => {
        say(words.saved(saved.model.version));
        onDone();
      },
    });
  useCommands({ "model.save": keep });

  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {save.error && (
        <div className="border-line border-b p-3">
          <ReportCard report={save.error} onRetry={keep}>
            {save.error.code === "conflict" && words.conflict}
          </ReportCard>
        </div>
      )}
      <Panes id="model-editor" panes={narrow ? ["text"] : ["text", "preview"]}>
        <Pane id="text" label={words.editor}>
          <MarkdownEditor label={words.editor} value={text} onChange={setText} onSave={keep} />
        </Pane>
        {!narrow && (
          <>
            <PaneEdge label={words.preview} />
            <Pane id="preview" label={words.preview} as="aside">
              <ScrollText label={words.preview} className="px-8 py-6">
                <article className="doc">
                  <Markdown>{text}</Markdown>
                </article>
              </ScrollText>
            </Pane>
          </>
        )}
      </Panes>
      <div className="flex min-h-(--foot) shrink-0 items-center gap-2 border-line border-t bg-sunken px-4">
        <Button onClick={onDone}>{words.cancel}</Button>
        <Button
          kind="primary"
          command="model.save"
          className="ml-auto"
          disabled={save.isPending || text === began}
          onClick={keep}
        >
          {words.save}
        </Button>
      </div>
    </div>
  );
}
