// Every screen on the sample bank, in both themes and both sizes: a picture to look at, no fault
// that axe finds, nothing wider than the window.

import { describe, expect, test } from "vitest";
import type { App } from "./app";
import { start } from "./lifetime";
import { go, SAMPLE } from "./screens";

const QUESTION = "What is known about the Falter tablet?";

/** Screens that a link leads to, each with a text that shows when its content has come. */
const places: [name: string, path: string, text: string][] = [
  ["models", "models", "Field devices"],
  ["folders", "models?layout=folders", "No pages yet"],
  ["model", "models/project-status", "Show who wrote what"],
  ["model-evidence", "models/project-status/evidence", "Cited by the document"],
  ["model-structured", "models/project-status/structured", "No structured output"],
  ["model-trace", "models/project-status/trace", "Outcome"],
  ["model-history", "models/project-status/history", "Version 1"],
  ["model-settings", "models/project-status/settings", "Who decides"],
  ["new-model", "models/new", "Make the model"],
  ["memories", "memories", "#devices"],
  ["import", "memories/import", "File or folder"],
  ["retain", "memories/retain", "Keep the text"],
  ["directives", "directives", "Rules that every answer keeps"],
  ["two-dispositions", "directives/compare", "none answers now"],
  ["activity", "activity", "Pause automatic work"],
  ["settings", "settings/models", "Add an endpoint"],
  ["settings-work", "settings/work", "Fold facts into observations"],
  ["settings-look", "settings/look", "Text size"],
  ["settings-data", "settings/data", "Search by meaning"],
  ["settings-about", "settings/about", "Third-party notices"],
];

describe.each([
  ["light", "wide"],
  ["dark", "wide"],
  ["light", "narrow"],
  ["dark", "narrow"],
] as const)("%s, %s", (theme, size) => {
  test("every screen", async () => {
    const app = await start({ theme, size });
    const faults: string[] = [];
    const look = async (name: string) => {
      await app.settled();
      await app.shot(`look-${name}-${theme}-${size}`);
      for (const fault of await app.axe()) faults.push(`${name}: ${fault}`);
      for (const wide of await overflowing(app)) faults.push(`${name}: ${wide} is cut off`);
    };

    await app.see("=Review the waiting change");
    await app.seeText("A change that waits");
    await look("first-run");
    await app.click("=Review the waiting change");
    await app.see("article[aria-current]");
    await look("review-tour");
    await app.press("Escape");
    await look("review");
    for (const [key, view] of [
      ["2", "split"],
      ["3", "rendered"],
      ["4", "structure"],
      ["5", "result"],
    ] as const) {
      await app.press(key);
      await look(`review-${view}`);
    }
    await app.press("1", "y", "Control+Backspace");
    await app.see("=Reject the proposal");
    await look("review-reject");
    await app.press("Escape");
    await app.press("Control+k");
    await app.type("falter");
    await app.see("[role=option]");
    await look("palette");
    await app.press("Escape");
    await app.press("?");
    await app.see("=Keys of this screen");
    await look("help");
    await app.press("Escape");

    for (const [name, path, text] of places) {
      await go(app, `/b/${SAMPLE}/${path}`);
      await app.seeText(text);
      await look(name);
    }

    await go(app, `/b/${SAMPLE}/models/project-status/settings`);
    await app.click("=Describe fields…");
    await app.click("=Status*");
    await app.see("[role=treegrid]");
    await look("model-schema");
    await go(app, `/b/${SAMPLE}/models/project-status`);
    await app.see("=Edit");
    await app.press("d");
    await app.see("=Drop it");
    await look("dry-run");

    await go(app, `/b/${SAMPLE}/memories`);
    await app.see("[role=option]");
    await app.press("n");
    await app.see("=Statement");
    await look("memory-add");
    await app.press("Escape");
    await go(app, `/b/${SAMPLE}/reflect`);
    await app.see("=Question");
    await look("reflect-empty");
    await app.fill("=Question", QUESTION);
    await app.press("Control+Enter");
    await app.see("=Save as model");
    await look("reflect");
    expect(faults).toEqual([]);
  }, 300_000);
});

/** What reaches beyond the window and cannot be scrolled to. */
const overflowing = (app: App): Promise<string[]> =>
  app.driver.executeScript<string[]>(
    `return document.documentElement.scrollWidth > innerWidth
       ? [...document.querySelectorAll("body *")]
           .filter((e) => e.getBoundingClientRect().right > innerWidth + 1)
           .slice(0, 3)
           .map((e) => e.tagName.toLowerCase() + ": " + (e.textContent ?? "").slice(0, 40))
       : [];`,
  );
