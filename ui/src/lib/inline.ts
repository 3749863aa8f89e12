/**
 * Markdown folded to lines of plain inline text: what a memory says, without the signs it was
 * written with. Headings, items and cells keep what they mean (weight, bullet, number), not their
 * layout. Works on the tree that the renderer has made; nothing is parsed here.
 */

/** A node of the rendered tree, as far as it is looked at. */
export interface Node {
  type: string;
  tagName?: string;
  value?: string;
  properties?: Record<string, unknown>;
  children?: Node[];
}

const text = (value: string): Node => ({ type: "text", value });
const element = (tagName: string, children: Node[]): Node => ({
  type: "element",
  tagName,
  properties: {},
  children,
});

const inlineTags = new Set(["a", "br", "code", "del", "em", "input", "strong", "sub", "sup"]);
const isInline = (node: Node): boolean =>
  node.type === "text" || (node.type === "element" && inlineTags.has(node.tagName ?? ""));
const isBlank = (node: Node): boolean => node.type === "text" && (node.value ?? "").trim() === "";

/** Folds the tree: one line of text for each block, with a line end between two. */
export function foldBlocks(root: Node): void {
  root.children = linesOf(root.children ?? []).flatMap((line, place) =>
    place === 0 ? line : [text("\n"), ...line],
  );
}

function linesOf(nodes: readonly Node[]): Node[][] {
  const lines: Node[][] = [];
  let open: Node[] = [];
  const close = () => {
    if (open.some((node) => !isBlank(node))) lines.push(open);
    open = [];
  };
  for (const node of nodes) {
    if (isInline(node)) {
      open.push(...onOneLine([node]));
      continue;
    }
    close();
    lines.push(...blockLines(node));
  }
  close();
  return lines;
}

function blockLines(node: Node): Node[][] {
  const children = node.children ?? [];
  switch (node.tagName) {
    case "p":
      return [onOneLine(children)];
    case "h1":
    case "h2":
    case "h3":
    case "h4":
    case "h5":
    case "h6":
      return [[element("strong", onOneLine(children))]];
    case "pre":
      return [onOneLine(children)];
    case "ul":
      return items(children, () => "• ");
    case "ol": {
      const first = Number(node.properties?.start ?? 1);
      return items(children, (place) => `${first + place}. `);
    }
    case "tr":
      return [
        children
          .filter((cell) => cell.type === "element")
          .flatMap((cell, place) => [
            ...(place === 0 ? [] : [text(" · ")]),
            ...onOneLine(cell.children ?? []),
          ]),
      ];
    case "hr":
      return [];
    default:
      return linesOf(children);
  }
}

function items(nodes: readonly Node[], sign: (place: number) => string): Node[][] {
  return nodes
    .filter(({ tagName }) => tagName === "li")
    .flatMap((item, place) => {
      const [first = [], ...rest] = linesOf(item.children ?? []);
      return [[text(sign(place)), ...first], ...rest];
    });
}

/** Line ends inside a block are blanks; a box to tick is a sign. */
function onOneLine(nodes: readonly Node[]): Node[] {
  return nodes.map((node) => {
    if (node.type === "text") return text((node.value ?? "").replaceAll(/\s*\n\s*/g, " "));
    if (node.tagName === "br") return text(" ");
    if (node.tagName === "input") return text(node.properties?.checked === true ? "☑" : "☐");
    return { ...node, children: onOneLine(node.children ?? []) };
  });
}

/** Marks the first place of some words, whatever their case, across bold and plain pieces. */
export function markWords(root: Node, words: string): void {
  const whole = textOf(root).toLowerCase();
  const start = words === "" ? -1 : whole.indexOf(words.toLowerCase());
  if (start < 0) return;
  const end = start + words.length;
  let at = 0;
  const walk = (nodes: readonly Node[]): Node[] =>
    nodes.flatMap((node) => {
      if (node.type !== "text") return [{ ...node, children: walk(node.children ?? []) }];
      const value = node.value ?? "";
      const from = Math.min(Math.max(start - at, 0), value.length);
      const to = Math.min(Math.max(end - at, 0), value.length);
      at += value.length;
      if (from >= to) return [node];
      return [
        text(value.slice(0, from)),
        element("mark", [text(value.slice(from, to))]),
        text(value.slice(to)),
      ].filter((piece) => piece.type !== "text" || piece.value !== "");
    });
  root.children = walk(root.children ?? []);
}

const textOf = (node: Node): string =>
  (node.value ?? "") + (node.children ?? []).map(textOf).join("");
