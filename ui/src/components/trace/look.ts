/** How a trace is looked at: which part of the time, which steps decide the whole length, where words stand. */
import type { Span } from "./spans";

/** A stretch of the run, in milliseconds from its start. */
export interface Stretch {
  from: number;
  to: number;
}

/** A stretch is never shorter than this, and never leaves the run. */
const least = 1;

export function within(total: number, from: number, to: number): Stretch {
  const length = Math.min(total, Math.max(least, to - from));
  const begin = Math.max(0, Math.min(from, total - length));
  return { from: begin, to: begin + length };
}

/** Half or twice the stretch, around a moment. */
export function zoomed(now: Stretch, total: number, factor: number, around: number): Stretch {
  const length = (now.to - now.from) * factor;
  if (length >= total) return { from: 0, to: total };
  return within(total, around - length / 2, around + length / 2);
}

const endOf = (span: Span) => span.start + (span.took ?? 0);

/** The steps that the run waited for one after the other: shorten one of them and it ends earlier. */
export function criticalPath(spans: readonly Span[]): Set<string> {
  const path = new Set<string>();
  let until = Number.POSITIVE_INFINITY;
  for (;;) {
    const before = spans.filter(
      (span) => !path.has(span.id) && endOf(span) <= until && span.start < until,
    );
    const last = before.reduce<Span | undefined>(
      (best, span) => (best === undefined || endOf(span) > endOf(best) ? span : best),
      undefined,
    );
    if (last === undefined) return path;
    path.add(last.id);
    until = last.start;
  }
}

/** Everything that is written in a step, for finding words in it. */
export function textOf({ name, note, tool, call }: Span): string {
  const parts = [name, note, tool?.reason, tool && JSON.stringify([tool.input, tool.output])];
  return [...parts, call?.scope].filter(Boolean).join("\n").toLowerCase();
}
