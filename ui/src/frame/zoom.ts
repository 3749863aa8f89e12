import { useEffect } from "react";
import { attend } from "~/components/left-behind";
import { usePlatform } from "~/platform";
import { useRead, useWrite } from "~/platform/cache";
import { strings } from "./strings";

/** The way to change the size of text: by a step in percent, or back to its own with 0. */
export function useZoom(): (step: number) => void {
  const look = useRead("look", []).data;
  const save = useWrite("setLook");
  return (step) => {
    if (!look) return;
    const size = step === 0 ? 100 : Math.min(300, Math.max(50, (look.text_zoom ?? 100) + step));
    void attend(strings.zoomed, () => save.mutateAsync([{ ...look, text_zoom: size }]));
  };
}

/** Puts the look on the root of the page, as long as the page lives. */
export function useLook(): void {
  const platform = usePlatform();
  const look = useRead("look", []).data;
  useEffect(() => {
    const root = document.documentElement;
    if (!look) return;
    if (look.theme === "light" || look.theme === "dark") root.dataset.theme = look.theme;
    else delete root.dataset.theme;
    void platform.dressWindow(look.theme ?? "system", (look.text_zoom ?? 100) / 100);
  }, [look, platform]);
}
