import { useState } from "react";

/**
 * Pixels of a rem, read once: asking the page for a style makes it lay itself out, which is too dear
 * for each step of a scroller.
 */
export function useRem(): number {
  const [rem] = useState(
    () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16,
  );
  return rem;
}
