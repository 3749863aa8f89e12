import { createContext, type ReactNode, use, useRef, useState } from "react";
import { ErrorBoundary } from "react-error-boundary";
import {
  Group,
  type Layout,
  type LayoutChangedMeta,
  Panel,
  Separator,
} from "react-resizable-panels";
import { cn } from "~/lib/cn";
import { BrokenPane } from "./report";

/** Name of the group that a pane stands in, for finding the width that a person gave it. */
const GroupContext = createContext("");

const storedKey = (group: string) => `panes.${group}`;

function storedWidths(group: string): Record<string, number> {
  try {
    return JSON.parse(localStorage.getItem(storedKey(group)) ?? "{}") as Record<string, number>;
  } catch {
    return {};
  }
}

/**
 * Panes side by side, or stacked, with edges that can be dragged or moved with arrows. What a person
 * drags is kept, in pixels: shares of a width that changes with the panes around it would grow with it.
 */
export function Panes({
  id,
  stacked = false,
  children,
}: {
  id: string;
  stacked?: boolean;
  children: ReactNode;
}) {
  const group = useRef<HTMLDivElement>(null);
  const keep = (layout: Layout, { isUserInteraction }: LayoutChangedMeta) => {
    if (!isUserInteraction || !group.current) return;
    const whole = stacked ? group.current.offsetHeight : group.current.offsetWidth;
    const sizes = Object.entries(layout).map(([pane, share]) => [
      pane,
      Math.round((whole * share) / 100),
    ]);
    const kept = { ...storedWidths(id), ...Object.fromEntries(sizes) };
    localStorage.setItem(storedKey(id), JSON.stringify(kept));
  };
  return (
    <GroupContext value={id}>
      <Group
        elementRef={group}
        orientation={stacked ? "vertical" : "horizontal"}
        onLayoutChanged={keep}
        className="min-h-0 min-w-0 flex-1"
      >
        {children}
      </Group>
    </GroupContext>
  );
}

/** One of the panes. `role` and `label` make it a landmark that F6 reaches. */
export function Pane({
  id,
  label,
  as: Element = "section",
  width,
  min,
  max,
  bare = false,
  className,
  children,
}: {
  id: string;
  label: string;
  /** Only a place for panes of its own, no landmark. */
  bare?: boolean;
  as?: "section" | "aside";
  /** A width that is kept when the window grows; the pane without one takes what is left. */
  width?: string;
  min?: string;
  max?: string;
  className?: string;
  children: ReactNode;
}) {
  const group = use(GroupContext);
  const [kept] = useState(() => (width === undefined ? undefined : storedWidths(group)[id]));
  return (
    <Panel
      id={id}
      defaultSize={kept === undefined ? width : `${kept}px`}
      minSize={min}
      maxSize={max}
      groupResizeBehavior={width ? "preserve-pixel-size" : "preserve-relative-size"}
      className="flex"
    >
      {bare ? (
        children
      ) : (
        <Element
          aria-label={label}
          data-pane
          tabIndex={-1}
          data-focus-inside
          className={cn("flex min-h-0 min-w-0 flex-1 flex-col", className)}
        >
          {/* A part that breaks does not take the screen with it; it is drawn anew with new data. */}
          <ErrorBoundary FallbackComponent={BrokenPane} resetKeys={[children]}>
            {children}
          </ErrorBoundary>
        </Element>
      )}
    </Panel>
  );
}

export function PaneEdge({ label, stacked = false }: { label: string; stacked?: boolean }) {
  return (
    <Separator
      aria-label={label}
      className={cn(
        "relative bg-line outline-none after:absolute after:z-1 focus-visible:bg-focus focus-visible:after:bg-focus data-[separator=active]:bg-focus data-[separator=hover]:bg-control",
        stacked ? "h-px after:inset-x-0 after:-inset-y-1" : "w-px after:inset-y-0 after:-inset-x-1",
      )}
    />
  );
}

/** The head of a pane: title, count, things at the end. */
export function PaneHead({
  title,
  about,
  children,
  level = 2,
  className,
}: {
  title: ReactNode;
  about?: ReactNode;
  children?: ReactNode;
  level?: 1 | 2;
  className?: string;
}) {
  const Title = level === 1 ? "h1" : "h2";
  return (
    <div
      className={cn(
        "flex min-h-bar shrink-0 items-center gap-2 border-line border-b px-4",
        className,
      )}
    >
      <Title className="type-strong truncate">{title}</Title>
      {about && <span className="truncate text-faint">{about}</span>}
      {children && <div className="ml-auto flex shrink-0 items-center gap-2">{children}</div>}
    </div>
  );
}
