import { useCallback, useState } from "react";

const stored = (key: string) => `draft.${key}`;

/**
 * A text that is being written and outlives the window. Until it is saved or left it is kept under its
 * key on this machine; `begun` tells whether an earlier one was found.
 */
export function useDraft(
  key: string,
  begin: string,
): { text: string; begun: boolean; set: (text: string) => void; drop: () => void } {
  const [found] = useState(() => localStorage.getItem(stored(key)));
  const [text, setText] = useState(found ?? begin);
  const set = useCallback(
    (next: string) => {
      setText(next);
      if (next === begin) localStorage.removeItem(stored(key));
      else localStorage.setItem(stored(key), next);
    },
    [key, begin],
  );
  const drop = useCallback(() => localStorage.removeItem(stored(key)), [key]);
  return { text, begun: found !== null, set, drop };
}
