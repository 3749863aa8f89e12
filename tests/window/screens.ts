// Where things are on the screens, so that a journey reads as what a person does.

import type {
  BankId,
  BankRow,
  ModelDetail,
  ModelRow,
  OperationRow,
  ProposalRow,
  ProposalView,
} from "../../ui/src/platform/bindings";
import { type App, WORK } from "./app";
import type { StandIn } from "./stand-in";

export const SAMPLE = "kestrel" as BankId;

const decisions = { y: "accepted", n: "rejected", d: "deferred" } as const;

/** Goes to a place of the page by its address, as a link would. */
export async function go(app: App, path: string): Promise<void> {
  await app.driver.executeScript(
    `history.pushState({}, "", arguments[0]);
     dispatchEvent(new PopStateEvent("popstate", { state: history.state }));`,
    path,
  );
  await app.until(
    `the page does not go to ${path}`,
    () => app.path(),
    (now) => now.startsWith(path),
  );
}

/** Sets a language model up in the settings and waits until it answers. */
export async function connect(app: App, endpoint: StandIn): Promise<void> {
  await app.click("=Settings");
  await app.click("=Add an endpoint");
  await app.fill("=Name", "Stand-in");
  await app.fill("=Address", endpoint.address);
  await app.fill("=Model", endpoint.llm);
  await app.click("=Save and check");
  await app.seeText("Works by name");
  await app.seeText(`Now answering: ${endpoint.llm}`);
}

export const waiting = (app: App, bank: BankId) =>
  app.invoke<ProposalRow[]>("list_proposals", { bank });

export const proposal = (app: App, bank: BankId, id: string) =>
  app.invoke<ProposalView>("get_proposal", { bank, id });

export const model = (app: App, bank: BankId, id: string) =>
  app.invoke<ModelDetail>("get_model", { bank, id });

/** The model of that name. */
export async function modelNamed(app: App, bank: BankId, name: string): Promise<ModelRow> {
  const models = await app.invoke<ModelRow[]>("list_models", { bank });
  const found = models.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no model ${name}`);
  return found;
}

/** Names of the operations in view, as a reader hears them: "3 of 6, Replace item in Risks, …". */
const operationNames = (app: App): Promise<string[]> =>
  app.driver.executeScript<string[]>(
    "return [...document.querySelectorAll('article[aria-label]')].map((e) => e.getAttribute('aria-label'))",
  );

/** Number of the operation in focus. */
const operationInFocus = async (app: App): Promise<number> =>
  Number.parseInt(await app.attribute("article[aria-current]", "aria-label"), 10);

/** Decides the operation in focus by its key, and waits until the page tells the decision. */
export async function decide(app: App, key: keyof typeof decisions): Promise<void> {
  const number = await operationInFocus(app);
  await app.press(key);
  await app.until(
    `operation ${number} was not ${decisions[key]}`,
    () => operationNames(app),
    (names) =>
      names.some((name) => name.startsWith(`${number} of`) && name.includes(decisions[key])),
  );
}

/** Decides whatever is undecided, from the operation in focus on, each by its key. */
export async function decideAll(
  app: App,
  bank: BankId,
  id: string,
  key: keyof typeof decisions,
): Promise<void> {
  for (;;) {
    const view = await proposal(app, bank, id);
    if (view.row.decisions.undecided === 0) return;
    const number = await operationInFocus(app);
    const here = view.ops.find((op) => op.number === number);
    // What followed from an earlier decision needs none of its own.
    if (here?.decision === "undecided") await decide(app, key);
    else await app.press("j");
  }
}

/** Approves by the key; a change that asks for a second look is confirmed in its summary. */
export async function approve(app: App, view: ProposalView): Promise<void> {
  const version = view.base_version + 1;
  const published = `Version ${version} of ${view.row.model_name} is published`;
  await app.press("Control+Enter");
  const asked = await app.until(
    "the change is neither published nor asked about",
    async () => ({
      done: (await app.text("body")).includes(published),
      asks: await app.shows(`=Publish version ${version}`),
    }),
    ({ done, asks }) => done || asks,
  );
  if (!asked.done) {
    await app.shot("review-approve");
    await app.click(`=Publish version ${version}`);
    await app.seeText(published);
  }
  await app.until(
    "the model is not opened",
    () => app.path(),
    (path) => path.includes(`/models/${view.row.model_id}`),
  );
}

/** Waits until the bank has no work left; a failed operation fails the test. */
export async function idle(app: App, bank: BankId): Promise<void> {
  await app.until(
    "the work of the bank does not end",
    () => app.invoke<OperationRow[]>("list_operations", { bank }),
    (rows) => {
      const failed = rows.find(({ status }) => status === "failed");
      if (failed) throw new Error(`an operation failed: ${JSON.stringify(failed)}`);
      return rows.every(({ status }) => status !== "pending" && status !== "processing");
    },
    WORK,
  );
}

/** The bank of that name. */
export async function bankNamed(app: App, name: string): Promise<BankId> {
  const banks = await app.invoke<BankRow[]>("list_banks");
  const found = banks.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no bank ${name}`);
  return found.id;
}
