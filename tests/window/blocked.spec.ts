// What the program says when it cannot open its data, and that it then touches nothing.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folder, start } from "./lifetime";
import { bankNamed, SAMPLE, waiting } from "./screens";

test("fc_41 the data of a newer program is told and not touched", async () => {
  const data = folder();
  const file = join(data, "palimpsest.db");
  writeFileSync(file, newerFile());
  const before = sum(file);
  const app = await start({ data });
  await app.seeText("made by a newer version of the program and was not touched");
  await app.seeText("Update the program");
  await app.seeText(data);
  expect(await app.axe()).toEqual([]);
  await app.shot("blocked-newer");

  await app.click("=Try again");
  await app.seeText("made by a newer version of the program");
  expect(sum(file)).toBe(before);
  expect(readdirSync(data).filter((name) => name.startsWith("palimpsest.db"))).toEqual([
    "palimpsest.db",
  ]);

  // Twice, as an impatient person does.
  rmSync(file);
  await app.click("=Try again");
  await app.invoke("reopen", { folder: null });
  await app.see("=Review the waiting change");
});

test("fc_43 a folder that cannot be written is told with its path", async () => {
  // Root may write into any folder of a disk, so the file that is opened first leads to a place
  // where nobody may make one.
  const data = folder();
  symlinkSync("/sys/palimpsest.lock", join(data, LOCK));
  const app = await start({ data });
  await app.seeText("The data folder cannot be written");
  await app.seeText(data);
  await app.see("=Choose another folder");
  await app.shot("blocked-read-only");

  unlinkSync(join(data, LOCK));
  await app.click("=Try again");
  await app.see("=Review the waiting change");
});

test("fc_42 a second start on the same folder ends and leaves the first at work", async () => {
  const app = await start();
  await app.see("=Review the waiting change");
  expect(await app.startAgain()).toBe(0);
  await app.click("=Review the waiting change");
  await app.see("article[aria-current]");
  expect(await waiting(app, SAMPLE)).toHaveLength(1);
  expect(await bankNamed(app, "Kestrel (sample)")).toBe(SAMPLE);
});

const LOCK = "palimpsest.lock";

const sum = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

/** An empty database of one page whose `user_version` lies beyond all that this program knows. */
function newerFile(): Buffer {
  const page = Buffer.alloc(4096);
  page.write("SQLite format 3\0", "latin1");
  page.writeUInt16BE(page.length, 16);
  page.set([1, 1, 0, 64, 32, 32], 18);
  const fields: [at: number, value: number][] = [
    [24, 1],
    [28, 1],
    [44, 4],
    [56, 1],
    [60, 4_000],
    [92, 1],
    [96, 3_046_000],
  ];
  for (const [at, value] of fields) page.writeUInt32BE(value, at);
  page.writeUInt8(0x0d, 100);
  page.writeUInt16BE(page.length, 105);
  return page;
}
