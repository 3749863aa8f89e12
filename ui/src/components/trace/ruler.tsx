import { type PointerEvent, useRef, useState } from "react";
import { cn } from "~/lib/cn";
import { duration } from "~/lib/format";
import { type Stretch, within } from "./look";
import { rulerStep } from "./spans";
import { columns, laneShare } from "./waterfall-row";
import { words } from "./words";

/** A drag shorter than this share of the lane is a press. */
const aPress = 0.01;

/** The times of the stretch in view. What is dragged over becomes the stretch; a press shows it all. */
export function Ruler({
  view,
  total,
  onStretch,
}: {
  view: Stretch;
  total: number;
  onStretch: (stretch: Stretch | null) => void;
}) {
  const lane = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const length = view.to - view.from;
  const step = rulerStep(length);
  const first = Math.ceil(view.from / step);
  const marks = Array.from(
    { length: Math.max(0, Math.floor(view.to / step) - first + 1) },
    (_, place) => (first + place) * step,
  );
  const momentOf = (event: PointerEvent) => {
    const { left = 0, width = 1 } = lane.current?.getBoundingClientRect() ?? {};
    const share = Math.max(0, Math.min(1, (event.clientX - left) / (width * laneShare)));
    return view.from + share * length;
  };
  const at = (moment: number) => ((moment - view.from) / length) * laneShare * 100;
  const end = () => {
    if (drag) {
      const [from, to] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)];
      onStretch(to - from < length * aPress ? null : within(total, from, to));
    }
    setDrag(null);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: as the rows below it
    // biome-ignore lint/a11y/useFocusableInteractive: the table itself holds the focus
    <div
      role="row"
      aria-rowindex={1}
      className={cn(columns, "type-label sticky top-0 z-1 bg-ground text-faint")}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: as above */}
      <div role="columnheader" className="flex h-6 items-center border-line border-r px-4">
        {words.name}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: the keys + - 0 do the same */}
      <div
        ref={lane}
        role="columnheader"
        className="relative h-6 cursor-col-resize touch-none select-none overflow-hidden"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture?.(event.pointerId);
          const moment = momentOf(event);
          setDrag({ from: moment, to: moment });
        }}
        onPointerMove={(event) => drag && setDrag({ ...drag, to: momentOf(event) })}
        onPointerUp={end}
        onPointerCancel={() => setDrag(null)}
      >
        <span className="sr-only">{`${words.kind}, ${words.start}, ${words.took}`}</span>
        {marks.map((mark) => (
          <span
            key={mark}
            aria-hidden="true"
            className="absolute top-1 border-line border-l pl-1"
            style={{ left: `${at(mark)}%` }}
          >
            {mark === 0 ? "0" : duration(mark).replace(".0 ", " ")}
          </span>
        ))}
        {drag && (
          <span
            aria-hidden="true"
            className="absolute inset-y-0 bg-selected opacity-60"
            style={{
              left: `${at(Math.min(drag.from, drag.to))}%`,
              width: `${(Math.abs(drag.to - drag.from) / length) * laneShare * 100}%`,
            }}
          />
        )}
      </div>
    </div>
  );
}
