import { useNavigate } from "@tanstack/react-router";
import { FolderPlus, Plus, Search } from "lucide-react";
import { type ReactNode, useDeferredValue, useMemo, useRef, useState } from "react";
import { Button } from "~/components/button";
import { Empty } from "~/components/empty";
import { FilterField } from "~/components/field";
import { Keys } from "~/components/keys";
import { Pane, PaneEdge, PaneHead, Panes } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { SkeletonRows } from "~/components/skeleton";
import { useCommands } from "~/keys/use-commands";
import { useCover } from "~/lib/use-cover";
import type { BankId, NodeId, TreeNode } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { AdoptDialog } from "./adopt-dialog";
import { Hits } from "./hits";
import { ImportDialog } from "./import-dialog";
import { MoveDialog } from "./move-dialog";
import { type NodeActs, NodeDetail } from "./node-detail";
import { FolderDialog, PageDialog, RemoveDialog, RenameDialog } from "./node-dialogs";
import { PagesTree } from "./pages-tree";
import { strings } from "./strings";
import { above, rowsOf } from "./tree";
import { useActs } from "./use-acts";

type Dialog = "folder" | "page" | "adopt" | "import" | "rename" | "move" | "remove" | null;

/** Models as folders and pages: browse them, put them in order, save them as files, read files in. */
export function PagesScreen({
  bank,
  node: chosen,
  words,
  layout,
  onNode,
  onWords,
}: {
  bank: BankId;
  node: NodeId | null;
  /** What is looked for. */
  words: string;
  /** The way back to the list. */
  layout: ReactNode;
  onNode: (id: NodeId | null) => void;
  onWords: (words: string) => void;
}) {
  const cover = useCover(chosen !== null);
  const { narrow } = cover;
  const navigate = useNavigate();
  const field = useRef<HTMLInputElement>(null);
  const tree = useRead("pageTree", [bank]);
  const listed = useRead("listModels", [bank]).data;
  const models = useMemo(() => new Map((listed ?? []).map((row) => [row.id, row])), [listed]);
  const nodes = tree.data ?? none;
  const node = nodes.find(({ id }) => id === chosen);
  const [folded, setFolded] = useState<ReadonlySet<NodeId>>(new Set());
  const rows = useMemo(() => rowsOf(nodes, folded), [nodes, folded]);
  const [dialog, setDialog] = useState<Dialog>(null);
  const acts = useActs(bank, nodes);
  const query = useDeferredValue(words.trim());

  const fold = (id: NodeId, shut: boolean) => {
    const next = new Set(folded);
    if (shut) {
      next.add(id);
      // What is chosen stays in view.
      if (chosen && above(nodes, chosen).some((folder) => folder.id === id)) onNode(id);
    } else next.delete(id);
    setFolded(next);
  };
  /** Chooses a node and unfolds what it lies in. */
  const show = (id: NodeId) => {
    const open = new Set(folded);
    for (const folder of above(nodes, id)) open.delete(folder.id);
    setFolded(open);
    onNode(id);
  };
  const openPage = (page: TreeNode) => {
    if (!page.page) return;
    void navigate({
      to: "/b/$bank/models/$model/{-$tab}",
      params: { bank, model: page.page.mental_model_id, tab: undefined },
    });
  };
  const into =
    node?.kind === "folder" ? node : node && nodes.find(({ id }) => id === node.parent_id);
  const own = (act: (of: TreeNode) => void) => (node ? () => act(node) : strings.noneChosen);
  const ask = (which: Dialog) => own(() => setDialog(which));
  const step = (which: "up" | "down" | "in" | "out") =>
    node ? acts.step(node, which) : strings.noneChosen;
  const hasPages = nodes.some(({ kind }) => kind === "page");
  const save = () => void acts.save();
  useCommands({
    "pages.newPage": () => setDialog("page"),
    "pages.newFolder": () => setDialog("folder"),
    "pages.find": () => field.current?.focus(),
    "pages.rename": ask("rename"),
    "pages.move": ask("move"),
    "pages.delete": ask("remove"),
    "pages.up": step("up"),
    "pages.down": step("down"),
    "pages.in": step("in"),
    "pages.out": step("out"),
    "pages.adopt": () => setDialog("adopt"),
    "pages.import": () => setDialog("import"),
    "pages.save": hasPages ? save : strings.nothingToExport,
  });

  const nodeActs: NodeActs = {
    rename: () => setDialog("rename"),
    move: () => setDialog("move"),
    remove: () => setDialog("remove"),
    step,
    release: () => node && acts.release(node, () => onNode(node.parent_id)),
  };
  const detail = node && (
    <NodeDetail
      key={node.id}
      bank={bank}
      nodes={nodes}
      node={node}
      model={node.page ? models.get(node.page.mental_model_id) : undefined}
      acts={nodeActs}
      onNode={show}
      onClose={narrow ? cover.close : null}
    />
  );
  // A node that is gone covers nothing.
  const covers = cover.covers && node !== undefined;
  const body = () => {
    if (tree.error)
      return (
        <div className="p-4">
          <ReportCard report={tree.error} onRetry={() => void tree.refetch()} />
        </div>
      );
    if (tree.isPending) return <SkeletonRows height="2rem" />;
    if (nodes.length === 0)
      return <NoPages onPage={() => setDialog("page")} onFolder={() => setDialog("folder")} />;
    if (query !== "")
      return (
        <Hits
          bank={bank}
          query={query}
          active={chosen}
          onNode={(id, pressed) => {
            show(id);
            if (pressed) cover.look();
          }}
          onLook={cover.look}
          onClear={() => onWords("")}
        />
      );
    return (
      <PagesTree
        nodes={nodes}
        rows={rows}
        folded={folded}
        models={models}
        active={node?.id ?? null}
        onActive={onNode}
        onFold={fold}
        onOpen={openPage}
        onLook={cover.look}
        onDrop={acts.move}
      />
    );
  };
  return (
    <>
      <Panes id={narrow ? "pages-narrow" : "pages"}>
        {covers ? (
          <Pane id="one" label={strings.detail}>
            {detail}
          </Pane>
        ) : (
          <Pane id={narrow ? "one" : "list"} label={strings.tree}>
            <PaneHead level={1} title={strings.title}>
              {layout}
              <Button
                icon={FolderPlus}
                command="pages.newFolder"
                onClick={() => setDialog("folder")}
              >
                {strings.newFolder}
              </Button>
              <Button
                // One primary action a screen: an empty one has its own further down.
                kind={tree.data?.length === 0 ? "normal" : "primary"}
                icon={Plus}
                command="pages.newPage"
                onClick={() => setDialog("page")}
              >
                {strings.newPage}
              </Button>
            </PaneHead>
            {tree.data && (
              <div className="flex flex-wrap items-center gap-2 border-line border-b px-4 py-2">
                {nodes.length > 0 && (
                  <FilterField
                    ref={field}
                    label={strings.find}
                    icon={Search}
                    value={words}
                    onChange={({ target }) => onWords(target.value)}
                    onKeyDown={({ key }) => {
                      if (key === "Escape") onWords("");
                    }}
                    after={<Keys of="pages.find" />}
                    className="max-w-[26rem] flex-1"
                  />
                )}
                <Button className="ml-auto" onClick={() => setDialog("adopt")}>
                  {strings.adopt.open}
                </Button>
                {/* Stays while the first pages arrive, so that the focus comes back to it. */}
                <Button onClick={() => setDialog("import")}>{strings.import.open}</Button>
                {nodes.length > 0 && (
                  <Button
                    disabled={acts.busy}
                    unavailable={hasPages ? undefined : strings.nothingToExport}
                    onClick={save}
                  >
                    {strings.export}
                  </Button>
                )}
              </div>
            )}
            {acts.report && dialog !== "move" && (
              <div className="border-line border-b p-4">
                <ReportCard report={acts.report} />
              </div>
            )}
            {body()}
          </Pane>
        )}
        {!narrow && (
          <>
            <PaneEdge label={strings.edge} />
            <Pane id="one" as="aside" label={strings.detail} width="416px" min="280px" max="720px">
              {detail ?? <About nodes={nodes} />}
            </Pane>
          </>
        )}
      </Panes>
      {dialog === "folder" && (
        <FolderDialog
          bank={bank}
          into={into ?? null}
          onMade={show}
          onClose={() => setDialog(null)}
        />
      )}
      {dialog === "page" && (
        <PageDialog bank={bank} into={into ?? null} onMade={show} onClose={() => setDialog(null)} />
      )}
      {dialog === "adopt" && (
        <AdoptDialog
          bank={bank}
          nodes={nodes}
          into={into ?? null}
          onShow={show}
          onClose={() => setDialog(null)}
        />
      )}
      {dialog === "import" && (
        <ImportDialog
          bank={bank}
          into={into ?? null}
          onShow={show}
          onClose={() => setDialog(null)}
        />
      )}
      {dialog === "rename" && node && (
        <RenameDialog bank={bank} node={node} onClose={() => setDialog(null)} />
      )}
      {dialog === "move" && node && (
        <MoveDialog
          nodes={nodes}
          node={node}
          busy={acts.busy}
          report={acts.report}
          onMove={(parent_id) =>
            acts.move(node, { parent_id, position: null }, () => setDialog(null))
          }
          onClose={() => setDialog(null)}
        />
      )}
      {dialog === "remove" && node && (
        <RemoveDialog
          bank={bank}
          nodes={nodes}
          node={node}
          onGone={() => onNode(node.parent_id)}
          onClose={() => setDialog(null)}
        />
      )}
    </>
  );
}

const none: readonly TreeNode[] = [];

function NoPages({ onPage, onFolder }: { onPage: () => void; onFolder: () => void }) {
  const words = strings.empty;
  return (
    <Empty
      title={words.title}
      example={words.example}
      actions={
        <>
          <Button kind="primary" onClick={onPage}>
            {strings.newPage}
          </Button>
          <Button onClick={onFolder}>{strings.newFolder}</Button>
        </>
      }
    >
      <p>{words.about}</p>
    </Empty>
  );
}

/** While nothing is chosen: how much there is, and what a page is. */
function About({ nodes }: { nodes: readonly TreeNode[] }) {
  const folders = nodes.filter(({ kind }) => kind === "folder").length;
  return (
    <div className="grid gap-2 p-4 text-pretty text-faint">
      {nodes.length > 0 && <p>{strings.counts(folders, nodes.length - folders)}</p>}
      <p>{strings.about}</p>
    </div>
  );
}
