// The main job on input that nobody prepared: the history of Debian, as its own package brings it.
// Once with no language model, once with one at an endpoint on loopback.

import { expect, test } from "vitest";
import type { BankId } from "../../ui/src/platform/bindings";
import { type App, WORK } from "./app";
import { start } from "./lifetime";
import {
  approve,
  bankNamed,
  connect,
  decideAll,
  go,
  idle,
  model,
  modelNamed,
  proposal,
  waiting,
} from "./screens";
import { serve } from "./stand-in";

const CHAPTERS = ["intro", "leaders", "releases", "detailed"];
const QUESTION = "Who led the project and when?";
const NAME = "Leaders";

/** What is learnt after the chapters were written. */
const NEWS = [
  ["Andreas Tille was elected leader of the Debian project for a second time.", "2025-04-20"],
  ["Sruthi Chandran was elected leader of the Debian project.", "2026-04-20"],
  ["Three people stood for leader of the Debian project in the last election.", "2026-04-18"],
] as const;

test("notes of one's own become a reviewed document, and three facts change only their blocks", async () => {
  const app = await start();
  await journey(app, "own");
}, 300_000);

test("the same with a language model at an endpoint", async () => {
  const endpoint = await serve();
  const app = await start();
  await connect(app, endpoint);
  await app.shot("endpoint-checked");
  await journey(app, "endpoint");
  const offered = endpoint.asked.flatMap(({ tools }) => tools);
  expect(offered).toContain("done");
}, 300_000);

async function journey(app: App, shots: string): Promise<void> {
  const bank = await makeBank(app);
  await importChapters(app, bank, shots);
  await ask(app, shots);
  await keepAsModel(app, bank);

  const first = await reviewAll(app, bank, shots);
  expect(first.content).not.toBe("");

  for (const [text, day] of NEWS) await addFact(app, bank, text, day);
  await refresh(app, bank, first.model.id);
  await reviewAll(app, bank, `${shots}-delta`);
  const second = await model(app, bank, first.model.id);

  // Blocks that no new fact touched are the same to the letter, in the same place.
  const touched = lines(second.content).filter((line) => !lines(first.content).includes(line));
  const gone = lines(first.content).filter((line) => !lines(second.content).includes(line));
  expect(touched.length).toBeGreaterThan(0);
  expect(touched.length).toBeLessThanOrEqual(NEWS.length * 2);
  expect(gone.length).toBeLessThanOrEqual(NEWS.length);
  await app.press("h");
  await app.see("=Revert to version 1*");
  await app.shot(`${shots}-delta-history`);
}

async function makeBank(app: App): Promise<BankId> {
  await go(app, "/");
  await app.see("=Bank Kestrel (sample), switch");
  await app.click("=Start an empty bank");
  await app.fill("=Name", "Debian");
  await app.press("Enter");
  await app.see("=Bank Debian, switch");
  return bankNamed(app, "Debian");
}

/** Imports the English chapters, one path after another in one field. */
async function importChapters(app: App, bank: BankId, shots: string): Promise<void> {
  for (const name of CHAPTERS) {
    await go(app, `/b/${bank}/memories/import`);
    await app.fill("=File or folder", `/usr/share/doc/debian-history/docs/${name}.en.html`);
    await app.press("Enter");
    await app.seeText("1 document");
    // Preselected where no language model is set up.
    await app.click("=As passages");
    if (name === "detailed") await app.shot(`${shots}-import-plan`);
    await app.click("=Import 1 file");
    await app.seeText("Import finished", WORK);
  }
  await app.shot(`${shots}-imported`);
  await idle(app, bank);
  await app.click("=See the memories");
  await app.see("[role=listbox] [role=option]");
  await app.settled();
  await app.shot(`${shots}-memories`);
}

async function ask(app: App, shots: string): Promise<void> {
  await app.press("g", "f");
  await app.fill("=Question", QUESTION);
  await app.press("Control+Enter");
  await app.see("=Save as model", WORK);
  // A leader of the early years, and one of the last chapters.
  const answer = await app.text("[aria-label=Answer]");
  expect(answer).toMatch(/Murdock|Perens|Jackson|Akkerman|Michlmayr|McIntyre|Zacchiroli|Tille/);
  expect(await app.count("button[aria-label^='source ']")).toBeGreaterThan(0);
  await app.settled();
  await app.shot(`${shots}-answer`);
}

async function keepAsModel(app: App, bank: BankId): Promise<void> {
  await app.click("=Save as model");
  await app.see("=Make the model");
  await app.fill("=Name", NAME);
  await app.press("Control+Enter");
  await app.see(`=${NAME}`);
  await idle(app, bank);
}

/** The waiting proposal of the model, reviewed by keyboard and approved whole. */
async function reviewAll(app: App, bank: BankId, shots: string) {
  await app.press("g", "r");
  await app.see("article[aria-current]");
  const [row] = await waiting(app, bank);
  if (row === undefined) throw new Error("nothing waits for review");
  await app.settled();
  await app.shot(`${shots}-review`);
  await decideAll(app, bank, row.id, "y");
  await approve(app, await proposal(app, bank, row.id));
  const { id } = await modelNamed(app, bank, NAME);
  await app.settled();
  await app.shot(`${shots}-document`);
  return model(app, bank, id);
}

async function addFact(app: App, bank: BankId, text: string, day: string): Promise<void> {
  await go(app, `/b/${bank}/memories`);
  await app.see("[role=listbox] [role=option]");
  await app.press("n");
  await app.fill("=Statement", text);
  await app.fill("=Happened on", day);
  await app.press("Enter");
  await app.seeGone("[role=dialog]");
  await app.seeText(text);
}

async function refresh(app: App, bank: BankId, id: string): Promise<void> {
  await go(app, `/b/${bank}/models/${id}`);
  await app.see("=Refresh");
  await app.press("r");
  await idle(app, bank);
  expect(
    await waiting(app, bank),
    JSON.stringify((await model(app, bank, id)).last_run),
  ).toHaveLength(1);
}

const lines = (text: string): string[] => text.split("\n").filter((line) => line.trim() !== "");
