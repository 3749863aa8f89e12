import { type PointerEvent, type RefObject, useEffect, useState } from "react";
import { type Row, stem } from "./rows";

interface Drag {
  row: Row;
  /** The place among its neighbours where it would be put down. */
  to: number;
}

/**
 * Rows dragged by their grip among their neighbours. For the pointer alone: keys and the menu of a row
 * move it as well, and further.
 */
export function useDrag(
  list: RefObject<HTMLElement | null>,
  fields: readonly Row[],
  onDrop: (row: Row, to: number) => void,
) {
  const [drag, setDrag] = useState<Drag | null>(null);
  const dragging = drag !== null;
  useEffect(() => {
    if (!dragging) return;
    const leave = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      setDrag(null);
    };
    window.addEventListener("keydown", leave, true);
    return () => window.removeEventListener("keydown", leave, true);
  }, [dragging]);

  const drawn = ({ id }: Row) => list.current?.querySelector(`[data-field="${id}"]`);
  /** How many of the neighbours lie above the pointer. */
  const placeAt = (row: Row, y: number) =>
    fields.filter((other) => {
      if (other.key === row.key || stem(other.id) !== stem(row.id)) return false;
      const box = drawn(other)?.getBoundingClientRect();
      return box !== undefined && box.top + box.height / 2 < y;
    }).length;

  return {
    /** On which side of this row the dragged one would be put down. */
    edgeOf: (row: Row): "before" | "after" | null => {
      if (!drag || drag.to === drag.row.place) return null;
      if (stem(row.id) !== stem(drag.row.id) || row.place !== drag.to) return null;
      return drag.to < drag.row.place ? "before" : "after";
    },
    isDragged: (row: Row) => drag?.row.key === row.key,
    grip: (row: Row) => ({
      onPointerDown: (event: PointerEvent) => {
        if (event.button !== 0) return;
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        setDrag({ row, to: row.place });
      },
      onPointerMove: (event: PointerEvent) => {
        if (!dragging) return;
        const to = placeAt(row, event.clientY);
        setDrag({ row, to });
        const target = fields.find(
          (other) => stem(other.id) === stem(row.id) && other.place === to,
        );
        if (target) drawn(target)?.scrollIntoView({ block: "nearest" });
      },
      onPointerUp: () => {
        if (drag && drag.to !== row.place) onDrop(row, drag.to);
        setDrag(null);
      },
      onPointerCancel: () => setDrag(null),
    }),
  };
}

export type Grip = ReturnType<ReturnType<typeof useDrag>["grip"]>;
