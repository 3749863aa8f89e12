// Rules of a bank: written, tried on a scope, switched, moved, deleted and put back by keys; an answer
// lists what was held back and keeps what applies; one question is asked under two dispositions.

import { expect, test } from "vitest";
import type { Directive } from "../../ui/src/platform/bindings";
import { type App, WORK } from "./app";
import { start } from "./lifetime";
import { go, SAMPLE } from "./screens";
import { serve } from "./stand-in";

const QUESTION = "Which devices were tried in the field?";
const RULE = "End with the word CONFIRMED.";
const LIST = '[role="listbox"][aria-label="Directives"]';

const rules = (app: App) => app.invoke<Directive[]>("list_directives", { bank: SAMPLE });
const names = async (app: App) => (await rules(app)).map(({ name }) => name);

test("fc_21 rules are tried on a scope, held back or kept by an answer, and told there", async () => {
  const endpoint = await serve();
  const app = await start();
  await go(app, `/b/${SAMPLE}/directives`);
  await app.seeText("Rules that every answer keeps");
  await app.click("=Begin with this: Dates");
  await app.press("Control+Enter");
  await app.see("=Switch off");
  await app.press("Escape");

  await app.press("n");
  await app.fill("=Name", "Confirm");
  await app.fill("=Rule", RULE);
  await app.fill("=Tags", "devices");
  await app.press("Control+Enter");
  await app.see("=Switch off");
  await app.seeText("1 rule applies, 1 held back by its tags");
  await app.fill("=Which rules apply for tags", "devices");
  await app.seeText("2 rules apply");
  await app.shot("directives-scope");
  expect(await names(app)).toEqual(["Confirm", "Dates"]);

  // By keys alone: down, off, undone by switching again; up; deleted, and put back.
  await app.driver.executeScript("document.querySelector(arguments[0]).focus()", LIST);
  await app.press("Home");
  await app.press("ArrowDown");
  await app.press("Space");
  await app.seeText("1 rule applies, 1 switched off");
  await app.press("Space");
  await app.seeText("2 rules apply");
  await app.press("Alt+ArrowUp");
  await app.until(
    "it does not move",
    () => names(app),
    ([first]) => first === "Dates",
  );
  await app.press("Control+Backspace");
  await app.until(
    "it is not deleted",
    () => names(app),
    (all) => all.length === 1,
  );
  await app.click("=Undo");
  await app.until(
    "it is not put back",
    () => names(app),
    ([first]) => first === "Dates",
  );
  expect(await app.axe()).toEqual([]);

  await connect(app, endpoint.address, endpoint.llm);
  await go(app, `/b/${SAMPLE}/reflect`);
  await app.fill("=Question", QUESTION);
  await app.press("Control+Enter");
  await app.see('[aria-label="Rules of this answer"]', WORK);
  const plain = await app.text('[aria-label="Rules of this answer"]');
  expect(plain).toMatch(/Rules applied\s+Dates/);
  expect(plain).toMatch(/Held back: scope\s+Confirm/);
  expect(await app.text('[aria-label="Answer"]')).not.toContain("CONFIRMED");
  await app.shot("answer-rules-held-back");

  await app.click("=Tags*");
  await app.fill("=Only memories with these tags", "devices");
  await app.press("Escape");
  await app.click("=Ask again");
  await app.until(
    "the rule does not apply",
    () => app.text('[aria-label="Rules of this answer"]'),
    (text) => /Rules applied\s+Dates\s+Confirm/.test(text) && !text.includes("Held back"),
    WORK,
  );
  expect(await app.text('[aria-label="Answer"]')).toContain("CONFIRMED");
}, 300_000);

test("one question is asked under two dispositions, and each answer is kept with its own", async () => {
  const endpoint = await serve();
  const app = await start();
  await connect(app, endpoint.address, endpoint.llm);
  await go(app, `/b/${SAMPLE}/directives`);
  await app.click("=Ask the same question with two settings");
  await app.fill("=Question", QUESTION);
  await app.shot("two-dispositions-before");
  await app.press("Control+Enter");
  await app.until(
    "two answers do not come",
    () => app.path(),
    (path) => path.includes("left=") && path.includes("right="),
    WORK,
  );
  const right = '[aria-label="Answer: right disposition"]';
  await app.until(
    "the answers are not shown",
    () => app.text(right),
    (text) => text !== "",
    WORK,
  );
  expect(await app.text(right)).toContain("Unproven");
  expect(await app.text('[aria-label="Answer: left disposition"]')).not.toContain("Unproven");
  expect(await app.axe()).toEqual([]);
  await app.shot("two-dispositions");
  await app.click(`${right} a[href*="/reflect/"]`);
  await app.see("=Evidence");
}, 300_000);

async function connect(app: App, address: string, llm: string): Promise<void> {
  await go(app, `/b/${SAMPLE}/settings/models`);
  await app.click("=Add an endpoint");
  await app.fill("=Name", "Stand-in");
  await app.fill("=Address", address);
  await app.fill("=Model", llm);
  await app.click("=Save and check");
  await app.seeText(`Now answering: ${llm}`, WORK);
}
