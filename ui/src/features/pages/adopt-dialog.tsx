import { FileText } from "lucide-react";
import { useState } from "react";
import { Button } from "~/components/button";
import { FormDialog } from "~/components/dialog";
import { TextField } from "~/components/field";
import { Icon } from "~/components/icon";
import { attend } from "~/components/left-behind";
import { List } from "~/components/list";
import { ReportCard } from "~/components/report";
import { say } from "~/components/toast";
import type { BankId, ModelRow, NodeId, TreeNode } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { strings } from "./strings";

const words = strings.adopt;

/** Gives a model of the list a place among the folders. */
export function AdoptDialog({
  bank,
  nodes,
  into,
  onShow,
  onClose,
}: {
  bank: BankId;
  nodes: readonly TreeNode[];
  /** The folder it is put into; the top level without one. */
  into: { id: NodeId; name: string } | null;
  onShow: (id: NodeId) => void;
  onClose: () => void;
}) {
  const models = useRead("listModels", [bank]);
  const adopt = useWrite("adoptModel");
  const release = useWrite("releasePage");
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState<string | null>(null);
  const placed = new Set(nodes.flatMap(({ page }) => (page ? [page.mental_model_id] : [])));
  const all = (models.data ?? []).filter(({ id }) => !placed.has(id));
  const letters = typed.trim().toLowerCase();
  const found = all.filter(({ name }) => name.toLowerCase().includes(letters));
  const model = found.find(({ id }) => id === chosen);
  const put = ({ id, name }: ModelRow) => {
    if (adopt.isPending) return;
    adopt.mutate([bank, id, { parent_id: into?.id ?? null, position: null }], {
      onSuccess: (page) => {
        say(words.done(name, into?.name ?? strings.root), {
          label: strings.acts.undo,
          run: () => {
            void attend(strings.acts.notUndone, () => release.mutateAsync([bank, page.id]));
          },
        });
        onShow(page.id);
        onClose();
      },
    });
  };
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={words.title}
      about={words.about(into?.name ?? strings.root)}
      foot={
        <>
          <Button onClick={onClose}>{strings.form.cancel}</Button>
          <Button
            kind="primary"
            disabled={adopt.isPending}
            unavailable={model ? undefined : words.noneChosen}
            onClick={() => model && put(model)}
          >
            {words.act}
          </Button>
        </>
      }
    >
      {adopt.error && <ReportCard report={adopt.error} />}
      {models.error && <ReportCard report={models.error} onRetry={() => void models.refetch()} />}
      {all.length > 8 && (
        <TextField
          label={words.find}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      )}
      {models.data && found.length === 0 ? (
        <p className="text-muted">{all.length === 0 ? words.none : words.noneFound}</p>
      ) : (
        <div className="flex h-64 rounded-md border border-line">
          <List
            label={words.models}
            items={found}
            idOf={({ id }) => id}
            active={chosen}
            onActive={({ id }) => setChosen(id)}
            onOpen={put}
            rowHeight={2}
            plain
          >
            {({ name, source_query }) => (
              <div className="flex h-8 items-center gap-2 px-3">
                <Icon of={FileText} className="text-muted" />
                <span className="max-w-[60%] shrink-0 truncate">{name}</span>
                <span className="type-small min-w-0 flex-1 truncate text-faint">
                  {source_query}
                </span>
              </div>
            )}
          </List>
        </div>
      )}
    </FormDialog>
  );
}
