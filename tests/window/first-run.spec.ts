// From the first start to an approved change, on the bank that the program brings along, with no
// language model, no key and no network.

import { expect, test } from "vitest";
import type { App } from "./app";
import { start } from "./lifetime";
import { approve, decide, decideAll, model, proposal, SAMPLE, waiting } from "./screens";

/** The review that waits in the sample bank, opened from the first page. */
async function openReview(app: App) {
  await app.click("=Review the waiting change");
  await app.see("article[aria-current]");
  const [row] = await waiting(app, SAMPLE);
  if (row === undefined) throw new Error("nothing waits for review");
  return proposal(app, SAMPLE, row.id);
}

test("a first start offers the sample bank, and a review needs only y, n and Ctrl+Enter", async () => {
  const app = await start();
  await app.see("=Review the waiting change");
  await app.see("=Start an empty bank");
  await app.seeText("A change that waits");
  await app.shot("first-run");

  const view = await openReview(app);
  expect(view.extractive).toBe(true);
  expect(view.row.operations).toBeGreaterThanOrEqual(4);
  await app.seeText("Extractive");
  await app.shot("first-run-review");

  // The first is rejected, all others are accepted.
  await decide(app, "n");
  await decideAll(app, SAMPLE, view.row.id, "y");
  const all = view.row.operations;
  const decided = await proposal(app, SAMPLE, view.row.id);
  const { accepted } = decided.row.decisions;
  expect(accepted).toBeGreaterThan(0);
  expect(accepted).toBeLessThan(all);
  await app.see(`=Approve ${accepted} of ${all}`);
  await app.shot("first-run-decided");

  await approve(app, view);
  const next = view.base_version + 1;
  const { content } = await model(app, SAMPLE, view.row.model_id);
  for (const op of decided.ops.filter(({ number }) => number > 0)) {
    if (op.decision === "accepted" && op.new_text)
      expect(content).toContain(firstLine(op.new_text));
    if (op.decision === "rejected" && op.new_text)
      expect(content).not.toContain(firstLine(op.new_text));
  }

  await app.press("h");
  await app.see(`[role=option][aria-selected=true]`);
  await app.seeText(`Version ${next}`);
  await app.seeText(`you accepted ${accepted} of ${all}`);
  await app.shot("first-run-history");
  expect(await waiting(app, SAMPLE)).toHaveLength(0);
});

test("decisions outlive the window, and Undo brings the earlier version back", async () => {
  const app = await start();
  const view = await openReview(app);
  await decide(app, "y");
  await app.driver.navigate().refresh();
  await app.see("article[aria-current]");
  const kept = await proposal(app, SAMPLE, view.row.id);
  expect(kept.row.decisions.accepted).toBeGreaterThan(0);

  const before = await model(app, SAMPLE, view.row.model_id);
  await approve(app, view);
  await app.click("=Undo");
  await app.seeText(`Reverted to version ${view.base_version}`);
  const after = await model(app, SAMPLE, view.row.model_id);
  expect(after.content).toBe(before.content);
  expect(after.model.version).toBe(view.base_version + 2);
});

/** A block's first line without the signs of Markdown that a document may write differently. */
const firstLine = (text: string): string => (text.split("\n")[0] ?? "").replace(/^[-*•\d.\s]+/, "");
