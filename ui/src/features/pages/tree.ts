/** The tree of folders and pages as rows, and where its nodes can go. Nodes come in reading order. */
import type { NodeId, NodePlace, TreeNode } from "~/platform/bindings";

export interface Row {
  node: TreeNode;
  /** Its place among its siblings, from 0, and how many they are. */
  place: number;
  of: number;
  /** How many lie right in it. */
  holds: number;
}

/** A node with its place, or the same of a place where it may go. */
export type Step = "up" | "down" | "in" | "out";

function byParent(nodes: readonly TreeNode[]): Map<NodeId | null, TreeNode[]> {
  const children = new Map<NodeId | null, TreeNode[]>();
  for (const node of nodes) {
    const siblings = children.get(node.parent_id);
    if (siblings) siblings.push(node);
    else children.set(node.parent_id, [node]);
  }
  return children;
}

/** The rows in view: what lies in a folded folder is left out. */
export function rowsOf(nodes: readonly TreeNode[], folded: ReadonlySet<NodeId>): Row[] {
  const children = byParent(nodes);
  const places = new Map<NodeId, { place: number; of: number }>();
  for (const siblings of children.values()) {
    siblings.forEach(({ id }, place) => {
      places.set(id, { place, of: siblings.length });
    });
  }
  const hidden = new Set<NodeId>();
  return nodes.flatMap((node) => {
    const { parent_id } = node;
    if (parent_id !== null && (hidden.has(parent_id) || folded.has(parent_id))) {
      hidden.add(node.id);
      return [];
    }
    const at = places.get(node.id) ?? { place: 0, of: 1 };
    return [{ node, ...at, holds: children.get(node.id)?.length ?? 0 }];
  });
}

/** The folders above a node, the outermost first. */
export function above(nodes: readonly TreeNode[], id: NodeId): TreeNode[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const path: TreeNode[] = [];
  let at = byId.get(id)?.parent_id ?? null;
  // A circle in the store must not hold the page.
  while (at !== null && path.length < nodes.length) {
    const folder = byId.get(at);
    if (!folder) break;
    path.unshift(folder);
    at = folder.parent_id;
  }
  return path;
}

/** A node and everything in it. */
export function within(nodes: readonly TreeNode[], id: NodeId): TreeNode[] {
  const inside = new Set([id]);
  return nodes.filter((node) => {
    if (node.parent_id !== null && inside.has(node.parent_id)) inside.add(node.id);
    return inside.has(node.id);
  });
}

const siblingsOf = (nodes: readonly TreeNode[], parent: NodeId | null): TreeNode[] =>
  nodes.filter(({ parent_id }) => parent_id === parent);

/** Where a node lies, so that it can be put back there. */
export function placeOf(nodes: readonly TreeNode[], node: TreeNode): NodePlace {
  const position = siblingsOf(nodes, node.parent_id).findIndex(({ id }) => id === node.id);
  return { parent_id: node.parent_id, position };
}

/**
 * Where one step takes a node: past its neighbour, into the nearest folder before it among its
 * siblings, or out of its folder to stand right behind it. Null where there is no such place.
 */
export function stepped(nodes: readonly TreeNode[], node: TreeNode, step: Step): NodePlace | null {
  const siblings = siblingsOf(nodes, node.parent_id);
  const at = siblings.findIndex(({ id }) => id === node.id);
  switch (step) {
    case "up":
      return at > 0 ? { parent_id: node.parent_id, position: at - 1 } : null;
    case "down":
      return at + 1 < siblings.length ? { parent_id: node.parent_id, position: at + 1 } : null;
    case "in": {
      const folder = siblings.slice(0, at).findLast(({ kind }) => kind === "folder");
      return folder ? { parent_id: folder.id, position: null } : null;
    }
    case "out": {
      const folder = nodes.find(({ id }) => id === node.parent_id);
      if (!folder) return null;
      const behind = siblingsOf(nodes, folder.parent_id).findIndex(({ id }) => id === folder.id);
      return { parent_id: folder.parent_id, position: behind + 1 };
    }
  }
}

/** The folders that a node may go into: all but itself and what lies in it. */
export function targets(nodes: readonly TreeNode[], node: TreeNode): TreeNode[] {
  const inside = new Set(within(nodes, node.id).map(({ id }) => id));
  return nodes.filter(({ id, kind }) => kind === "folder" && !inside.has(id));
}
