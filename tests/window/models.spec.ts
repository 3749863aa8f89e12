// Mental models and their review in the real window: schedules that catch up, conflicts, approval of a
// part with what it needs, going back, a dry run that is kept, a published file that somebody changes.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type {
  BankId,
  CreatedModel,
  ModelDetail,
  OperationRow,
  OpView,
  ProposalView,
  RefreshRunView,
  TimelineEntry,
} from "../../ui/src/platform/bindings";
import { type App, WORK } from "./app";
import { folder, start } from "./lifetime";
import {
  approve,
  bankNamed,
  decide,
  decideAll,
  go,
  idle,
  model,
  modelNamed,
  proposal,
  SAMPLE,
  waiting,
} from "./screens";

/** A schedule of each minute comes due within this time, on a busy machine. */
const MINUTE = 150_000;

const FACTS = [
  ["The kiln of the workshop reaches 1200 degrees.", ["Kiln"]],
  ["The kiln of the workshop was built in 2019.", ["Kiln"]],
] as const;

const LATER = [
  ["The wheel of the workshop turns to the left.", ["Wheel"]],
  ["The wheel of the workshop was bought in 2021.", ["Wheel"]],
  ["The kiln of the workshop was cleaned in March 2026.", ["Kiln"]],
] as const;

async function addFacts(
  app: App,
  bank: BankId,
  facts: readonly (readonly [string, readonly string[]])[],
): Promise<void> {
  for (const [text, entities] of facts) {
    await app.invoke("add_memory", { bank, fact: { text, entities: [...entities] } });
  }
}

/** A bank of its own with one model whose first document is approved. */
async function workshop(app: App): Promise<{ bank: BankId; id: string }> {
  await app.see("=Review the waiting change");
  await app.invoke("create_bank", { input: { name: "Workshop", id: null } });
  const bank = await bankNamed(app, "Workshop");
  await addFacts(app, bank, FACTS);
  const made = await app.invoke<CreatedModel>("create_model", {
    bank,
    input: {
      id: "tools",
      name: "Tools",
      source_query: "What do we know about the kiln and the wheel of the workshop?",
      trigger: { mode: "delta" },
      review: "manual",
    },
  });
  await idle(app, bank);
  const [first] = await waiting(app, bank);
  if (first === undefined) throw new Error("the first build made no proposal");
  await go(app, `/b/${bank}/review/${first.id}`);
  await app.see("article[aria-current]");
  await decideAll(app, bank, first.id, "y");
  await approve(app, await proposal(app, bank, first.id));
  return { bank, id: made.id };
}

/** A refresh by the key, to its end. */
async function refresh(app: App, bank: BankId, id: string): Promise<ProposalView> {
  await go(app, `/b/${bank}/models/${id}`);
  await app.see("=Refresh");
  const operations = () => app.invoke<OperationRow[]>("list_operations", { bank });
  const before = (await operations()).length;
  await app.press("r");
  await app.until("no refresh is queued", operations, (rows) => rows.length > before);
  await idle(app, bank);
  const [row] = await waiting(app, bank);
  if (row === undefined) throw new Error("the refresh made no proposal");
  return proposal(app, bank, row.id);
}

async function openReview(app: App, bank: BankId, id: string): Promise<void> {
  await go(app, `/b/${bank}/review/${id}`);
  await app.see("article[aria-current]");
}

const decidable = (view: ProposalView): OpView[] =>
  view.ops.filter(({ status }) => status === "applied");

const unsettled = (view: ProposalView): OpView[] =>
  decidable(view).filter(({ conflict, decision }) => conflict && decision !== "rejected");

test("a schedule made in the form runs by itself, and one that was missed is caught up", async () => {
  const data = folder();
  const app = await start({ data });
  const { bank, id } = await workshop(app);
  await app.invoke("set_program_settings", { patch: { cron_tick_seconds: 30 } });

  await go(app, `/b/${bank}/models/${id}/settings`);
  await app.click("=On a schedule");
  await app.fill("=Expression", "* * * * *");
  await app.seeText("Next runs");
  await app.shot("schedule");
  await app.press("Control+Enter");
  await app.until(
    "the schedule is not saved",
    () => model(app, bank, id),
    ({ trigger }) => trigger.refresh_cron === "* * * * *",
  );
  await addFacts(app, bank, LATER.slice(0, 1));
  await app.until(
    "the schedule does not start a refresh",
    () => waiting(app, bank),
    (rows) => rows.length === 1 && rows[0]?.triggered_by.includes("cron") === true,
    MINUTE,
  );
  await go(app, `/b/${bank}/models/${id}/trace`);
  await app.seeText("by schedule");
  await app.shot("schedule-run");

  const [scheduled] = await waiting(app, bank);
  if (scheduled === undefined) throw new Error("nothing waits");
  await openReview(app, bank, scheduled.id);
  await decideAll(app, bank, scheduled.id, "y");
  await approve(app, await proposal(app, bank, scheduled.id));

  // Gone while the schedule comes due; what it missed is run once, soon after the next start.
  await addFacts(app, bank, LATER.slice(1, 2));
  const runs = await app.invoke<RefreshRunView[]>("list_refresh_runs", { bank, id });
  app.crash();
  const again = await start({ data });
  await again.until(
    "what was missed is not caught up",
    () => again.invoke<RefreshRunView[]>("list_refresh_runs", { bank, id }),
    (now) => now.some((run) => !run.dry_run && !runs.some((old) => old.id === run.id)),
    MINUTE,
  );
  expect((await waiting(again, bank)).length).toBeLessThanOrEqual(1);
}, 480_000);

test("a document changed under a review: conflicts are settled one by one, the rest keeps its decisions", async () => {
  const app = await start();
  await app.see("=Review the waiting change");
  const [row] = await app.until(
    "nothing waits for review",
    () => waiting(app, SAMPLE),
    (rows) => rows.length > 0,
  );
  if (row === undefined) throw new Error("nothing waits for review");
  const before = await proposal(app, SAMPLE, row.id);
  await openReview(app, SAMPLE, row.id);
  await decideAll(app, SAMPLE, row.id, "y");

  // A person rewrites a block that the proposal changes too.
  const target = decidable(before).find(
    ({ kind, old_text }) => kind === "replace_block" && old_text !== null,
  );
  if (!target?.old_text) throw new Error("no operation replaces a block");
  const now = await model(app, SAMPLE, row.model_id);
  const mine = `${target.old_text.trimEnd()} Checked by hand.`;
  await app.invoke<ModelDetail>("edit_model", {
    bank: SAMPLE,
    id: row.model_id,
    content: now.content.replace(target.old_text, mine),
    expectedVersion: now.model.version,
  });
  await openReview(app, SAMPLE, row.id);
  await app.seeText("no longer fit");
  await app.seeText("Checked by hand.");
  await app.shot("conflict");
  expect(await app.axe()).toEqual([]);
  const kept = await proposal(app, SAMPLE, row.id);
  expect(kept.row.state).toBe("conflicted");
  expect(kept.row.decisions.accepted).toBeGreaterThan(0);
  for (;;) {
    const open = unsettled(await proposal(app, SAMPLE, row.id));
    if (open.length === 0) break;
    const [first] = open;
    await app.click(first?.conflict?.kind === "text_changed" ? "=Keep mine" : "=Drop it");
    await app.until(
      "the conflict is not settled",
      () => proposal(app, SAMPLE, row.id),
      (view) => unsettled(view).length < open.length,
    );
  }
  await app.seeGone("=Keep mine");
  await approve(app, await proposal(app, SAMPLE, row.id));
  const after = await model(app, SAMPLE, row.model_id);
  expect(after.content).toContain("Checked by hand.");
}, 240_000);

test("approving a part takes what it needs along and leaves the rest out", async () => {
  const app = await start();
  const { bank, id } = await workshop(app);
  await addFacts(app, bank, LATER);
  const view = await refresh(app, bank, id);
  await openReview(app, bank, view.row.id);
  await app.settled();
  await app.shot("partial-review");
  const ops = decidable(view);
  expect(ops.length).toBeGreaterThan(1);

  // One that needs another, if there is one; its closure follows by itself.
  const needy = ops.find(({ requires }) => requires.length > 0) ?? ops[0];
  if (needy === undefined) throw new Error("nothing can be decided");
  for (let at = 1; at < needy.number; at++) await app.press("j");
  await decide(app, "y");
  const decided = await proposal(app, bank, view.row.id);
  for (const needed of needy.requires) {
    expect(decided.ops.find(({ op_id }) => op_id === needed)?.decision).toBe("accepted");
  }
  await app.press("Shift+N");
  const settled = await app.until(
    "what is left is not rejected",
    () => proposal(app, bank, view.row.id),
    ({ row }) => row.decisions.undecided === 0,
  );
  expect(settled.row.decisions.rejected).toBeGreaterThan(0);
  await app.press("5");
  await app.seeText("Exactly what would be published");
  await approve(app, settled);
  const after = await model(app, bank, id);
  for (const op of decidable(settled)) {
    const line = op.new_text
      ?.split("\n")
      .at(-1)
      ?.replace(/^[-*\s]+/, "");
    if (!line) continue;
    if (op.decision === "accepted") expect(after.content).toContain(line);
    else expect(after.content).not.toContain(line);
  }
  await app.press("h");
  await app.seeText("rejected");
  await app.shot("partial-history");
}, 240_000);

test("going back to a version is a version, and what came after can be read again", async () => {
  const app = await start();
  const { bank, id } = await workshop(app);
  const first = await model(app, bank, id);
  await addFacts(app, bank, LATER);
  const view = await refresh(app, bank, id);
  await openReview(app, bank, view.row.id);
  await decideAll(app, bank, view.row.id, "y");
  await approve(app, await proposal(app, bank, view.row.id));
  const second = await model(app, bank, id);
  expect(second.content).not.toBe(first.content);

  await app.press("h");
  const to = first.model.version;
  await app.see(`=Revert to version ${to}`);
  for (const part of ["=Evidence*", "=Structured*", "=Settings*"]) await app.see(part);
  await app.click("=Read again what came after");
  await app.shot("revert");
  await app.click(`=Revert to version ${to}`);
  const back = await app.until(
    "the version is not brought back",
    () => model(app, bank, id),
    ({ model: now }) => now.version === second.model.version + 1,
  );
  expect(back.content).toBe(first.content);
  const [newest] = await app.invoke<TimelineEntry[]>("list_versions", { bank, id });
  expect(newest).toMatchObject({ kind: "version", cause: "revert", actor: "person" });
  // The same facts are there to be read once more.
  expect(back.newer.length).toBeGreaterThan(0);
  const again = await refresh(app, bank, id);
  expect(decidable(again).length).toBeGreaterThan(0);
}, 240_000);

test("a dry run writes nothing and can be kept as a proposal", async () => {
  const app = await start();
  const { bank, id } = await workshop(app);
  await addFacts(app, bank, LATER);
  const before = await model(app, bank, id);
  await go(app, `/b/${bank}/models/${id}`);
  await app.see("=Refresh");
  await app.press("d");
  await app.see("=Keep as proposal", WORK);
  await app.seeText("Dry run, nothing written");
  await app.see("article[aria-current]");
  expect(await app.count("[role=radio]")).toBe(0);
  await app.settled();
  await app.shot("dry-run");
  expect(await app.axe()).toEqual([]);
  const during = await model(app, bank, id);
  expect(during.content).toBe(before.content);
  expect(during.last_run).toEqual(before.last_run);
  expect(await waiting(app, bank)).toHaveLength(0);

  await app.press("Control+Enter");
  const [row] = await app.until(
    "the dry run is not kept",
    () => waiting(app, bank),
    (rows) => rows.length === 1,
  );
  if (row === undefined) throw new Error("nothing waits");
  expect(row.reason).toBe("kept_dry_run");
  await app.see("article[aria-current]");
  await decideAll(app, bank, row.id, "y");
  await approve(app, await proposal(app, bank, row.id));
  expect((await model(app, bank, id)).model.version).toBe(before.model.version + 1);
}, 240_000);

test("a published file follows the versions, and an outside edit is offered, never overwritten", async () => {
  const app = await start();
  const { bank, id } = await workshop(app);
  const file = join(folder(), "AGENTS.md");
  await go(app, `/b/${bank}/models/${id}/settings`);
  await app.fill("=File", file);
  await app.click("=Publish there");
  await app.until(
    "the file is not written",
    async () => existsSync(file) && readFileSync(file, "utf8"),
    (text) => text !== false && text !== "",
  );
  expect(readFileSync(file, "utf8")).toBe((await model(app, bank, id)).content);

  await addFacts(app, bank, LATER);
  const view = await refresh(app, bank, id);
  await openReview(app, bank, view.row.id);
  await decideAll(app, bank, view.row.id, "y");
  await approve(app, await proposal(app, bank, view.row.id));
  const published = await model(app, bank, id);
  expect(readFileSync(file, "utf8")).toBe(published.content);

  const outside = `${published.content}\nWritten by another hand.\n`;
  writeFileSync(file, outside);
  // The window looks when a model that publishes is opened.
  await go(app, `/b/${bank}/models`);
  await app.see("[role=grid]");
  await go(app, `/b/${bank}/models/${id}`);
  const [offered] = await app.until(
    "the outside edit is not offered",
    () => waiting(app, bank),
    (rows) => rows.some(({ reason }) => reason === "outside_edit"),
  );
  if (offered === undefined) throw new Error("nothing waits");
  expect(readFileSync(file, "utf8")).toBe(outside);
  await openReview(app, bank, offered.id);
  await app.seeText("Edited outside of the program");
  await app.seeText("Written by another hand.");
  await app.shot("outside-edit");
  await decideAll(app, bank, offered.id, "y");
  await approve(app, await proposal(app, bank, offered.id));
  expect((await model(app, bank, id)).content).toContain("Written by another hand.");
  const { publish } = await app.until(
    "the file is not settled",
    () => model(app, bank, id),
    (now) => now.publish?.state === "ok",
  );
  expect(publish?.last_version).toBe((await modelNamed(app, bank, "Tools")).version);
  expect(readFileSync(file, "utf8")).toContain("Written by another hand.");
}, 240_000);
