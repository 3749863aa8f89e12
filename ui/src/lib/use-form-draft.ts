import { useState } from "react";
import { useDraft } from "./use-draft";

/** The values that a form begins with, and what keeps them until they are saved or thrown away. */
export interface FormDraft<V> {
  values: V;
  /** Whether an earlier draft was found. */
  begun: boolean;
  keep: (values: V) => void;
  drop: () => void;
}

/**
 * What is written into a form that fills a screen outlives the screen: it is kept under its key on
 * this machine. `isBlank` says when there is nothing worth keeping.
 */
export function useFormDraft<V extends object>(
  key: string,
  begin: V,
  isBlank: (values: V) => boolean,
): FormDraft<V> {
  const { text, found, set, drop } = useDraft(key, "");
  const [values] = useState<V>(() => ({ ...begin, ...read<V>(text) }));
  return {
    values,
    begun: found !== null,
    keep: (next) => set(isBlank(next) ? "" : JSON.stringify(next)),
    drop,
  };
}

function read<V>(text: string): Partial<V> {
  try {
    return text === "" ? {} : (JSON.parse(text) as Partial<V>);
  } catch {
    return {};
  }
}
