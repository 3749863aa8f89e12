import { Link } from "@tanstack/react-router";
import { MoreHorizontal, X } from "lucide-react";
import type { ReactNode } from "react";
import { Tag } from "~/components/badge";
import { Button, IconButton } from "~/components/button";
import { Markdown } from "~/components/markdown";
import { Menu, MenuItem, MenuSeparator } from "~/components/menu";
import { ModelStateWord } from "~/components/model-state";
import { PaneHead } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { Shown } from "~/components/shown";
import { SkeletonRows } from "~/components/skeleton";
import { copyText } from "~/lib/copy";
import { dayTime } from "~/lib/format";
import { scheduleWords } from "~/lib/schedule";
import type { BankId, ModelRow, NodeId, PageFields, TreeNode } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { strings } from "./strings";
import { above, type Step } from "./tree";

export interface NodeActs {
  rename: () => void;
  move: () => void;
  remove: () => void;
  /** Leaves the model of a page and takes its place away. */
  release: () => void;
  /** A sentence where there is no such place. */
  step: (step: Step) => string | (() => void);
}

/** One folder or page: what it is, what stands in it, and what can be done with it. */
export function NodeDetail({
  bank,
  nodes,
  node,
  model,
  acts,
  onNode,
  onClose,
}: {
  bank: BankId;
  nodes: readonly TreeNode[];
  node: TreeNode;
  /** The model of a page, where it is known. */
  model: ModelRow | undefined;
  acts: NodeActs;
  onNode: (id: NodeId) => void;
  /** Given where the detail covers the tree. */
  onClose: (() => void) | null;
}) {
  const path = above(nodes, node.id).map(({ name }) => name);
  return (
    <>
      <PaneHead title={node.name}>
        <ActsMenu bank={bank} node={node} acts={acts} />
        {onClose && <IconButton icon={X} small name={strings.tree} onClick={onClose} />}
      </PaneHead>
      <ScrollText label={node.name} className="px-4 py-4">
        <p className="type-small text-faint">{strings.page.where(path)}</p>
        {node.page ? (
          <Page bank={bank} node={node} page={node.page} model={model} />
        ) : (
          <Inside nodes={nodes} folder={node} onNode={onNode} />
        )}
      </ScrollText>
    </>
  );
}

function ActsMenu({ bank, node, acts }: { bank: BankId; node: TreeNode; acts: NodeActs }) {
  const words = strings.acts;
  // The same reading as the text below the menu.
  const text = useRead("pageText", node.page ? [bank, node.id] : null).data;
  const step = (which: Step) => {
    const act = acts.step(which);
    return (
      <MenuItem
        command={`pages.${which}`}
        disabled={typeof act === "string"}
        onSelect={() => typeof act === "function" && act()}
      >
        {words[which]}
      </MenuItem>
    );
  };
  return (
    <Menu trigger={<IconButton icon={MoreHorizontal} small name={words.more(node.name)} />}>
      <MenuItem command="pages.rename" onSelect={acts.rename}>
        {words.rename}
      </MenuItem>
      <MenuItem command="pages.move" onSelect={acts.move}>
        {words.move}
      </MenuItem>
      <MenuSeparator />
      {step("up")}
      {step("down")}
      {step("in")}
      {step("out")}
      {text && (
        <>
          <MenuSeparator />
          <MenuItem onSelect={() => void copyText(text.markdown)}>{strings.page.copy}</MenuItem>
        </>
      )}
      <MenuSeparator />
      {node.page && <MenuItem onSelect={acts.release}>{words.release}</MenuItem>}
      <MenuItem danger command="pages.delete" onSelect={acts.remove}>
        {words.remove}
      </MenuItem>
    </Menu>
  );
}

function Page({
  bank,
  node,
  page,
  model,
}: {
  bank: BankId;
  node: TreeNode;
  page: PageFields;
  model: ModelRow | undefined;
}) {
  const words = strings.page;
  const text = useRead("pageText", [bank, node.id]);
  const { refresh_cron, refresh_after_consolidation } = page.trigger;
  const starts = refresh_cron
    ? scheduleWords(refresh_cron)
    : refresh_after_consolidation
      ? words.after
      : words.manual;
  const rows: [string, ReactNode][] = [
    [words.question, page.description],
    [
      words.tags,
      page.tags.length > 0 && (
        <span className="flex min-h-5 flex-wrap items-center gap-x-2">
          {page.tags.map((tag) => (
            <Tag key={tag}>{tag}</Tag>
          ))}
        </span>
      ),
    ],
    [words.starts, starts],
    [words.decides, words.decidesWords[page.review]],
    [words.refreshed, node.timestamp ? dayTime(node.timestamp) : words.never],
  ];
  return (
    <>
      {model && <ModelStateWord model={model} className="mt-2" />}
      <div className="mt-3 flex flex-wrap gap-2">
        <Button size="small" kind={page.open_proposal ? "normal" : "primary"} asChild>
          <Link
            to="/b/$bank/models/$model/{-$tab}"
            params={{ bank, model: page.mental_model_id, tab: undefined }}
            data-plain
          >
            {words.open}
          </Link>
        </Button>
        {page.open_proposal && (
          <Button size="small" kind="primary" asChild>
            <Link
              to="/b/$bank/review/{-$proposal}"
              params={{ bank, proposal: page.open_proposal.id }}
              search={{}}
              data-plain
            >
              {words.review(page.open_proposal.operations)}
            </Link>
          </Button>
        )}
      </div>
      <dl className="mt-4 grid grid-cols-[5.5rem_minmax(0,1fr)] gap-x-2 gap-y-1.5">
        {rows.map(([name, value]) =>
          value ? (
            <div key={name} className="contents">
              <dt className="type-small leading-5 text-faint">{name}</dt>
              <dd className="select-text break-words">{value}</dd>
            </div>
          ) : null,
        )}
      </dl>
      <section aria-label={words.text} className="mt-4 border-line border-t pt-4">
        {text.error ? (
          <ReportCard report={text.error} onRetry={() => void text.refetch()} />
        ) : !text.data ? (
          <SkeletonRows rows={3} />
        ) : text.data.body.trim() === "" ? (
          <p className="text-muted">{words.none}</p>
        ) : (
          <article className="doc">
            <Markdown>{text.data.body}</Markdown>
          </article>
        )}
      </section>
    </>
  );
}

function Inside({
  nodes,
  folder,
  onNode,
}: {
  nodes: readonly TreeNode[];
  folder: TreeNode;
  onNode: (id: NodeId) => void;
}) {
  const inside = nodes.filter(({ parent_id }) => parent_id === folder.id);
  return (
    <>
      {folder.timestamp && (
        <p className="type-small text-faint">
          {strings.folder.changed} {dayTime(folder.timestamp)}
        </p>
      )}
      {inside.length === 0 ? (
        <p className="mt-3 text-muted">{strings.folder.empty}</p>
      ) : (
        <section className="mt-4">
          <h3 className="type-label pb-1 text-faint">{strings.folder.inside(inside.length)}</h3>
          <Shown items={inside}>
            {({ id, name }) => (
              <button
                key={id}
                type="button"
                onClick={() => onNode(id)}
                className="-mx-1.5 flex min-h-(--row) w-[calc(100%+0.75rem)] items-center rounded-md px-1.5 text-left hover:bg-hover"
              >
                <span className="truncate">{name}</span>
              </button>
            )}
          </Shown>
        </section>
      )}
    </>
  );
}
