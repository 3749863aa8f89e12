import { Fragment, type ReactNode } from "react";
import { cn } from "~/lib/cn";
import { day } from "~/lib/format";
import type { EvidenceItem } from "~/platform/bindings";
import { Badge } from "./badge";
import { Kind } from "./kind";
import { MemoryText } from "./memory-text";

/** A memory as evidence: kind, date, text as it was read, and where it comes from. */
export function Fact({
  item,
  mark,
  quiet = false,
  bare = false,
  children,
}: {
  item: EvidenceItem;
  /** Words to mark in the text: the piece that a claim rests on. */
  mark?: string | undefined;
  /** Set back: what the old text rested on. */
  quiet?: boolean;
  /** Without the hairline. */
  bare?: boolean;
  children?: ReactNode;
}) {
  const at = item.occurred_start ?? item.mentioned_at;
  const meta = [
    at && <time dateTime={at}>{day(at)}</time>,
    item.context && <span className="truncate">{item.context}</span>,
    item.first_cited_version !== null && <span>since v{item.first_cited_version}</span>,
  ].filter(Boolean);
  return (
    <article className={cn("px-4 pt-2 pb-3", !bare && "border-line border-b")}>
      <div className="type-small flex min-h-5 flex-wrap items-center gap-x-1.5 text-faint">
        <Kind of={item.kind} />
        {meta.map((part, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: three fixed places, never reordered
          <Fragment key={place}>
            <span aria-hidden="true">·</span>
            {part}
          </Fragment>
        ))}
        {item.gone && <Badge kind="warn">No longer exists</Badge>}
      </div>
      <p
        className={cn(
          "mt-0.5 select-text whitespace-pre-line break-words",
          quiet && "text-muted",
          item.gone && "line-through",
        )}
      >
        <MemoryText text={item.text} mark={mark} links />
      </p>
      {item.document && <p className="type-small text-muted">{item.document}</p>}
      {children}
    </article>
  );
}
