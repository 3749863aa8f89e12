import { createPortal } from "react-dom";
import { cn } from "~/lib/cn";
import { strings } from "./strings";
import type { Drag } from "./use-drag";

const words = strings.drag;

/** Where a dragged row would go, drawn over the tree, and its words beside the pointer. */
export function DragMarks({
  drag,
  height,
  indent,
}: {
  drag: Drag;
  /** Of a row, in rem. */
  height: number;
  /** Room before what lies at a depth, in rem. */
  indent: (depth: number) => number;
}) {
  const { node, aim, x, y } = drag;
  return (
    <>
      {(aim.kind === "into" || aim.kind === "refused") && (
        <div
          aria-hidden="true"
          data-drop={aim.kind}
          className={cn(
            "pointer-events-none absolute inset-x-1 top-0 rounded-md border-2",
            aim.kind === "into" ? "border-accent" : "border-bad border-dashed",
          )}
          style={{ height: `${height}rem`, transform: `translateY(${aim.row * height}rem)` }}
        />
      )}
      {aim.kind === "between" && (
        <div
          aria-hidden="true"
          data-drop="between"
          className="pointer-events-none absolute top-0 right-2 h-0.5 rounded-full bg-accent"
          style={{
            left: `${indent(aim.depth)}rem`,
            transform: `translateY(calc(${aim.row * height}rem - 1px))`,
          }}
        />
      )}
      {createPortal(
        <div
          aria-hidden="true"
          data-drag
          className="pointer-events-none fixed top-0 left-0 z-50 max-w-80 rounded-md bg-raised px-3 py-1.5 shadow-float"
          style={{ transform: `translate(${x + 14}px, ${y + 10}px)` }}
        >
          <p className="truncate font-medium">{node.name}</p>
          <p className={cn("type-small", aim.kind === "refused" ? "text-bad" : "text-muted")}>
            {wordsOf(drag)}
          </p>
        </div>,
        document.body,
      )}
    </>
  );
}

/** What happens when it is let go here. */
function wordsOf({ node, aim }: Drag): string {
  switch (aim.kind) {
    case "stay":
      return words.stay;
    case "into":
      return words.into(aim.folder.name);
    case "between":
      return words.between((aim.place.position ?? 0) + 1, aim.folder?.name ?? strings.root);
    case "refused":
      return aim.why === "itself"
        ? words.itself
        : words.taken(aim.folder?.name ?? strings.root, node.name);
  }
}
