import { Badge, Tag } from "~/components/badge";
import { Kind } from "~/components/kind";
import { MemoryText } from "~/components/memory-text";
import { cn } from "~/lib/cn";
import { day } from "~/lib/format";
import type { MemoryRow } from "~/platform/bindings";
import { strings } from "./strings";

/** One memory in the list: two lines of its text, what it is about, when, and what is special. */
export function MemoryLine({ row, rank }: { row: MemoryRow; rank: number | null }) {
  const gone = row.state === "invalidated";
  const at = row.occurred_start ?? row.mentioned_at ?? row.created_at;
  return (
    <div className="flex min-h-14 gap-3 px-4 py-2">
      <Kind of={row.fact_type} bare className="mt-1 self-start" />
      <div className="min-w-0 flex-1">
        <p className={cn("line-clamp-2", gone && "text-muted line-through")}>
          <MemoryText text={row.text} />
        </p>
        <p className="type-small mt-0.5 flex gap-2 overflow-hidden whitespace-nowrap text-muted">
          <span aria-hidden="true" className="font-medium">
            {strings.kind[row.fact_type]}
          </span>
          {row.entities.slice(0, 4).map((entity) => (
            <span key={entity}>{entity}</span>
          ))}
          {row.tags.slice(0, 4).map((tag) => (
            <Tag key={tag}>{tag}</Tag>
          ))}
          {row.document && <span className="truncate text-faint">{row.document.title}</span>}
        </p>
      </div>
      <div className="type-small flex w-20 shrink-0 flex-col items-end gap-1 text-right text-faint">
        <time dateTime={at}>{day(at)}</time>
        {rank !== null && <span>{strings.place(rank)}</span>}
        {row.proof_count !== null && <span>{strings.proofs(row.proof_count)}</span>}
        {gone && <Badge kind="warn">{strings.invalidated}</Badge>}
        {row.edited && !gone && <Badge>{strings.edited}</Badge>}
        {row.pending_consolidation && !gone && !row.edited && (
          <span title={strings.newAbout}>
            <Badge>{strings.isNew}</Badge>
          </span>
        )}
      </div>
    </div>
  );
}
