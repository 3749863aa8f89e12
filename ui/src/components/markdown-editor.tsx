import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { markdown } from "@codemirror/lang-markdown";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorState, Prec } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";

const highlight = HighlightStyle.define([
  { tag: tags.heading, fontWeight: "650" },
  { tag: tags.strong, fontWeight: "650" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: [tags.processingInstruction, tags.meta], color: "var(--text-faint)" },
  { tag: [tags.link, tags.url], color: "var(--accent-text)" },
  { tag: tags.monospace, fontFamily: "var(--font-mono)" },
]);

const look = EditorView.theme({
  "&": {
    height: "100%",
    font: "var(--type-doc)",
    color: "var(--text)",
    backgroundColor: "var(--bg)",
  },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "inherit", lineHeight: "1.5rem", padding: "1.5rem 2rem" },
  ".cm-content": { maxWidth: "44rem", caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--bg-selected)",
  },
});

/** A field for Markdown. Undo belongs to it while it has the focus; Ctrl+Enter saves. */
export function MarkdownEditor({
  label,
  value,
  onChange,
  onSave,
}: {
  label: string;
  /** The text to begin with; later changes come from the person alone. */
  value: string;
  onChange: (text: string) => void;
  onSave: () => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const hear = useRef({ onChange, onSave });
  useEffect(() => {
    hear.current = { onChange, onSave };
  });
  const begin = useRef({ label, value });

  useEffect(() => {
    const parent = place.current;
    if (!parent) return;
    const save = () => {
      hear.current.onSave();
      return true;
    };
    const view = new EditorView({
      parent,
      state: EditorState.create({
        doc: begin.current.value,
        extensions: [
          Prec.highest(keymap.of([{ key: "Mod-Enter", run: save }])),
          history(),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          markdown(),
          syntaxHighlighting(highlight),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({
            "aria-label": begin.current.label,
            spellcheck: "true",
            tabindex: "0",
          }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) hear.current.onChange(update.state.doc.toString());
          }),
          look,
        ],
      }),
    });
    view.focus();
    return () => view.destroy();
  }, []);

  return <div ref={place} className="min-h-0 flex-1 overflow-hidden" />;
}
