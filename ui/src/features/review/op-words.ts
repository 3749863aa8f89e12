import type { OpView, ProposalView } from "~/platform/bindings";
import { strings } from "./strings";

/** What a block is, told from its markdown. */
function nounOf(text: string | null): string {
  const start = (text ?? "").trimStart();
  if (/^([-*+]|\d{1,9}[.)])\s/.test(start))
    return start.split(/\n(?=[-*+\d])/).length > 1 ? "list" : "item";
  if (start.startsWith("|")) return "table";
  if (/^(```|~~~)/.test(start)) return "code";
  if (start.startsWith(">")) return "quote";
  return "paragraph";
}

/** `Replace paragraph`, `Add section`. */
export function opTitle(op: OpView): string {
  return strings.act[op.kind]?.(nounOf(op.new_text ?? op.old_text)) ?? strings.otherAct;
}

/** The operations that can be decided, in order of the document. */
export function decidable(view: ProposalView): OpView[] {
  return view.ops.filter(({ status }) => status === "applied");
}

/** Whether anything can still be decided. */
export function isOpen(view: ProposalView): boolean {
  return ["open", "in_review", "conflicted"].includes(view.row.state);
}

/** Operations that no longer fit and wait for a way out; one that was dropped waits no more. */
export function conflictsOf(view: ProposalView): OpView[] {
  return decidable(view).filter(
    ({ conflict, decision }) => conflict !== null && decision !== "rejected",
  );
}

/** Numbers of the operations with these ids, ascending. */
export function numbersOf(view: ProposalView, ids: readonly string[]): number[] {
  return decidable(view)
    .filter(({ op_id }) => ids.includes(op_id))
    .map(({ number }) => number)
    .sort((a, b) => a - b);
}

/** The lines of a section that comes or goes: its heading, then its blocks. */
export function sectionLines(op: OpView, text: string): { heading: boolean; text: string }[] {
  const lines = text
    .split(/\n{2,}/)
    .filter((line) => line.trim() !== "")
    .map((line) =>
      /^#{1,6}\s/.test(line)
        ? { heading: true, text: line.replace(/^#+\s+/, "") }
        : { heading: false, text: line },
    );
  const hasHeading = lines[0]?.heading === true;
  return hasHeading || op.heading === null
    ? lines
    : [{ heading: true, text: op.heading }, ...lines];
}
