import { useEffect } from "react";
import { say } from "~/components/toast";
import { usePlatform } from "~/platform";
import { strings } from "./model-strings";

/** Looks at published files when a model that has one is opened and when the window is returned to. */
export function useFileWatch(publishes: boolean): void {
  const { commands } = usePlatform();
  useEffect(() => {
    if (!publishes) return;
    const look = async () => {
      try {
        for (const { file, model_name } of await commands.checkPublishedFiles()) {
          if (file.state === "changed_outside") say(strings.file.seen(model_name));
        }
      } catch {
        // A file that cannot be looked at now is looked at next time; its state is told by the model.
      }
    };
    void look();
    window.addEventListener("focus", look);
    return () => window.removeEventListener("focus", look);
  }, [commands, publishes]);
}
