// What the shell promises whatever the page shows: the window draws, one program per data folder,
// size and place are kept, a crash leaves nothing that hinders the next start.

import { join } from "node:path";
import { expect, test } from "vitest";
import { type App, startApp } from "./app";
import { Desktop } from "./desktop";
import { folder, start } from "./lifetime";
import { ended, killGroup } from "./processes";

const innerSize = (app: App) =>
  app.driver.executeScript<[number, number]>("return [innerWidth, innerHeight]");

test("fc_44 the window opens at its size and its page reports itself drawn", async () => {
  const app = await start();
  expect(await innerSize(app)).toEqual([1280, 800]);
  await app.until(
    "the page did not report itself drawn",
    async () => app.log(),
    (log) => log.includes("the page has drawn itself"),
  );
  await app.shot("shell-light");
});

test("the page cannot reach another origin", async () => {
  const app = await start();
  const outcome = await app.driver.executeAsyncScript<string>(
    `const done = arguments[arguments.length - 1];
     document.addEventListener("securitypolicyviolation", (e) => done(e.effectiveDirective));
     fetch("https://example.org/").then(() => done("reached"), () => undefined);`,
  );
  expect(outcome).toBe("connect-src");
});

test("fc_42 a second start hands its file to the first window and ends", async () => {
  const app = await start();
  expect(await app.startAgain(["notes.md"])).toBe(0);
  const files = await app.until(
    "the file did not arrive",
    () => app.invoke<string[]>("take_opened_files"),
    (found) => found.length > 0,
  );
  expect(files).toEqual([join(app.data, "notes.md")]);
});

test("fc_42 of two starts at the same moment one gives way", async () => {
  const desktop = await Desktop.open();
  const both = [desktop.run(), desktop.run()];
  try {
    expect(await Promise.race(both.map(ended))).toBe(0);
    expect(both.filter((each) => each.exitCode === null)).toHaveLength(1);
  } finally {
    for (const each of both) killGroup(each);
    desktop.close();
  }
});

test("a window keeps the size that its folder remembers", async () => {
  const app = await start({ size: "narrow", theme: "dark" });
  expect(await innerSize(app)).toEqual([900, 600]);
  const dark = "return matchMedia('(prefers-color-scheme: dark)').matches";
  expect(await app.driver.executeScript(dark)).toBe(true);
  await app.shot("shell-narrow-dark");
});

test("fc_42 after a crash the next start works without any cleaning up", async () => {
  const data = folder();
  (await startApp({ data })).crash();
  const second = await start({ data });
  expect(await second.driver.getTitle()).toBe("Palimpsest");
});
