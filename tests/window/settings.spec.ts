// Settings: what is chosen holds at once and at the next start, and an endpoint that cannot work is
// told in words with a next step.

import { expect, test } from "vitest";
import type { App } from "./app";
import { folder, start } from "./lifetime";
import { go, SAMPLE } from "./screens";
import { serve } from "./stand-in";

const ground = (app: App) =>
  app.driver.executeScript<string>("return getComputedStyle(document.body).backgroundColor");

test("the theme changes at once and is kept", async () => {
  const data = folder();
  const app = await start({ data });
  await go(app, `/b/${SAMPLE}/settings/look`);
  await app.click("=Light");
  const light = await ground(app);
  await app.click("=Dark");
  const dark = await app.until(
    "the page does not turn dark",
    () => ground(app),
    (colour) => colour !== light,
  );
  await app.click("=Larger");
  await app.seeText("110 %");
  await app.shot("settings-look-dark");
  await app.stop();

  const second = await start({ data });
  await go(second, `/b/${SAMPLE}/settings/look`);
  await second.seeText("110 %");
  expect(await ground(second)).toBe(dark);
});

test("fc_22 an endpoint where nobody listens, and one that answers prose, are told in words", async () => {
  const app = await start();
  await go(app, `/b/${SAMPLE}/settings/models`);
  await add(app, "Nobody", "http://127.0.0.1:9/v1");
  const nobody = await checked(app, "Nobody");
  expect(nobody).toMatch(/server|reach|answer|connect/i);
  await app.shot("endpoint-unreachable");

  const router = await serve({ broken: true });
  await add(app, "Router", router.address);
  const prose = await checked(app, "Router");
  expect(prose).not.toMatch(/undefined|null|\{|panicked/);
  await app.shot("endpoint-prose");

  await add(app, "No address", "not an address");
  await app.see("[role=dialog] [role=alert], [role=dialog] [aria-invalid=true]");
  await app.shot("endpoint-address");
});

async function add(app: App, name: string, address: string): Promise<void> {
  await app.click("=Add an endpoint");
  await app.fill("=Name", name);
  await app.fill("=Address", address);
  await app.fill("=Model", "any");
  await app.click("=Save and check");
}

/** The text of an endpoint's card once its check has ended. */
async function checked(app: App, name: string): Promise<string> {
  const card = `article[aria-label="${name}"]`;
  await app.see(card);
  return app.until(
    `the check of ${name} does not end`,
    () => app.text(card),
    (text) => text.includes("Check again"),
  );
}
