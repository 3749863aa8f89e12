import type { ReactNode } from "react";
import { Group, Panel, Separator, useDefaultLayout } from "react-resizable-panels";
import { cn } from "~/lib/cn";

/** Panes side by side, or stacked, with edges that can be dragged or moved with arrows; sizes are kept. */
export function Panes({
  id,
  panes,
  stacked = false,
  children,
}: {
  id: string;
  panes: string[];
  stacked?: boolean;
  children: ReactNode;
}) {
  const { defaultLayout, onLayoutChanged } = useDefaultLayout({
    id: `panes.${id}`,
    panelIds: panes,
    storage: localStorage,
  });
  return (
    <Group
      orientation={stacked ? "vertical" : "horizontal"}
      defaultLayout={defaultLayout}
      onLayoutChanged={onLayoutChanged}
      className="min-h-0 min-w-0 flex-1"
    >
      {children}
    </Group>
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
  return (
    <Panel
      id={id}
      defaultSize={width}
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
          {children}
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
