import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { ChevronDown, ChevronRight, FileText, Folder } from "lucide-react";
import { type KeyboardEvent, useEffect, useId, useRef } from "react";
import { Badge } from "~/components/badge";
import { Icon } from "~/components/icon";
import { ModelStateWord } from "~/components/model-state";
import { cn } from "~/lib/cn";
import { withIndex } from "~/lib/range";
import { useRem } from "~/lib/use-rem";
import type { ModelId, ModelRow, NodeId, NodePlace, TreeNode } from "~/platform/bindings";
import { DragMarks } from "./drag-marks";
import { strings } from "./strings";
import type { Row } from "./tree";
import { useDrag } from "./use-drag";

const words = strings.row;
/** Height of a row in rem. */
const HEIGHT = 2;
/** Room before what lies at a depth, in rem. */
const indent = (depth: number) => 0.5 + Math.min(depth, 12) * 1.25;

/** Folders and pages. The focus stays on the tree; only rows in view are in the page. */
export function PagesTree({
  nodes,
  rows,
  folded,
  models,
  active,
  onActive,
  onFold,
  onOpen,
  onLook,
  onDrop,
}: {
  nodes: readonly TreeNode[];
  rows: readonly Row[];
  folded: ReadonlySet<NodeId>;
  models: ReadonlyMap<ModelId, ModelRow>;
  active: NodeId | null;
  onActive: (id: NodeId) => void;
  onFold: (id: NodeId, shut: boolean) => void;
  /** Enter or a double press on a page. */
  onOpen: (node: TreeNode) => void;
  /** Space or a press: what it is, where that does not stand beside the tree. */
  onLook: () => void;
  /** A row was dragged there. */
  onDrop: (node: TreeNode, place: NodePlace) => void;
}) {
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const rem = useRem();
  const at = rows.findIndex(({ node }) => node.id === active);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => HEIGHT * rem,
    getItemKey: (index) => rows[index]?.node.id ?? index,
    overscan: 8,
    // The active row stays in the page, so that it can be told to readers.
    rangeExtractor: (range) => withIndex(defaultRangeExtractor(range), at),
  });
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: "auto" });
  }, [at, virtual]);

  const { drag, onPress, handlers } = useDrag({
    nodes,
    rows,
    folded,
    rowHeight: HEIGHT * rem,
    scroller,
    onDrop,
    onUnfold: (folder) => onFold(folder, false),
  });

  const goTo = (index: number) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (row) onActive(row.node.id);
  };
  const act = ({ node, holds }: Row) => {
    if (node.kind === "page") onOpen(node);
    else if (holds > 0) onFold(node.id, !folded.has(node.id));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const here = rows[at];
    const moves: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      j: at + 1,
      k: at - 1,
      Home: 0,
      End: rows.length - 1,
      PageDown: at + 10,
      PageUp: at - 10,
    };
    const target = moves[event.key];
    if (target !== undefined) goTo(target);
    else if (!here) return;
    else if (event.key === "Enter") act(here);
    else if (event.key === " ") onLook();
    else if (event.key === "ArrowRight") {
      if (folded.has(here.node.id)) onFold(here.node.id, false);
      else if (here.holds > 0) goTo(at + 1);
    } else if (event.key === "ArrowLeft") {
      if (here.holds > 0 && !folded.has(here.node.id)) onFold(here.node.id, true);
      else if (here.node.parent_id !== null) onActive(here.node.parent_id);
    } else return;
    event.preventDefault();
  };

  return (
    <div
      ref={scroller}
      role="tree"
      aria-label={strings.tree}
      aria-activedescendant={at >= 0 ? `${id}-${active}` : undefined}
      tabIndex={0}
      data-focus-inside
      onKeyDown={onKeyDown}
      {...handlers}
      className={cn("scroll-quiet min-h-0 flex-1 select-none", drag && "cursor-grabbing")}
    >
      <div role="presentation" className="relative" style={{ height: virtual.getTotalSize() }}>
        {drag && <DragMarks drag={drag} height={HEIGHT} indent={indent} />}
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const row = rows[index];
          if (!row) return null;
          const { node } = row;
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the tree, which holds the focus
            // biome-ignore lint/a11y/useFocusableInteractive: told by aria-activedescendant
            <div
              key={key}
              id={`${id}-${node.id}`}
              role="treeitem"
              aria-level={node.depth + 1}
              aria-posinset={row.place + 1}
              aria-setsize={row.of}
              aria-selected={node.id === active}
              aria-expanded={row.holds > 0 ? !folded.has(node.id) : undefined}
              onClick={() => {
                onActive(node.id);
                onLook();
              }}
              onDoubleClick={() => act(row)}
              onPointerDown={(event) => onPress(node, event)}
              className={cn(
                "absolute inset-x-0 top-0 flex items-center gap-2 border-line border-b pr-4",
                node.id === active ? "bg-selected" : !drag && "hover:bg-hover",
                node.id === drag?.node.id && "opacity-50",
              )}
              style={{
                height: `${HEIGHT}rem`,
                transform: `translateY(${start}px)`,
                paddingLeft: `${indent(node.depth)}rem`,
              }}
            >
              <Line row={row} folded={folded.has(node.id)} models={models} onFold={onFold} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Line({
  row: { node, holds },
  folded,
  models,
  onFold,
}: {
  row: Row;
  folded: boolean;
  models: ReadonlyMap<ModelId, ModelRow>;
  onFold: (id: NodeId, shut: boolean) => void;
}) {
  const model = node.page ? models.get(node.page.mental_model_id) : undefined;
  return (
    <>
      {holds > 0 ? (
        // The keys of the tree fold it as well.
        <button
          type="button"
          tabIndex={-1}
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation();
            onFold(node.id, !folded);
          }}
          onDoubleClick={(event) => event.stopPropagation()}
          className="grid size-6 shrink-0 place-items-center text-faint"
        >
          <Icon of={folded ? ChevronRight : ChevronDown} small />
        </button>
      ) : (
        <span className="w-6 shrink-0" />
      )}
      <Icon of={node.kind === "folder" ? Folder : FileText} className="text-muted" />
      <span className="sr-only">{words[node.kind]} </span>
      <span className={cn("min-w-0 truncate", node.kind === "folder" && "font-medium")}>
        {node.name}
      </span>
      {node.managed && <Badge>{words.managed}</Badge>}
      <span className="type-small ml-auto flex shrink-0 items-center text-faint">
        {node.kind === "folder"
          ? words.holds(holds)
          : model && <ModelStateWord model={model} className="text-muted" />}
      </span>
    </>
  );
}
