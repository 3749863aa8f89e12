import { Fragment, type ReactNode } from "react";
import { cn } from "~/lib/cn";
import type { WordSpan } from "~/platform/bindings";

export type Change = "same" | "ins" | "del";

const glyphs: Record<Change, string> = { same: "", ins: "+", del: "−" };
const spoken: Record<Change, string> = { same: "", ins: "Inserted: ", del: "Deleted: " };

/** One line of a difference: bar, glyph, words. */
export function Line({
  change,
  heading = false,
  children,
  className,
}: {
  change: Change;
  heading?: boolean;
  children: ReactNode;
  className?: string;
}) {
  return (
    <div className={cn("ln", className)} data-change={change} data-heading={heading || undefined}>
      <span className="edge" aria-hidden="true" />
      <span className="glyph" aria-hidden="true">
        {glyphs[change]}
      </span>
      <span className="words">
        {change !== "same" && <span className="sr-only">{spoken[change]}</span>}
        {children}
      </span>
    </div>
  );
}

const sides = { ins: "added", del: "removed" } as const;

/** One side of a changed text: what both have, and the words that only this side has. */
export function Words({ spans, side }: { spans: readonly WordSpan[]; side: "ins" | "del" }) {
  return withKeys(spans).map(({ key, kind, text }) => {
    if (kind === "same") return <Fragment key={key}>{text}</Fragment>;
    if (kind !== sides[side]) return null;
    return side === "ins" ? (
      <ins key={key} className="w">
        {text}
      </ins>
    ) : (
      <del key={key} className="w">
        {text}
      </del>
    );
  });
}

/** Both sides in one run of text, for the rendered view. */
export function MergedWords({
  spans,
  deletions,
}: {
  spans: readonly WordSpan[];
  deletions: boolean;
}) {
  return withKeys(spans).map(({ key, kind, text }) => {
    if (kind === "same") return <Fragment key={key}>{text}</Fragment>;
    if (kind === "added") {
      return (
        <ins
          key={key}
          className="bg-add-bg text-add-text underline decoration-2 decoration-add-bar underline-offset-4"
        >
          <span className="sr-only"> inserted: </span>
          {text}
        </ins>
      );
    }
    return deletions ? (
      <del key={key} className="bg-del-bg text-del-text line-through decoration-del-bar">
        <span className="sr-only"> deleted: </span>
        {text}
      </del>
    ) : null;
  });
}

/** Spans have no id; their place in the text is one, since a text changes as a whole. */
function withKeys(spans: readonly WordSpan[]): (WordSpan & { key: string })[] {
  let at = 0;
  return spans.map((span) => {
    const key = `${at}${span.kind}`;
    at += span.text.length;
    return { ...span, key };
  });
}
