import { Folder } from "lucide-react";
import { useState } from "react";
import { Button } from "~/components/button";
import { FormDialog } from "~/components/dialog";
import { TextField } from "~/components/field";
import { Icon } from "~/components/icon";
import { List } from "~/components/list";
import { ReportCard } from "~/components/report";
import type { NodeId, Report, TreeNode } from "~/platform/bindings";
import { strings } from "./strings";
import { targets } from "./tree";

const words = strings.move;

interface Target {
  /** Null is the top level. */
  id: NodeId | null;
  name: string;
  depth: number;
}

const ROOT = "root";

/** Chooses the folder that a node goes into. */
export function MoveDialog({
  nodes,
  node,
  busy,
  report,
  onMove,
  onClose,
}: {
  nodes: readonly TreeNode[];
  node: TreeNode;
  busy: boolean;
  report: Report | null;
  onMove: (parent: NodeId | null) => void;
  onClose: () => void;
}) {
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState<string | null>(null);
  const all: Target[] = [
    { id: null, name: strings.root, depth: 0 },
    ...targets(nodes, node).map(({ id, name, depth }) => ({ id, name, depth: depth + 1 })),
  ];
  const letters = typed.trim().toLowerCase();
  const found = all.filter(({ name }) => name.toLowerCase().includes(letters));
  const keyOf = ({ id }: Target) => id ?? ROOT;
  const target = found.find((each) => keyOf(each) === chosen);
  const move = (to: Target) => {
    if (to.id !== node.parent_id && !busy) onMove(to.id);
  };
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={words.title(node.name)}
      about={words.about}
      foot={
        <>
          <Button onClick={onClose}>{strings.form.cancel}</Button>
          <Button
            kind="primary"
            disabled={busy}
            unavailable={
              !target ? strings.noneChosen : target.id === node.parent_id ? words.here : undefined
            }
            onClick={() => target && move(target)}
          >
            {words.act}
          </Button>
        </>
      }
    >
      {report && <ReportCard report={report} />}
      {all.length > 8 && (
        <TextField
          label={words.find}
          value={typed}
          onChange={({ target: { value } }) => setTyped(value)}
        />
      )}
      {found.length === 0 ? (
        <p className="text-muted">{words.none}</p>
      ) : (
        <div className="flex h-64 rounded-md border border-line">
          <List
            label={words.folders}
            items={found}
            idOf={keyOf}
            active={chosen}
            onActive={(each) => setChosen(keyOf(each))}
            onOpen={move}
            rowHeight={2}
            plain
          >
            {({ id, name, depth }) => (
              <div
                className="flex h-8 items-center gap-2 pr-3"
                style={{ paddingLeft: `${0.75 + (letters ? 0 : Math.min(depth, 12)) * 1.25}rem` }}
              >
                <Icon of={Folder} className="text-muted" />
                <span className="min-w-0 flex-1 truncate">{name}</span>
                {id === node.parent_id && (
                  <span className="type-small text-faint">{words.here}</span>
                )}
              </div>
            )}
          </List>
        </div>
      )}
    </FormDialog>
  );
}
