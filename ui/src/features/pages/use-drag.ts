import { type PointerEvent, type RefObject, useEffect, useRef, useState } from "react";
import type { NodeId, NodePlace, TreeNode } from "~/platform/bindings";
import { type Aim, aimAt } from "./drop";
import type { Row } from "./tree";

/** A press that moves less than this is a press. */
const SLACK = 5;
/** So close to an end of the tree, in pixels, it scrolls; and by so much a step. */
const NEAR = 28;
const STEP = 9;
/** A shut folder opens after the pointer has rested on it so long, in milliseconds. */
const OPENS = 700;

export interface Drag {
  node: TreeNode;
  aim: Aim;
  /** Where the pointer is, in the window. */
  x: number;
  y: number;
}

interface Press {
  node: TreeNode;
  pointer: number;
  x: number;
  y: number;
}

/**
 * Dragging a row of the tree with a pointer. Drawn and decided here and not by the drag and drop of the
 * platform, which the web views do not all have and none lets say why a place is refused.
 */
export function useDrag({
  nodes,
  rows,
  folded,
  rowHeight,
  scroller,
  onDrop,
  onUnfold,
}: {
  nodes: readonly TreeNode[];
  rows: readonly Row[];
  folded: ReadonlySet<NodeId>;
  /** In pixels. */
  rowHeight: number;
  scroller: RefObject<HTMLElement | null>;
  onDrop: (node: TreeNode, place: NodePlace) => void;
  onUnfold: (id: NodeId) => void;
}) {
  const press = useRef<Press | null>(null);
  const dropped = useRef(false);
  const [drag, setDrag] = useState<Drag | null>(null);
  const { node, x, y, aim } = drag ?? {};

  const end = () => {
    press.current = null;
    setDrag(null);
  };
  const look = (held: TreeNode, left: number, top: number) => {
    const box = scroller.current;
    if (!box) return;
    const at = (top - box.getBoundingClientRect().top + box.scrollTop) / rowHeight;
    setDrag({ node: held, aim: aimAt(nodes, rows, folded, held, at), x: left, y: top });
  };

  useEffect(() => {
    if (!node) return;
    const leave = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      // The dialog or the list below shall not hear it too.
      event.stopPropagation();
      press.current = null;
      setDrag(null);
    };
    window.addEventListener("keydown", leave, true);
    return () => window.removeEventListener("keydown", leave, true);
  }, [node]);

  // At its ends the tree scrolls for as long as the pointer is there.
  useEffect(() => {
    const box = scroller.current;
    if (!node || !box || x === undefined || y === undefined) return;
    const { top, bottom } = box.getBoundingClientRect();
    const by = y < top + NEAR ? -STEP : y > bottom - NEAR ? STEP : 0;
    const rest = box.scrollHeight - box.clientHeight - box.scrollTop;
    if (by === 0 || (by < 0 ? box.scrollTop <= 0 : rest <= 0)) return;
    const frame = requestAnimationFrame(() => {
      box.scrollTop += by;
      look(node, x, y);
    });
    return () => cancelAnimationFrame(frame);
  });

  const resting = aim?.kind === "into" && folded.has(aim.folder.id) ? aim.folder.id : null;
  const unfold = useRef(onUnfold);
  unfold.current = onUnfold;
  useEffect(() => {
    if (resting === null) return;
    const timer = setTimeout(() => unfold.current(resting), OPENS);
    return () => clearTimeout(timer);
  }, [resting]);

  return {
    drag,
    /** For each row. */
    onPress: (held: TreeNode, event: PointerEvent) => {
      if (event.button !== 0 || event.pointerType === "touch") return;
      press.current = { node: held, pointer: event.pointerId, x: event.clientX, y: event.clientY };
    },
    /** For what holds the rows. */
    handlers: {
      onPointerMove: ({ clientX, clientY, pointerId, buttons }: PointerEvent) => {
        const held = press.current;
        if (!held || held.pointer !== pointerId) return;
        // Let go outside the window.
        if (buttons === 0) return end();
        const far = Math.hypot(clientX - held.x, clientY - held.y) > SLACK;
        if (!drag && !far) return;
        if (!drag) scroller.current?.setPointerCapture(pointerId);
        look(held.node, clientX, clientY);
      },
      onPointerUp: () => {
        if (drag) {
          dropped.current = true;
          setTimeout(() => {
            dropped.current = false;
          });
          const { aim: to } = drag;
          if (to.kind === "into" || to.kind === "between") onDrop(drag.node, to.place);
        }
        end();
      },
      onPointerCancel: end,
      // The press that ends a drag chooses nothing.
      onClickCapture: (event: { stopPropagation: () => void }) => {
        if (dropped.current) event.stopPropagation();
      },
    },
  };
}
