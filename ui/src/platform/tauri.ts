/** The program behind the page. The only file besides the bindings that knows the shell. */
import { Channel } from "@tauri-apps/api/core";
import { getCurrentWebview } from "@tauri-apps/api/webview";
import { getCurrentWindow } from "@tauri-apps/api/window";
import { open } from "@tauri-apps/plugin-dialog";
import { openUrl } from "@tauri-apps/plugin-opener";
import { commands, events, type RunEvent } from "./bindings";
import type { Platform } from "./index";

interface Event<T> {
  listen(hear: (event: { payload: T }) => void): Promise<() => void>;
}

/** Listening begins at once and ends as soon as both the handle has come and stop was called. */
function subscribe<T>(event: Event<T>, hear: (payload: T) => void): () => void {
  const stop = event.listen(({ payload }) => hear(payload));
  return () => {
    void stop.then((end) => end());
  };
}

export const tauri: Platform = {
  commands,
  onChanged: (hear) => subscribe(events.dataChanged, hear),
  onProgress: (hear) => subscribe(events.operationProgressed, hear),
  channel: (hear) => {
    const channel = new Channel<RunEvent>();
    channel.onmessage = hear;
    return channel;
  },
  chooseFiles: async ({ title, folders = false, endings }) => {
    const filters = endings ? [{ name: title, extensions: endings }] : undefined;
    return open({ title, directory: folders, multiple: true, filters });
  },
  openOutside: (url) => openUrl(url),
  dressWindow: async (theme, zoom) => {
    await getCurrentWindow().setTheme(theme === "system" ? null : theme);
    await getCurrentWebview().setZoom(zoom);
  },
  reportDrawn: async () => {
    await commands.pageDrawn();
  },
};
