/** Expressions over tags as a person edits them, and as they are stored. */
import type { JsonValue, TagGroup, TagsMatch } from "~/platform/bindings";

/** `none` stands for "not one of": a `not` around an `or`. */
export type Join = "and" | "or" | "none";

export type GroupNode =
  | { id: number; kind: "leaf"; tags: string; match: TagsMatch }
  | { id: number; kind: Join; members: GroupNode[] };

let ids = 0;
/** Ids are for the page alone: they keep the focus where it is. */
const freshId = () => {
  ids += 1;
  return ids;
};

export const newLeaf = (): GroupNode => ({
  id: freshId(),
  kind: "leaf",
  tags: "",
  match: "any_strict",
});

export const newGroup = (): GroupNode => ({ id: freshId(), kind: "or", members: [newLeaf()] });

/** The same expression under ids that are free now: it was kept while others were given out. */
export function renewed(nodes: readonly GroupNode[]): GroupNode[] {
  return nodes.map((node) =>
    node.kind === "leaf"
      ? { ...node, id: freshId() }
      : { ...node, id: freshId(), members: renewed(node.members) },
  );
}

export function nodesOf(groups: readonly TagGroup[]): GroupNode[] {
  return groups.map(nodeOf);
}

function nodeOf(group: TagGroup): GroupNode {
  const id = freshId();
  if ("and" in group && group.and) return { id, kind: "and", members: nodesOf(group.and) };
  if ("or" in group && group.or) return { id, kind: "or", members: nodesOf(group.or) };
  if ("not" in group && group.not) {
    const inner = group.not;
    const members = "or" in inner && inner.or ? inner.or : [inner];
    return { id, kind: "none", members: nodesOf(members) };
  }
  const leaf = group as Extract<TagGroup, { tags: string[] }>;
  return { id, kind: "leaf", tags: leaf.tags.join(", "), match: leaf.match };
}

export function groupsOf(nodes: readonly GroupNode[]): JsonValue {
  return nodes.map(groupOf);
}

function groupOf(node: GroupNode): JsonValue {
  if (node.kind === "leaf") return { tags: tagsOf(node.tags), match: node.match };
  const members = node.members.map(groupOf);
  if (node.kind !== "none") return { [node.kind]: members };
  const [only] = members;
  return { not: members.length === 1 && only !== undefined ? only : { or: members } };
}

/** Tags as typed: separated by commas. */
export function tagsOf(text: string): string[] {
  const tags = text
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
  return [...new Set(tags)];
}

/** Whether nothing is left open: no group without members, no condition without tags. */
export function isWhole(nodes: readonly GroupNode[]): boolean {
  return nodes.every((node) =>
    node.kind === "leaf"
      ? tagsOf(node.tags).length > 0
      : node.members.length > 0 && isWhole(node.members),
  );
}

/** A group changed at one place; null takes the place away. */
export function changed(
  nodes: readonly GroupNode[],
  id: number,
  to: GroupNode | null,
): GroupNode[] {
  return nodes.flatMap((node) => {
    if (node.id === id) return to === null ? [] : [to];
    return node.kind === "leaf" ? [node] : [{ ...node, members: changed(node.members, id, to) }];
  });
}
