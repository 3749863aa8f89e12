import { useDeferredValue, useMemo, useState } from "react";
import type { Report, SchemaProblem } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { fieldsOf } from "./fields";
import { type JsonFault, type JsonNode, placeOf, readJson } from "./json-text";
import { keyed, type Row } from "./rows";

/** Both sides of the builder over one text. */
export interface SchemaText {
  text: string;
  /** The last text that is JSON, which the fields are read from. */
  good: { text: string; root: JsonNode } | null;
  fields: Row[];
  /** Why the present text is no JSON; the fields then show the last good one. */
  fault: JsonFault | null;
  /** What the engine says against the present text; empty while it cannot be read. */
  problems: SchemaProblem[];
  refused: Report | null;
  set(text: string): void;
  undo: (() => void) | null;
  redo: (() => void) | null;
  /** Line and column of a JSON pointer, for the list of problems. */
  placeOfPointer(pointer: string): { line: number; column: number } | null;
}

const kept = 200;

/** Keeps the text of a schema, its past for undoing, and what can be read from it. */
export function useSchemaText(begin: string, onText: (text: string) => void): SchemaText {
  const [past, setPast] = useState<{ texts: string[]; at: number }>({ texts: [begin], at: 0 });
  const text = past.texts[past.at] ?? "";
  const read = useMemo(() => readJson(text), [text]);
  const [good, setGood] = useState<{ text: string; root: JsonNode; fields: Row[] } | null>(null);
  if (read.node && good?.text !== text) {
    const fields = keyed(good?.fields ?? [], fieldsOf(text, read.node));
    setGood({ text, root: read.node, fields });
  }
  const asked = useDeferredValue(read.node ? text : null);
  const check = useRead("checkSchema", asked === null ? null : [JSON.parse(asked)], {
    keepPrevious: true,
  });

  const go = (at: number) => {
    const next = past.texts[at];
    if (next === undefined) return;
    setPast({ ...past, at });
    onText(next);
  };
  return {
    text,
    good,
    fields: good?.fields ?? [],
    fault: read.fault,
    problems: read.node ? (check.data ?? []) : [],
    refused: check.error,
    set: (next) => {
      if (next === text) return;
      const texts = [...past.texts.slice(0, past.at + 1), next].slice(-kept);
      setPast({ texts, at: texts.length - 1 });
      onText(next);
    },
    undo: past.at > 0 ? () => go(past.at - 1) : null,
    redo: past.at < past.texts.length - 1 ? () => go(past.at + 1) : null,
    placeOfPointer: (pointer) => {
      if (!good) return null;
      const node = pointed(good.root, pointer);
      return node ? placeOf(good.text, node.from) : null;
    },
  };
}

/** The node of a JSON pointer, or the last one on the way to it that is there. */
function pointed(root: JsonNode, pointer: string): JsonNode {
  let node = root;
  for (const step of pointer.split("/").slice(1)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    const next =
      node.kind === "object"
        ? node.members.find((member) => member.name === name)?.value
        : node.kind === "array"
          ? node.items[Number(name)]
          : undefined;
    if (!next) return node;
    node = next;
  }
  return node;
}
