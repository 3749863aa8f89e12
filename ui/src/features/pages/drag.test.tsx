import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import type { NodeId, TreeNode } from "~/platform/bindings";
import { nodes } from "~/platform/fixtures/pages";
import { refusal } from "~/platform/memory";
import { renderApp } from "../../../test/render";
import { aimAt } from "./drop";
import { rowsOf } from "./tree";

const tree = () => screen.findByRole("tree", { name: "Folders and pages" });
const item = async (name: RegExp) => within(await tree()).findByRole("treeitem", { name });
const row = 32;
type User = ReturnType<typeof renderApp>["user"];
/** Presses on a row and moves to a height of the tree, in rows; nothing is let go. */
async function hold(user: User, name: RegExp, from: number, to: number) {
  const at = (height: number) => ({ clientX: 40, clientY: height * row });
  await user.pointer([
    { keys: "[MouseLeft>]", target: await item(name), coords: at(from) },
    { target: await tree(), coords: at(to) },
  ]);
  return { drop: () => user.pointer({ keys: "[/MouseLeft]" }) };
}
const mark = () => document.querySelector<HTMLElement>("[data-drop]")?.dataset.drop ?? null;
const beside = () => document.querySelector("[data-drag]")?.textContent ?? null;
const moves = (calls: readonly unknown[][]) => calls.filter(([name]) => name === "updateNode");

describe("dragging in the tree", { timeout: 60_000 }, () => {
  test("a page goes into a folder, which shows itself as the place, and back by the notice", async () => {
    const { user, platform } = renderApp("/b/workshop/models?layout=folders");
    await item(/Welcome/);
    const held = await hold(user, /Welcome/, 7.5, 0.5);
    expect(mark()).toBe("into");
    expect(beside()).toBe("WelcomeInto The move");
    expect(moves(platform.calls)).toEqual([]);
    await held.drop();
    expect(mark()).toBeNull();
    await waitFor(async () => expect(await item(/Welcome/)).toHaveAttribute("aria-level", "2"));
    expect(moves(platform.calls).at(-1)?.[3]).toEqual({
      place: { parent_id: "kf-move", position: null },
    });
    await user.click(await screen.findByRole("button", { name: "Undo" }));
    await waitFor(async () => expect(await item(/Welcome/)).toHaveAttribute("aria-level", "1"));
  });

  test("between two rows a line shows the place", async () => {
    const { user, platform } = renderApp("/b/workshop/models?layout=folders");
    await item(/Welcome/);
    const held = await hold(user, /Welcome/, 7.5, 2.2);
    expect(mark()).toBe("between");
    expect(beside()).toBe("WelcomeAs number 2 in The move");
    await held.drop();
    await waitFor(() =>
      expect(moves(platform.calls).at(-1)?.[3]).toEqual({
        place: { parent_id: "kf-move", position: 1 },
      }),
    );
  });

  test("what is forbidden is said while it is held, and letting go does nothing", async () => {
    const { user, platform } = renderApp("/b/workshop/models?layout=folders");
    await item(/The house/);
    const held = await hold(user, /The house/, 3.5, 4.5);
    expect(mark()).toBe("refused");
    expect(beside()).toBe("The houseA folder cannot lie inside itself");
    await held.drop();
    expect(mark()).toBeNull();
    expect(moves(platform.calls)).toEqual([]);
  });

  test("Escape and a press without a move leave everything where it is", async () => {
    const { user, platform } = renderApp("/b/workshop/models?layout=folders");
    await item(/Welcome/);
    const held = await hold(user, /Welcome/, 7.5, 0.5);
    await user.keyboard("{Escape}");
    expect(mark()).toBeNull();
    await held.drop();
    await hold(user, /Welcome/, 7.5, 7.55);
    expect(beside()).toBeNull();
    expect(moves(platform.calls)).toEqual([]);
  });

  test("what the engine refuses stands above the tree", async () => {
    const { user } = renderApp("/b/workshop/models?layout=folders", {
      updateNode: async () => {
        throw refusal({ message: "The folder already holds a page of this name." });
      },
    });
    await item(/Welcome/);
    const held = await hold(user, /Welcome/, 7.5, 0.5);
    await held.drop();
    expect(await screen.findByText("The folder already holds a page of this name.")).toBeVisible();
    expect(await item(/Welcome/)).toHaveAttribute("aria-level", "1");
  });
});

describe("where a dragged node would go", () => {
  const none: ReadonlySet<NodeId> = new Set();
  const of = (id: string): TreeNode => {
    const node = nodes.find((each) => each.id === id);
    if (!node) throw new Error(id);
    return node;
  };
  const aim = (id: string, at: number, folded = none, all: readonly TreeNode[] = nodes) =>
    aimAt(all, rowsOf(all, folded), folded, of(id), at);

  test("under an open folder is its first place, under a shut one the place behind it", () => {
    expect(aim("kp-welcome", 0.9)).toMatchObject({
      kind: "between",
      row: 1,
      depth: 1,
      place: { parent_id: "kf-move", position: 0 },
    });
    expect(aim("kp-welcome", 0.9, new Set(["kf-move" as NodeId]))).toMatchObject({
      kind: "between",
      row: 1,
      depth: 0,
      place: { parent_id: null, position: 1 },
    });
  });

  test("its own place is no place to go, from either side", () => {
    expect(aim("kp-status", 1.5)).toEqual({ kind: "stay" });
    expect(aim("kp-status", 0.9)).toEqual({ kind: "stay" });
    expect(aim("kp-status", 2.2)).toEqual({ kind: "stay" });
    expect(aim("kp-plan", 0.5)).toEqual({ kind: "stay" });
    expect(aim("kp-status", 2.8)).toMatchObject({ place: { parent_id: "kf-move", position: 1 } });
  });

  test("below the last row is the end of the top level", () => {
    expect(aim("kp-status", 40)).toMatchObject({
      kind: "between",
      depth: 0,
      place: { parent_id: null, position: 3 },
    });
    expect(aim("kp-welcome", 40)).toEqual({ kind: "stay" });
  });

  test("a name is taken whatever its case, but not by itself", () => {
    const twin = { ...of("kp-plan"), id: "kp-twin" as NodeId, name: "WELCOME" };
    const all = [...nodes.slice(0, 3), twin, ...nodes.slice(3)];
    expect(aim("kp-welcome", 0.5, none, all)).toMatchObject({ kind: "refused", why: "taken" });
    expect(aim("kp-welcome", 0.1, none, all)).toMatchObject({ kind: "between" });
  });
});
