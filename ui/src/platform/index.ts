/**
 * The one door to the outside. A screen reads with `useRead`, writes with `useWrite` (both in
 * cache.ts) and reaches the rest through `usePlatform`. `tauri.ts` is the program behind it,
 * `memory.ts` the same interface over fixtures, for component tests and the browser preview.
 */
import type { Channel } from "@tauri-apps/api/core";
import { createContext, use } from "react";
import type { Changed, commands, OperationProgress, RunEvent, Theme } from "./bindings";

export type Commands = typeof commands;

interface FileQuestion {
  /** Title of the dialog. */
  title: string;
  /** Whether folders are chosen instead of files. */
  folders?: boolean;
  /** Endings without the dot; all files when absent. */
  endings?: string[];
}

export interface Platform {
  commands: Commands;
  /** What has changed after a commit; returns the way to stop listening. */
  onChanged(listen: (changed: Changed) => void): () => void;
  /** How far operations are, at most four times a second each. */
  onProgress(listen: (progress: OperationProgress) => void): () => void;
  /** A channel for the events of one call. */
  channel(listen: (event: RunEvent) => void): Channel<RunEvent>;
  /** Asks the person for files or folders; null when the dialog was left. */
  chooseFiles(question: FileQuestion): Promise<string[] | null>;
  /** Opens an address in the person's browser. */
  openOutside(url: string): Promise<void>;
  /**
   * Lets the frame of the window follow the colours of the page, and enlarges the page as a whole
   * (1 is its own size), so that it folds where it gets tight.
   */
  dressWindow(theme: Theme, zoom: number): Promise<void>;
  /** Tells the shell that the page has been drawn (it shows a way out when that never comes). */
  reportDrawn(): Promise<void>;
}

const PlatformContext = createContext<Platform | null>(null);

export const PlatformProvider = PlatformContext;

export function usePlatform(): Platform {
  const platform = use(PlatformContext);
  if (platform === null) throw new Error("usePlatform outside of a PlatformProvider");
  return platform;
}
