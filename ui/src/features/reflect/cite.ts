/**
 * Where the numbers of sources stand in an answer. The engine says which pieces of the text rest on
 * which memories; here those pieces become signs inside the Markdown, which the renderer turns into
 * buttons. The signs are from the private use area, so no text of a memory or model collides.
 */
import type { EvidenceItem, EvidenceSpan } from "~/platform/bindings";

const open = "\uE000";
const close = "\uE001";

export interface Cited {
  /** The Markdown with signs. */
  markdown: string;
  /** The cited memories, the first one being number 1. */
  sources: EvidenceItem[];
  /** How often each is cited, by id. */
  times: Map<string, number>;
  /** Whether pieces of the text were tied to sources at all. */
  tied: boolean;
}

/** Numbers the sources by their first mention and puts a sign behind each piece that has some. */
export function cite(
  text: string,
  spans: readonly EvidenceSpan[],
  based: readonly EvidenceItem[],
): Cited {
  const known = new Map(based.map((item) => [item.id, item]));
  const sources: EvidenceItem[] = [];
  const numbers = new Map<string, number>();
  const times = new Map<string, number>();
  const marks = new Map<number, number[]>();
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    for (const id of span.ids) {
      const item = known.get(id);
      if (!item) continue;
      if (!numbers.has(id)) {
        sources.push(item);
        numbers.set(id, sources.length);
      }
      times.set(id, (times.get(id) ?? 0) + 1);
      const at = afterStop(text, span.end);
      const number = numbers.get(id) as number;
      const here = marks.get(at) ?? [];
      if (!here.includes(number)) marks.set(at, [...here, number]);
    }
  }
  let markdown = "";
  let from = 0;
  for (const [at, here] of [...marks].sort(([a], [b]) => a - b)) {
    markdown += `${text.slice(from, at)}${open}${here.join(",")}${close}`;
    from = at;
  }
  return { markdown: markdown + text.slice(from), sources, times, tied: marks.size > 0 };
}

/** Citations stand after the full stop and after signs of Markdown that close there. */
function afterStop(text: string, spanEnd: number): number {
  let at = Math.min(spanEnd, text.length);
  while (at > 0 && /\s/.test(text.charAt(at - 1))) at -= 1;
  const rest = /^(?:[^[\]()\n]*\]\([^)\n]*\))?[*_`"'”’»)\]]*[.,;:!?…。！？]?[*_`"'”’»)]*/.exec(
    text.slice(at),
  );
  const end = at + (rest?.[0].length ?? 0);
  // A date in brackets that was put behind a statement belongs to it.
  const dated = /^ \([^()\n]*\)(?=\n|$)/.exec(text.slice(end));
  return end + (dated?.[0].length ?? 0);
}

/** A text cut at its signs: plain pieces, and lists of numbers in between. */
export function cut(text: string): (string | number[])[] {
  return text
    .split(new RegExp(`${open}([\\d,]+)${close}`))
    .map((piece, place) => (place % 2 === 0 ? piece : piece.split(",").map(Number)))
    .filter((piece) => piece !== "");
}

export const hasSign = (text: string): boolean => text.includes(open);
