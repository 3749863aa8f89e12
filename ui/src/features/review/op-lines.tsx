import { useState } from "react";
import { Button } from "~/components/button";
import { Line, Words } from "~/components/diff";
import { shown, shownSpans } from "~/lib/markers";
import type { Document, OpView } from "~/platform/bindings";
import { sectionLines } from "./op-words";
import { strings } from "./strings";

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
    return <SectionLines lines={sectionLines(op, next ?? old ?? "")} change={change} />;
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

/** Lines of a section that are shown before the rest is asked for. */
const shortSection = 40;

function SectionLines({
  lines,
  change,
}: {
  lines: { heading: boolean; text: string }[];
  change: "ins" | "del";
}) {
  const [all, setAll] = useState(false);
  const near = all ? lines : lines.slice(0, shortSection);
  const seen = new Map<string, number>();
  return (
    <>
      {near.map((line) => {
        // Equal lines are told apart by how often they came before.
        const times = seen.get(line.text) ?? 0;
        seen.set(line.text, times + 1);
        return (
          <Line key={`${times} ${line.text}`} change={change} heading={line.heading}>
            {shown(line.text)}
          </Line>
        );
      })}
      {near.length < lines.length && (
        <Button size="small" kind="plain" className="my-1 ml-7" onClick={() => setAll(true)}>
          {strings.moreLines(lines.length - near.length)}
        </Button>
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
