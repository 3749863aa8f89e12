// Questions in the real window, with a language model on loopback that takes its time: watched, stopped,
// cited, filled into fields, compared, taken out, kept as a model.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ReflectRow, ReflectRunView } from "../../ui/src/platform/bindings";
import { type App, WORK } from "./app";
import { folder, start } from "./lifetime";
import { connect, go, idle, modelNamed, SAMPLE } from "./screens";
import { serve } from "./stand-in";

const QUESTION = "What is known about the Falter tablet?";

const rows = (app: App) => app.invoke<ReflectRow[]>("list_reflect_runs", { bank: SAMPLE });

async function newest(app: App): Promise<ReflectRunView> {
  const [row] = await rows(app);
  if (row === undefined) throw new Error("nothing was asked");
  return app.invoke<ReflectRunView>("get_reflect_run", { bank: SAMPLE, run: row.id });
}

test("a question is watched, stopped, asked again, cited, looked into and kept", async () => {
  const endpoint = await serve();
  const app = await start();
  await connect(app, endpoint);
  await go(app, `/b/${SAMPLE}/reflect`);
  await app.seeText("worked out from sizes");

  // Watched: steps and bars come while it runs; stopped by a key, it says so and stays in the list.
  endpoint.pace = 1500;
  await app.fill("=Question", QUESTION);
  await app.press("Control+Enter");
  await app.see("=Stop");
  await app.seeText("Turn 1 of at most");
  await app.see("[role=treegrid] [role=row][aria-level]");
  await app.seeText("running");
  await app.keep("reflect-live");
  await app.press("Escape");
  await app.until(
    "the question does not stop",
    () => rows(app),
    ([row]) => row?.status === "cancelled",
  );
  await app.seeText("Stopped");
  await app.seeGone("=Stop");
  await app.settled();
  await app.shot("reflect-stopped");

  // Answered, with its sources by keyboard.
  endpoint.pace = 100;
  await app.press("Control+Enter");
  await app.see("=Save as model", WORK);
  const view = await newest(app);
  expect(view.status).toBe("finished");
  expect(view.trace.llm_calls?.length).toBeGreaterThan(1);
  await app.seeText(`${view.trace.llm_calls?.length} model calls,`);
  await app.seeText("expected");
  await app.press("n");
  await go(app, `/b/${SAMPLE}/reflect/${view.id}`);
  await app.see("button[data-citation]");
  await app.driver.executeScript("document.activeElement?.blur()");
  await app.press("c");
  expect(await app.focused()).toContain("source 1");
  await app.press("Enter");
  await app.see("button[data-citation][aria-pressed=true]");
  expect(await app.path()).toContain("source=");
  await app.shot("reflect-cited");

  // The trace by keyboard, down to what was sent.
  await app.driver.executeScript("document.querySelector('[role=treegrid]').focus()");
  await app.press("ArrowDown", "Enter");
  await app.see("[aria-label='Details of the span']");
  await app.click("=What was sent");
  await app.seeText("reflect.system");
  expect(await app.text("[aria-label='Details of the span']")).toContain(QUESTION);
  await app.press("Escape");

  // Taken out into a folder, without a key in it.
  const place = folder();
  await app.click("=Export");
  await app.fill("=Folder", place);
  await app.press("Enter");
  await app.seeText("Written to");
  const [file] = readdirSync(place);
  const text = readFileSync(join(place, file ?? ""), "utf8");
  expect(text).toContain(`# ${QUESTION}`);
  expect(text).toContain("[^1]:");

  // Kept as a model.
  await app.click("=Save as model");
  await app.see("=Make the model");
  await app.fill("=Name", "Tablet");
  await app.press("Control+Enter");
  await app.see("=Tablet");
  await idle(app, SAMPLE);
  expect((await modelNamed(app, SAMPLE, "Tablet")).source_query).toBe(QUESTION);
}, 300_000);

test("fields are built, tried on an answer and filled; two answers stand side by side", async () => {
  const endpoint = await serve();
  const app = await start();
  await connect(app, endpoint);
  await go(app, `/b/${SAMPLE}/reflect`);
  await app.fill("=Question", QUESTION);
  await app.press("Control+Enter");
  await app.see("=Save as model", WORK);

  await app.click("=Fields none");
  await app.click("=Status*");
  await app.see("[role=treegrid]");
  await app.click("=Try on the answer");
  await app.seeText("on track", WORK);
  await app.settled();
  await app.shot("reflect-fields");
  await app.click("=Back to the question");
  await app.see("=Fields 3 fields");
  await app.click("=Compare");
  await app.click("=Ask again and compare");
  await app.seeText("Two questions side by side", WORK);
  await app.see("[aria-label='Answer, the other']");
  expect(await app.count("[role=treegrid]")).toBe(2);
  await app.settled();
  await app.shot("reflect-compared");
  expect(await app.axe()).toEqual([]);
  await app.click("=Back to the answer");

  await app.click("=Fields none");
  await app.click("=Status*");
  await app.click("=Back to the question");
  await app.click("=Ask again");
  await app.see("section[aria-label=Fields]", WORK);
  const view = await newest(app);
  expect(view.structured_output).toMatchObject({ status: "on track" });
  await app.settled();
  await app.shot("reflect-structured");
}, 300_000);
