import { useCallback, useState } from "react";

const stored = (key: string) => `draft.${key}`;

/** A text that was begun, and what it was begun on (a version, for example). */
export interface Draft {
  text: string;
  on: string;
}

/**
 * A text that is being written and outlives the window. Until it is saved or left it is kept under its
 * key on this machine, with what it was begun on; `found` is the earlier one that was there.
 */
export function useDraft(
  key: string,
  begin: string,
  on = "",
): {
  text: string;
  on: string;
  found: Draft | null;
  set: (text: string) => void;
  /** Goes on with another text, begun on something else. */
  take: (draft: Draft) => void;
  drop: () => void;
} {
  const [found] = useState(() => read(key));
  const [draft, setDraft] = useState(found ?? { text: begin, on });
  const take = useCallback(
    (next: Draft) => {
      setDraft(next);
      if (next.text === begin) localStorage.removeItem(stored(key));
      else localStorage.setItem(stored(key), JSON.stringify(next));
    },
    [key, begin],
  );
  const set = useCallback((text: string) => take({ text, on: draft.on }), [take, draft.on]);
  const drop = useCallback(() => localStorage.removeItem(stored(key)), [key]);
  return { ...draft, found, set, take, drop };
}

/** Whether a text was begun under this key. */
export const isBegun = (key: string): boolean => read(key) !== null;

function read(key: string): Draft | null {
  const kept = localStorage.getItem(stored(key));
  if (kept === null) return null;
  try {
    const draft: Partial<Draft> = JSON.parse(kept);
    if (typeof draft.text === "string") return { text: draft.text, on: String(draft.on ?? "") };
  } catch {
    // Not written by this hook; it is nobody's text.
  }
  return null;
}
