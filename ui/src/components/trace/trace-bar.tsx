import { Maximize2, Search, ZoomIn, ZoomOut } from "lucide-react";
import type { KeyboardEvent, ReactNode, Ref } from "react";
import { IconButton } from "~/components/button";
import { FilterField } from "~/components/field";
import { Segmented } from "~/components/segmented";
import { cn } from "~/lib/cn";
import type { Span } from "./spans";
import { words } from "./words";

export type Which = "all" | Span["kind"];

/** What can be done with a trace: find words, show one kind, see what it waited for, look nearer. */
export function TraceBar({
  head,
  field,
  find,
  onFind,
  found,
  onFound,
  which,
  onWhich,
  critical,
  onCritical,
  onZoom,
}: {
  head: ReactNode;
  field: Ref<HTMLInputElement>;
  find: string;
  onFind: (text: string) => void;
  /** Which of the matches is chosen, from 1, and how many there are. */
  found: { at: number; all: number };
  onFound: (by: number) => void;
  which: Which;
  onWhich: (which: Which) => void;
  critical: boolean;
  onCritical: (on: boolean) => void;
  /** Half, twice, or the whole. */
  onZoom: (factor: number | null) => void;
}) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") onFound(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape" && find !== "") onFind("");
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="flex min-h-9 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 px-4 py-1">
      {head}
      <div className="ml-auto flex flex-wrap items-center gap-2">
        <FilterField
          ref={field}
          label={words.find}
          icon={Search}
          value={find}
          onChange={({ target }) => onFind(target.value)}
          onKeyDown={onKeyDown}
          className="h-6 w-44 max-[1100px]:w-36"
          after={
            find.trim() !== "" && (
              <span role="status" className="type-small whitespace-nowrap text-faint">
                {words.found(found.at, found.all)}
              </span>
            )
          }
        />
        <Segmented
          label={words.which}
          value={which}
          onValue={onWhich}
          segments={(["all", "model", "tool"] as const).map((value) => ({
            value,
            label: words.whichOf[value],
          }))}
        />
        <button
          type="button"
          aria-pressed={critical}
          onClick={() => onCritical(!critical)}
          className={cn(
            "type-small h-6 rounded-md px-2",
            critical ? "bg-selected font-semibold text-text" : "text-muted hover:bg-hover",
          )}
        >
          {words.critical}
        </button>
        <span className="flex">
          <IconButton small icon={ZoomOut} name={words.zoomOut} onClick={() => onZoom(2)} />
          <IconButton small icon={ZoomIn} name={words.zoomIn} onClick={() => onZoom(0.5)} />
          <IconButton small icon={Maximize2} name={words.fit} onClick={() => onZoom(null)} />
        </span>
      </div>
    </div>
  );
}
