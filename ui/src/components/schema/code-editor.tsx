import { defaultKeymap, indentWithTab } from "@codemirror/commands";
import {
  bracketMatching,
  HighlightStyle,
  StreamLanguage,
  syntaxHighlighting,
} from "@codemirror/language";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";

/** Enough of JSON to colour it; what it says is read elsewhere. */
const json = StreamLanguage.define({
  token(stream) {
    if (stream.match(/"(?:[^"\\]|\\.)*"(?=\s*:)/)) return "propertyName";
    if (stream.match(/"(?:[^"\\]|\\.)*"?/)) return "string";
    if (stream.match(/-?\d[\d.eE+-]*/)) return "number";
    if (stream.match(/(?:true|false|null)\b/)) return "keyword";
    stream.next();
    return null;
  },
});

const highlight = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent-text)" },
  { tag: tags.string, color: "var(--text)" },
  { tag: [tags.number, tags.keyword], color: "var(--ok)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", font: "var(--type-code)", color: "var(--text)", background: "var(--bg)" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "inherit", lineHeight: "1.25rem", padding: "0.5rem 0" },
  ".cm-gutters": { background: "var(--bg)", color: "var(--text-faint)", border: "0" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--bg-selected)",
  },
  ".cm-at": { backgroundColor: "var(--bg-selected)" },
  ".cm-broken": { backgroundColor: "var(--bad-soft)" },
});

const markLine = StateEffect.define<{ line: number; broken: boolean } | null>();

/** The line that the other side is about, or that cannot be read. */
const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, { effects, changes, newDoc }) {
    let now = marks.map(changes);
    for (const effect of effects) {
      if (!effect.is(markLine)) continue;
      const { value } = effect;
      if (!value || value.line > newDoc.lines) now = Decoration.none;
      else {
        const look = Decoration.line({ class: value.broken ? "cm-broken" : "cm-at" });
        now = Decoration.set([look.range(newDoc.line(value.line).from)]);
      }
    }
    return now;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Ctrl+Enter tries the schema, here as elsewhere on the screen. */
const own = defaultKeymap.filter(({ key }) => key !== "Mod-Enter");

/** A field for the code of a schema. What is past belongs to both sides, so undo is not its own. */
export function CodeEditor({
  label,
  value,
  line,
  broken,
  onChange,
}: {
  label: string;
  value: string;
  /** A line to mark, from 1. */
  line: number | null;
  broken: boolean;
  onChange: (text: string) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const hear = useRef(onChange);
  useEffect(() => {
    hear.current = onChange;
  });
  const begin = useRef({ label, value });

  useEffect(() => {
    const parent = place.current;
    if (!parent) return;
    const made = new EditorView({
      parent,
      state: EditorState.create({
        doc: begin.current.value,
        extensions: [
          keymap.of([...own, indentWithTab]),
          lineNumbers(),
          bracketMatching(),
          json,
          syntaxHighlighting(highlight),
          marked,
          EditorView.contentAttributes.of({
            "aria-label": begin.current.label,
            spellcheck: "false",
            tabindex: "0",
          }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) hear.current(update.state.doc.toString());
          }),
          look,
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, []);

  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const before = editor.state.doc.toString();
    if (before !== value) editor.dispatch({ changes: difference(before, value) });
    editor.dispatch({
      effects: markLine.of(line === null ? null : { line, broken }),
    });
  }, [value, line, broken]);

  return <div ref={place} className="min-h-0 flex-1 overflow-hidden" />;
}

/** The one stretch in which two texts differ, so that the cursor stays where it is. */
function difference(before: string, after: string) {
  let from = 0;
  const least = Math.min(before.length, after.length);
  while (from < least && before[from] === after[from]) from += 1;
  let tail = 0;
  while (
    tail < least - from &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  ) {
    tail += 1;
  }
  return { from, to: before.length - tail, insert: after.slice(from, after.length - tail) };
}
