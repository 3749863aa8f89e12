/** Where a node that is dragged over the tree would go, and why not. */
import type { NodeId, NodePlace, TreeNode } from "~/platform/bindings";
import { type Row, within } from "./tree";

/** Why a place cannot be taken. */
type Refusal = "itself" | "taken";

/** What lies under the pointer, for one that is dragged. */
export type Aim =
  /** Nowhere new: it would stay where it is. */
  | { kind: "stay" }
  /** Into the folder of a row, as the last. */
  | { kind: "into"; row: number; place: NodePlace; folder: TreeNode }
  /** Between rows: the line is drawn above the row of this number, as deep as its new siblings. */
  | { kind: "between"; row: number; depth: number; place: NodePlace; folder: TreeNode | null }
  /** A place that cannot be taken, shown on the row. */
  | { kind: "refused"; row: number; why: Refusal; folder: TreeNode | null };

/** The share of a folder's row, at each end, that means before and after it and not into it. */
const EDGE = 0.28;

/**
 * `at` is the height of the pointer in rows, counted from the top of the tree: 2.5 is the middle of the
 * third row. Below the last row the top level is meant.
 */
export function aimAt(
  nodes: readonly TreeNode[],
  rows: readonly Row[],
  folded: ReadonlySet<NodeId>,
  dragged: TreeNode,
  at: number,
): Aim {
  const index = Math.max(0, Math.floor(at));
  const row = rows[index];
  if (!row) return between(nodes, dragged, rows.length, null, null, Number.POSITIVE_INFINITY);
  const part = at - index;
  const { node } = row;
  if (node.id === dragged.id) return { kind: "stay" };
  const parent = nodes.find(({ id }) => id === node.parent_id) ?? null;
  const before = () => between(nodes, dragged, index, parent, node, 0);
  const after = () => between(nodes, dragged, index + 1, parent, node, 1);
  if (node.kind === "page") return part < 0.5 ? before() : after();
  if (part < EDGE) return before();
  if (part <= 1 - EDGE) return into(nodes, dragged, index, node);
  // Under an open folder the first thing in it comes next.
  if (row.holds > 0 && !folded.has(node.id))
    return between(nodes, dragged, index + 1, node, null, 0);
  return after();
}

const childrenOf = (nodes: readonly TreeNode[], folder: TreeNode | null): TreeNode[] =>
  nodes.filter(({ parent_id }) => parent_id === (folder?.id ?? null));

/** Why a node cannot lie in a folder. Names are told apart whatever their case, as the engine does. */
function refusal(
  nodes: readonly TreeNode[],
  dragged: TreeNode,
  folder: TreeNode | null,
): Refusal | null {
  if (folder && within(nodes, dragged.id).some(({ id }) => id === folder.id)) return "itself";
  const name = dragged.name.toLowerCase();
  const taken = childrenOf(nodes, folder).some(
    (other) => other.id !== dragged.id && other.name.toLowerCase() === name,
  );
  return taken ? "taken" : null;
}

function into(nodes: readonly TreeNode[], dragged: TreeNode, row: number, folder: TreeNode): Aim {
  const why = refusal(nodes, dragged, folder);
  if (why) return { kind: "refused", row, why, folder };
  if (childrenOf(nodes, folder).at(-1)?.id === dragged.id) return { kind: "stay" };
  return { kind: "into", row, folder, place: { parent_id: folder.id, position: null } };
}

/** Beside a sibling: `step` 0 before it and 1 behind it; without one at the beginning or the end. */
function between(
  nodes: readonly TreeNode[],
  dragged: TreeNode,
  row: number,
  folder: TreeNode | null,
  sibling: TreeNode | null,
  step: number,
): Aim {
  const why = refusal(nodes, dragged, folder);
  if (why) return { kind: "refused", row: Math.max(0, row - (step > 0 ? 1 : 0)), why, folder };
  const siblings = childrenOf(nodes, folder);
  const others = siblings.filter(({ id }) => id !== dragged.id);
  const beside = sibling ? others.findIndex(({ id }) => id === sibling.id) : 0;
  const position = Math.min(beside + step, others.length);
  if (siblings.findIndex(({ id }) => id === dragged.id) === position) return { kind: "stay" };
  const depth = folder ? folder.depth + 1 : 0;
  return {
    kind: "between",
    row,
    depth,
    folder,
    place: { parent_id: folder?.id ?? null, position },
  };
}
