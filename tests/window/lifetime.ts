// Programs and folders that live as long as the test that asked for them.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type App, startApp } from "./app";
import type { Start } from "./desktop";

/** Starts the program; it ends with the test, and a test that failed keeps a picture of its end. */
export async function start(options?: Start): Promise<App> {
  const app = await startApp(options);
  onTestFinished(async ({ task }) => {
    if (task.result?.state === "fail") await app.keep(`failed-${task.name}`);
    await app.stop();
  });
  return app;
}

/** A folder that goes with the test. */
export function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "palimpsest-window-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}
