// A review of a document of one megabyte in the real window: it opens, scrolls from end to end with a
// bounded number of elements, and is decided by keys. How long frames take is told, not judged: that
// depends on the machine.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CreatedModel, ModelDetail } from "../../ui/src/platform/bindings";
import type { App } from "./app";
import { folder, start } from "./lifetime";
import { approve, go, modelNamed, proposal, SAMPLE, waiting } from "./screens";

/** Elements of a page that draws only what is in view, however long the document is. */
const MOST_ELEMENTS = 4_000;
/** Blocks of the document; with their text they make a megabyte. */
const BLOCKS = 2_400;
/** Every so many blocks one is changed. */
const EVERY = 240;

const block = (n: number, word: string) =>
  `Entry ${n} of the log was ${word}. ${"The keeper noted wind, water and the ships that passed. ".repeat(7)}`;

function log(changed: boolean): string {
  const blocks = Array.from({ length: BLOCKS }, (_, n) =>
    block(n, changed && n % EVERY === 0 ? "rewritten" : "kept"),
  );
  return `# Log\n\n${blocks.join("\n\n")}\n`;
}

interface Scrolled {
  frames: number;
  longest: number;
  late: number;
  elements: number;
}

/** Scrolls what scrolls on the page to its end, a notch of a wheel with every frame. */
function scroll(app: App): Promise<Scrolled> {
  return app.driver.executeAsyncScript<Scrolled>(`
    const done = arguments[arguments.length - 1];
    const boxes = [...document.querySelectorAll("*")];
    const box = boxes.reduce((best, each) =>
      each.scrollHeight - each.clientHeight > best.scrollHeight - best.clientHeight &&
      getComputedStyle(each).overflowY !== "visible" ? each : best, document.documentElement);
    const result = { frames: 0, longest: 0, late: 0, elements: 0 };
    let last;
    const step = (now) => {
      if (last !== undefined) {
        result.frames += 1;
        result.longest = Math.max(result.longest, Math.round(now - last));
        if (now - last > 50) result.late += 1;
      }
      last = now;
      result.elements = Math.max(result.elements, document.querySelectorAll("*").length);
      const before = box.scrollTop;
      box.scrollTop = before + 100;
      if (box.scrollTop === before || result.frames > 3000) done(result);
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  `);
}

test("a change of a document of one megabyte is reviewed without drawing all of it", async () => {
  const app = await start();
  await app.see("=Review the waiting change");
  const { id } = await app.invoke<CreatedModel>("create_model", {
    bank: SAMPLE,
    input: {
      id: "log",
      name: "Log",
      source_query: "What does the log say?",
      content: log(false),
      review: "manual",
      trigger: { mode: "delta" },
    },
  });
  const file = join(folder(), "log.md");
  await app.invoke("set_publish_target", {
    bank: SAMPLE,
    id,
    input: { path: file, front_matter: false },
  });
  const text = log(true);
  expect(Buffer.byteLength(text)).toBeGreaterThan(1_000_000);
  writeFileSync(file, text);
  await go(app, `/b/${SAMPLE}/models/${id}`);
  const rows = await app.until(
    "the outside edit is not offered",
    () => waiting(app, SAMPLE),
    (all) => all.some((row) => row.model_id === id),
  );
  const row = rows.find((each) => each.model_id === id);
  if (row === undefined) throw new Error("nothing waits");
  await go(app, `/b/${SAMPLE}/review/${row.id}`);
  await app.see("article[aria-current]");
  await app.settled();

  const scrolled = await scroll(app);
  console.info(
    `review of 1 MB, scrolled: ${scrolled.frames} frames, ${scrolled.late} over 50 ms, ` +
      `longest ${scrolled.longest} ms, at most ${scrolled.elements} elements`,
  );
  expect(scrolled.frames).toBeGreaterThan(10);
  expect(scrolled.elements).toBeLessThan(MOST_ELEMENTS);
  await app.shot("large-review");

  // Whatever is in focus leaves the screen with its decision: the next change is far below.
  let longest = 0;
  for (let left = BLOCKS / EVERY; left > 0; left -= 1) {
    const begin = performance.now();
    await app.press("y");
    await app.until(
      "a change was not accepted",
      () => proposal(app, SAMPLE, row.id),
      (view) => view.row.decisions.undecided < left,
    );
    await app.settled();
    longest = Math.max(longest, Math.round(performance.now() - begin));
  }
  console.info(`a decision, until the page is at rest again: at most ${longest} ms`);
  await approve(app, await proposal(app, SAMPLE, row.id));
  const after = await app.invoke<ModelDetail>("get_model", { bank: SAMPLE, id });
  expect(after.content).toBe(text);
  expect((await modelNamed(app, SAMPLE, "Log")).version).toBe(2);
}, 300_000);
