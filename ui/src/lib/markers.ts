import type { WordSpan } from "~/platform/bindings";

/** List markers as bullets: a minus beside the minus of a deletion would read as two. */
export function shown(text: string): string {
  return text.replaceAll(/^(\s*)[-*+] /gm, "$1• ");
}

/** The same for a changed text; a span that does not begin a line keeps its start. */
export function shownSpans(spans: readonly WordSpan[]): WordSpan[] {
  let atLineStart = true;
  return spans.map((span) => {
    const text = atLineStart ? shown(span.text) : span.text.replaceAll(/(\n\s*)[-*+] /g, "$1• ");
    if (span.text !== "") atLineStart = span.text.endsWith("\n");
    return { ...span, text };
  });
}
