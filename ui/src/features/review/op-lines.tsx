import { Line, Words } from "~/components/diff";
import { shown, shownSpans } from "~/lib/markers";
import type { Document, OpView } from "~/platform/bindings";
import { sectionLines } from "./op-words";

/** The change of one operation as lines, between the blocks around it. */
export function OpLines({ op, base, more }: { op: OpView; base: Document; more: boolean }) {
  const around = contextOf(op, base, more);
  return (
    <div className="py-2">
      {around.before.map((text) => (
        <Line key={`before ${text}`} change="same">
          {shown(text)}
        </Line>
      ))}
      <Change op={op} />
      {around.after.map((text) => (
        <Line key={`after ${text}`} change="same">
          {shown(text)}
        </Line>
      ))}
    </div>
  );
}

function Change({ op }: { op: OpView }) {
  const { old_text: old, new_text: next } = op;
  const heading = op.kind === "rename_section";
  if (op.kind === "add_section" || op.kind === "remove_section") {
    const change = op.kind === "add_section" ? "ins" : "del";
    return sectionLines(op, next ?? old ?? "").map((line) => (
      <Line key={line.text} change={change} heading={line.heading}>
        {shown(line.text)}
      </Line>
    ));
  }
  const spans = shownSpans(op.words);
  const both = old !== null && next !== null && spans.length > 0;
  return (
    <>
      {old !== null && (
        <Line change="del" heading={heading}>
          {both ? <Words spans={spans} side="del" /> : shown(old)}
        </Line>
      )}
      {next !== null && (
        <Line change="ins" heading={heading}>
          {both ? <Words spans={spans} side="ins" /> : shown(next)}
        </Line>
      )}
    </>
  );
}

/** One block on either side, or with `more` the whole section. */
function contextOf(
  op: OpView,
  base: Document,
  more: boolean,
): { before: string[]; after: string[] } {
  const near = { before: op.before ? [op.before] : [], after: op.after ? [op.after] : [] };
  if (!more) return near;
  const blocks = base.sections.find(({ id }) => id === op.section_id)?.blocks ?? [];
  const at = blocks.findIndex(({ id, text }) => id === op.block_id || text === op.before);
  if (at < 0) return { before: blocks.map(({ text }) => text), after: near.after };
  const replaces = op.kind === "replace_block" || op.kind === "remove_block";
  return {
    before: blocks.slice(0, replaces ? at : at + 1).map(({ text }) => text),
    after: blocks.slice(at + 1).map(({ text }) => text),
  };
}
