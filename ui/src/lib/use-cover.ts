import { useState } from "react";
import { useNarrow } from "./use-narrow";

/** Whether what is chosen in a list stands in the place of the list. */
export interface Cover {
  /** No room for both. */
  narrow: boolean;
  covers: boolean;
  /** Shows it in the place of the list. */
  look: () => void;
  /** Gives the list back; the choice stays. */
  close: () => void;
}

/**
 * Where there is no room beside a list, the arrows go on in the list, and what is chosen takes its
 * place once it is pressed or Enter asks for it. An address that names it shows it at once.
 */
export function useCover(chosen: boolean): Cover {
  const narrow = useNarrow();
  const [looked, setLooked] = useState(chosen);
  return {
    narrow,
    covers: narrow && chosen && looked,
    look: () => setLooked(true),
    close: () => setLooked(false),
  };
}
