import { useEffect } from "react";

/**
 * Where what holds the focus goes away (a button whose work is done, a row that was removed), its pane
 * takes the focus, so that keys and readers go on from there and not from the top of the window.
 */
export function useFocusStays(): void {
  useEffect(() => {
    let held: Element | null = null;
    let pane: HTMLElement | null = null;
    const hold = ({ target }: FocusEvent) => {
      held = target instanceof Element ? target : null;
      pane = held?.closest<HTMLElement>("[data-pane]") ?? null;
    };
    const gone = new MutationObserver(() => {
      if (held?.isConnected !== false || document.activeElement !== document.body) return;
      if (pane?.isConnected) pane.focus({ preventScroll: true });
    });
    document.addEventListener("focusin", hold);
    gone.observe(document.body, { childList: true, subtree: true });
    return () => {
      document.removeEventListener("focusin", hold);
      gone.disconnect();
    };
  }, []);
}
