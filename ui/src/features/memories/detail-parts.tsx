import { type ReactNode, useState } from "react";
import { Button } from "~/components/button";
import { Kind } from "~/components/kind";
import { MemoryText } from "~/components/memory-text";
import { Shown } from "~/components/shown";
import { cn } from "~/lib/cn";
import { day } from "~/lib/format";
import type { MemoryId, MemoryRow } from "~/platform/bindings";
import { strings } from "./strings";

const words = strings.detail;

/** A part of the detail with its heading. */
export function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="mt-4">
      <h3 className="type-label pb-1 text-faint">{title}</h3>
      {children}
    </section>
  );
}

/** Long passages are cut; the rest is one press away. */
export function Passage({ text }: { text: string }) {
  const [whole, setWhole] = useState(false);
  return (
    <Part title={words.passage}>
      <p
        className={cn(
          "select-text whitespace-pre-line break-words border-edge border-l-3 pl-3 text-muted",
          !whole && "line-clamp-6",
        )}
      >
        <MemoryText text={text} links />
      </p>
      {text.length > 400 && (
        <Button kind="plain" size="small" onClick={() => setWhole(!whole)}>
          {whole ? words.lessPassage : words.wholePassage}
        </Button>
      )}
    </Part>
  );
}

export function Rows({
  title,
  rows,
  onOpen,
}: {
  title: string;
  rows: readonly MemoryRow[];
  onOpen: (id: MemoryId) => void;
}) {
  if (rows.length === 0) return null;
  return (
    <Part title={title}>
      <Shown items={rows}>
        {(row) => {
          const at = row.occurred_start ?? row.mentioned_at;
          return (
            <button
              key={row.id}
              type="button"
              onClick={() => onOpen(row.id)}
              className="-mx-1.5 flex min-h-(--row) w-[calc(100%+0.75rem)] items-center gap-2 rounded-md px-1.5 text-left hover:bg-hover"
            >
              <Kind of={row.fact_type} bare />
              <span className="min-w-0 flex-1 truncate">
                <MemoryText text={row.text} />
              </span>
              {at && (
                <time dateTime={at} className="type-small shrink-0 text-faint">
                  {day(at)}
                </time>
              )}
            </button>
          );
        }}
      </Shown>
    </Part>
  );
}
