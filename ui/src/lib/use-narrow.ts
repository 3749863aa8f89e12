import { useSyncExternalStore } from "react";

function watch(query: string) {
  return {
    subscribe: (listen: () => void) => {
      const list = window.matchMedia(query);
      list.addEventListener("change", listen);
      return () => list.removeEventListener("change", listen);
    },
    read: () => window.matchMedia(query).matches,
  };
}

const narrow = watch("(max-width: 1100px)");
const folded = watch("(max-width: 899px)");

/** Whether the window is too narrow for three panes. */
export function useNarrow(): boolean {
  return useSyncExternalStore(narrow.subscribe, narrow.read);
}

/** Whether the rail is folded and one pane covers the other. */
export function useFolded(): boolean {
  return useSyncExternalStore(folded.subscribe, folded.read);
}
