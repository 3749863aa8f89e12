import { Plus, X } from "lucide-react";
import { Button, IconButton } from "~/components/button";
import type { TagsMatch } from "~/platform/bindings";
import { strings } from "./form-strings";
import { changed, type GroupNode, isWhole, type Join, newGroup, newLeaf } from "./groups";

const words = strings.group;

/** An expression over tags as nested conditions; the top ones hold all together. */
export function GroupEditor({
  nodes,
  fault,
  onNodes,
}: {
  nodes: GroupNode[];
  fault?: string | undefined;
  onNodes: (nodes: GroupNode[]) => void;
}) {
  const open = nodes.length === 0 || !isWhole(nodes);
  return (
    <fieldset className="grid gap-2 rounded-md border border-line bg-sunken p-3">
      <legend className="sr-only">{words.label}</legend>
      <p className="type-small text-muted">{words.top}</p>
      <Members
        nodes={nodes}
        onNode={(id, to) => onNodes(changed(nodes, id, to))}
        onAdd={(made) => onNodes([...nodes, made])}
      />
      {(fault || open) && (
        <p role="status" className={fault ? "type-small text-bad" : "type-small text-faint"}>
          {fault ?? words.open}
        </p>
      )}
    </fieldset>
  );
}

type OnNode = (id: number, to: GroupNode | null) => void;

function Members({
  nodes,
  onNode,
  onAdd,
}: {
  nodes: readonly GroupNode[];
  onNode: OnNode;
  onAdd: (made: GroupNode) => void;
}) {
  return (
    <>
      <ul className="grid gap-2">
        {nodes.map((node) => (
          <li key={node.id}>
            {node.kind === "leaf" ? (
              <Leaf node={node} onNode={onNode} />
            ) : (
              <Group node={node} onNode={onNode} />
            )}
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap gap-1">
        <Button size="small" kind="plain" icon={Plus} onClick={() => onAdd(newLeaf())}>
          {words.addLeaf}
        </Button>
        <Button size="small" kind="plain" icon={Plus} onClick={() => onAdd(newGroup())}>
          {words.addGroup}
        </Button>
      </div>
    </>
  );
}

const field =
  "h-(--control) min-w-0 rounded-md border border-control bg-raised px-2 text-text focus-visible:outline-offset-[-1px]";

function Leaf({ node, onNode }: { node: Extract<GroupNode, { kind: "leaf" }>; onNode: OnNode }) {
  return (
    <div className="flex flex-wrap items-center gap-1.5">
      <select
        aria-label={words.leafMatch}
        value={node.match}
        className={field}
        onChange={(event) => onNode(node.id, { ...node, match: event.target.value as TagsMatch })}
      >
        {Object.entries(strings.matches).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <input
        type="text"
        aria-label={words.tags}
        placeholder={words.tags}
        value={node.tags}
        className={`${field} flex-1`}
        onChange={(event) => onNode(node.id, { ...node, tags: event.target.value })}
      />
      <IconButton icon={X} name={words.remove} onClick={() => onNode(node.id, null)} />
    </div>
  );
}

function Group({ node, onNode }: { node: Extract<GroupNode, { kind: Join }>; onNode: OnNode }) {
  return (
    <fieldset className="grid gap-2 border-edge border-l-2 pl-3">
      <legend className="sr-only">{words.joins[node.kind]}</legend>
      <div className="flex items-center gap-1.5">
        <select
          aria-label={words.join}
          value={node.kind}
          className={field}
          onChange={(event) => onNode(node.id, { ...node, kind: event.target.value as Join })}
        >
          {Object.entries(words.joins).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
        <IconButton icon={X} name={words.removeGroup} onClick={() => onNode(node.id, null)} />
      </div>
      <Members
        nodes={node.members}
        onNode={(id, to) => onNode(node.id, { ...node, members: changed(node.members, id, to) })}
        onAdd={(made) => onNode(node.id, { ...node, members: [...node.members, made] })}
      />
    </fieldset>
  );
}
