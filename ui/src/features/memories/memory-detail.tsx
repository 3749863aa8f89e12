import { Link } from "@tanstack/react-router";
import { Copy, FileText, MoreHorizontal, Pencil, RotateCcw, X } from "lucide-react";
import type { ReactNode } from "react";
import { Tag } from "~/components/badge";
import { Button, IconButton } from "~/components/button";
import { Icon } from "~/components/icon";
import { Kind } from "~/components/kind";
import { MemoryText } from "~/components/memory-text";
import { Menu, MenuItem, MenuSeparator } from "~/components/menu";
import { PaneHead } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { Shown } from "~/components/shown";
import { SkeletonRows } from "~/components/skeleton";
import { cn } from "~/lib/cn";
import { copyText } from "~/lib/copy";
import { day, dayTime, series } from "~/lib/format";
import type { BankId, MemoryDetail, MemoryId, RecallHit, Report } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { Part, Passage, Rows } from "./detail-parts";
import { FoldingPart, NotFolded } from "./folding";
import { strings } from "./strings";
import { WhyFound } from "./why-found";

const words = strings.detail;

export interface MemoryActs {
  edit: () => void;
  invalidate: () => void;
  restore: () => void;
  remove: () => void;
  /** Why the last of them was refused, where no dialog says so. */
  fault: Report | null;
}

/** One memory: what it says, where it comes from, what rests on it. */
export function MemoryPane({
  bank,
  id,
  hit,
  acts,
  onOpen,
  onClose,
}: {
  bank: BankId;
  id: MemoryId;
  hit: RecallHit | undefined;
  acts: MemoryActs;
  onOpen: (id: MemoryId) => void;
  /** Given where the detail covers the list. */
  onClose: (() => void) | null;
}) {
  const detail = useRead("getMemory", [bank, id]);
  if (detail.error)
    return (
      <div className="p-4">
        <ReportCard report={detail.error} onRetry={() => void detail.refetch()} />
      </div>
    );
  if (!detail.data) return <SkeletonRows rows={4} />;
  const { memory } = detail.data;
  const valid = memory.state === "valid";
  const isFact = memory.fact_type !== "observation";
  return (
    <>
      <PaneHead title={<Kind of={memory.fact_type} className="type-strong text-text" />}>
        {isFact && valid && (
          <IconButton
            icon={Pencil}
            small
            name={words.edit}
            command="memories.edit"
            onClick={acts.edit}
          />
        )}
        {!valid && (
          <Button
            size="small"
            icon={RotateCcw}
            command="memories.invalidate"
            onClick={acts.restore}
          >
            {words.restore}
          </Button>
        )}
        <MoreMenu detail={detail.data} acts={acts} />
        {onClose && <IconButton icon={X} small name={words.close} onClick={onClose} />}
      </PaneHead>
      <ScrollText label={words.says} className="px-4 py-4">
        {acts.fault && <ReportCard className="mb-3" report={acts.fault} />}
        <p
          className={cn(
            "type-doc select-text whitespace-pre-line text-pretty break-words",
            !valid && "text-muted line-through",
          )}
        >
          <MemoryText text={memory.text} links />
        </p>
        <Facts detail={detail.data} />
        {detail.data.chunk && <Passage text={detail.data.chunk.text} />}
        <Rows
          title={words.sources(detail.data.sources.length)}
          rows={detail.data.sources}
          onOpen={onOpen}
        />
        {detail.data.folding && <FoldingPart folding={detail.data.folding} onOpen={onOpen} />}
        {detail.data.consolidation_error && <NotFolded why={detail.data.consolidation_error} />}
        <Rows
          title={words.observations(detail.data.observations.length)}
          rows={detail.data.observations}
          onOpen={onOpen}
        />
        {detail.data.cited_by.length > 0 && (
          <Part title={words.citedBy(detail.data.cited_by.length)}>
            <Shown items={detail.data.cited_by}>
              {(model) => (
                <Link
                  key={model.id}
                  to="/b/$bank/models/$model/{-$tab}"
                  params={{ bank, model: model.id, tab: undefined }}
                  className="flex h-(--row) items-center gap-2"
                >
                  <Icon of={FileText} className="text-muted" />
                  <span className="truncate">{model.name}</span>
                </Link>
              )}
            </Shown>
          </Part>
        )}
        {hit && <WhyFound hit={hit} />}
        <p className="mt-5 flex items-center gap-1">
          <span className="type-code truncate text-faint">{memory.id}</span>
          <IconButton
            icon={Copy}
            small
            name={words.copyId}
            onClick={() => void copyText(memory.id)}
          />
        </p>
      </ScrollText>
    </>
  );
}

function MoreMenu({ detail, acts }: { detail: MemoryDetail; acts: MemoryActs }) {
  const { memory } = detail;
  return (
    <Menu trigger={<IconButton icon={MoreHorizontal} small name={strings.more} />}>
      {memory.state === "valid" && (
        <MenuItem command="memories.invalidate" onSelect={acts.invalidate}>
          {words.invalidate}
        </MenuItem>
      )}
      <MenuItem onSelect={() => void copyText(memory.text)}>{words.copyText}</MenuItem>
      <MenuItem onSelect={() => void copyText(JSON.stringify(detail, null, 2))}>
        {words.copyJson}
      </MenuItem>
      <MenuSeparator />
      <MenuItem danger command="memories.delete" onSelect={acts.remove}>
        {words.remove}
      </MenuItem>
    </Menu>
  );
}

function Facts({ detail: { memory, metadata, invalidation_reason } }: { detail: MemoryDetail }) {
  const from = memory.occurred_start && day(memory.occurred_start);
  const to = memory.occurred_end && day(memory.occurred_end);
  const rows: [string, ReactNode][] = [
    ...(memory.state === "invalidated"
      ? [[words.reason, invalidation_reason ?? words.noReason] as [string, ReactNode]]
      : []),
    [words.context, memory.context],
    [words.occurred, from && words.to(from, to || from)],
    [words.mentioned, memory.mentioned_at && day(memory.mentioned_at)],
    [words.learned, dayTime(memory.created_at)],
    [words.changed, memory.edited && dayTime(memory.updated_at)],
    [words.entities, series(memory.entities)],
    [
      words.tags,
      memory.tags.length > 0 && (
        <span className="flex min-h-5 flex-wrap items-center gap-x-2">
          {memory.tags.map((tag) => (
            <Tag key={tag}>{tag}</Tag>
          ))}
        </span>
      ),
    ],
    [words.document, memory.document?.title],
    ...Object.entries(metadata),
  ];
  return (
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
  );
}
