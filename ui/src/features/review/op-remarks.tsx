import type { LucideIcon } from "lucide-react";
import { CircleAlert, Info, Link2, MessageSquare } from "lucide-react";
import { Icon } from "~/components/icon";
import type { OpView, ProposalView } from "~/platform/bindings";
import { numbersOf } from "./op-words";
import { strings } from "./strings";

/** What follows from a decision, and what else to know, under the text of an operation. */
export function OpRemarks({ op, view }: { op: OpView; view: ProposalView }) {
  const remarks: { icon: LucideIcon; text: string }[] = [];
  const needs = numbersOf(view, op.requires);
  const neededBy = numbersOf(view, op.required_by);
  if (op.unsupported) {
    remarks.push({
      icon: CircleAlert,
      text:
        op.claims.length > 0 ? strings.partlySupported(op.claims.length) : strings.unsupportedHint,
    });
  }
  if (needs.length > 0) remarks.push({ icon: Link2, text: strings.needs(needs) });
  if (neededBy.length > 0) remarks.push({ icon: Link2, text: strings.neededBy(neededBy) });
  for (const { kind, op_id } of op.hints) {
    const [other] = numbersOf(view, [op_id]);
    const text = other !== undefined && strings.hints[kind]?.(other);
    if (text) remarks.push({ icon: Info, text });
  }
  if (op.note) remarks.push({ icon: MessageSquare, text: op.note });
  if (remarks.length === 0) return null;
  return (
    <ul className="grid gap-1 pr-4 pb-2 pl-8">
      {remarks.map(({ icon, text }) => (
        <li key={text} className="type-small flex gap-1.5 text-muted">
          <Icon of={icon} small className="mt-0.5" />
          {text}
        </li>
      ))}
    </ul>
  );
}
