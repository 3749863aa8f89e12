import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import type { NodeId, TreeNode } from "~/platform/bindings";
import { nodes } from "~/platform/fixtures/pages";
import { memory, refusal } from "~/platform/memory";
import { noViolations, renderApp } from "../../../test/render";
import { viewport } from "../../../test/setup";
import { above, within as inside, placeOf, rowsOf, stepped, targets } from "./tree";

const folders = "/b/workshop/models?layout=folders";
const at = (node: string) => `${folders}&node=${node}`;
const tree = () => screen.findByRole("tree", { name: "Folders and pages" });
const item = async (name: RegExp) => within(await tree()).findByRole("treeitem", { name });
const names = async () =>
  within(await tree())
    .getAllByRole("treeitem")
    .map((each) => each.textContent?.replace(/^(folder|page) /, "") ?? "");
const chosen = async () =>
  document.getElementById((await tree()).getAttribute("aria-activedescendant") ?? "");

describe("models as folders and pages", { timeout: 60_000 }, () => {
  test("are one key away from the list, and the focus stays on the switch", async () => {
    const { user, history } = renderApp("/b/workshop/models");
    await screen.findByRole("grid");
    await user.click(screen.getByRole("radio", { name: "Folders" }));
    await tree();
    expect(history.location.search).toContain("layout=folders");
    expect(screen.getByRole("radio", { name: "Folders" })).toHaveFocus();
    await noViolations();
    await user.keyboard("v");
    await screen.findByRole("grid");
    expect(screen.getByRole("link", { name: "Models" })).toHaveAttribute("aria-current", "page");
  });

  test("are browsed by keys: fold, unfold, go up, open", async () => {
    const { user, history } = renderApp(folders);
    expect(await item(/The move/)).toHaveAttribute("aria-expanded", "true");
    expect(await item(/Move plan.*Refreshing/)).toHaveAttribute("aria-level", "2");
    (await tree()).focus();
    await user.keyboard("{ArrowDown}");
    await waitFor(async () => expect(await chosen()).toHaveTextContent("The move"));
    await user.keyboard("{ArrowLeft}");
    await waitFor(() => expect(screen.queryByRole("treeitem", { name: /Move plan/ })).toBeNull());
    await user.keyboard("{ArrowRight}");
    await item(/Move plan/);
    await user.keyboard("{ArrowRight}");
    await waitFor(async () => expect(await chosen()).toHaveTextContent("Workshop status"));
    const detail = screen.getByRole("complementary", { name: "Folder or page" });
    expect(await within(detail).findByText(/Foundry Lane is a shared workshop/)).toBeVisible();
    expect(within(detail).getByText("In The move")).toBeVisible();
    expect(within(detail).getByRole("link", { name: "Review 6 changes" })).toHaveAttribute(
      "href",
      "/b/workshop/review/p-status",
    );
    await noViolations();
    await user.keyboard("{ArrowLeft}");
    await waitFor(async () => expect(await chosen()).toHaveTextContent("The move"));
    await user.keyboard("{ArrowDown}{Enter}");
    await waitFor(() => expect(history.location.pathname).toBe("/b/workshop/models/status"));
  });

  test("a new folder lies in the chosen one; a taken name is refused at its field", async () => {
    const { user, platform } = renderApp(at("kf-house"));
    await item(/The house/);
    await user.keyboard("{Shift>}N{/Shift}");
    const name = await screen.findByRole("textbox", { name: "Name" });
    expect(screen.getByText("It is put into: The house.")).toBeVisible();
    await user.click(screen.getByRole("button", { name: "Make it" }));
    expect(await screen.findByText("Give it a name.")).toBeVisible();
    await user.type(name, "rules AND money{Enter}");
    expect(await screen.findByText("There is one of this name here already.")).toBeVisible();
    expect(name).toBeInvalid();
    await noViolations();
    await user.clear(name);
    await user.type(name, "Keys{Enter}");
    expect(await item(/Keys/)).toHaveAttribute("aria-level", "2");
    await waitFor(async () => expect(await chosen()).toHaveTextContent("Keys"));
    expect(platform.calls).toContainEqual([
      "createFolder",
      "workshop",
      { name: "Keys", parent_id: "kf-house" },
    ]);
  });

  test("a new page is made with its question, and a person decides by default", async () => {
    const { user, platform } = renderApp(at("kp-plan"));
    await item(/Move plan/);
    await user.keyboard("n");
    await user.type(await screen.findByRole("textbox", { name: "Name" }), "Keys");
    await user.type(screen.getByRole("textbox", { name: "Question" }), "Who holds which key?");
    await user.type(screen.getByRole("textbox", { name: "Tags" }), "#move, keys");
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Make it" }));
    await item(/Keys/);
    expect(platform.calls).toContainEqual([
      "createPage",
      "workshop",
      {
        name: "Keys",
        source_query: "Who holds which key?",
        parent_id: "kf-move",
        tags: ["move", "keys"],
        review: "manual",
      },
    ]);
  });

  test("is renamed by a key, and the notice takes it back", async () => {
    const { user } = renderApp(at("kp-plan"));
    await item(/Move plan/);
    await user.keyboard("{F2}");
    const name = await screen.findByRole("textbox", { name: "Name" });
    await user.clear(name);
    await user.type(name, "Plan of the move{Enter}");
    await item(/Plan of the move/);
    await user.click(await screen.findByRole("button", { name: "Undo" }));
    await item(/Move plan/);
  });

  test("is moved by keys, one step at a time, and says where it is", async () => {
    const { user, platform } = renderApp(at("kp-welcome"));
    await item(/Welcome/);
    (await tree()).focus();
    await user.keyboard("{Alt>}{ArrowUp}{/Alt}");
    await waitFor(async () => expect((await names()).indexOf("The house2")).toBe(4));
    expect(
      (await screen.findAllByText(/Welcome is now 2 of 3 in Top level/)).length,
    ).toBeGreaterThan(0);
    await user.keyboard("{Alt>}{ArrowRight}{/Alt}");
    await waitFor(async () => expect(await item(/Welcome/)).toHaveAttribute("aria-level", "2"));
    expect(platform.calls.findLast(([name]) => name === "updateNode")?.[3]).toEqual({
      place: { parent_id: "kf-move", position: null },
    });
    await user.keyboard("{Alt>}{ArrowLeft}{/Alt}");
    await waitFor(async () => expect(await item(/Welcome/)).toHaveAttribute("aria-level", "1"));
    expect(await tree()).toHaveFocus();
  });

  test("is moved to a folder that is chosen, never into itself", async () => {
    const { user, platform } = renderApp(at("kf-house"));
    await item(/The house/);
    await user.keyboard("m");
    expect(await screen.findByRole("dialog", { name: "Move The house" })).toBeVisible();
    await user.keyboard("{Escape}");
    await user.click(screen.getByRole("button", { name: "More about The house" }));
    await user.click(await screen.findByRole("menuitem", { name: /^Move to/ }));
    const list = await screen.findByRole("listbox", { name: "Folders" });
    expect(
      within(list)
        .getAllByRole("option")
        .map((each) => each.textContent),
    ).toEqual(["Top levelIt lies there already", "The move"]);
    expect(screen.getByRole("button", { name: "Move it here" })).toHaveAttribute("aria-disabled");
    await noViolations();
    await user.click(within(list).getByRole("option", { name: "The move" }));
    await user.click(screen.getByRole("button", { name: "Move it here" }));
    await waitFor(async () => expect(await item(/The house/)).toHaveAttribute("aria-level", "2"));
    await user.click(await screen.findByRole("button", { name: "Undo" }));
    await waitFor(() =>
      expect(platform.calls.findLast(([name]) => name === "updateNode")?.[3]).toEqual({
        place: { parent_id: null, position: 1 },
      }),
    );
  });

  test("a model of the list is added to the chosen folder, and taken out again", async () => {
    const { user, platform } = renderApp(at("kf-house"));
    await item(/The house/);
    await user.click(screen.getByRole("button", { name: /^Add a model/ }));
    expect(await screen.findByText(/It becomes a page in The house/)).toBeVisible();
    const list = await screen.findByRole("listbox", { name: "Models without a place" });
    const [first] = within(list).getAllByRole("option");
    expect(within(list).queryByRole("option", { name: /Workshop status/ })).toBeNull();
    expect(screen.getByRole("button", { name: "Add it" })).toHaveAttribute("aria-disabled");
    await noViolations();
    if (first) await user.click(first);
    await user.click(screen.getByRole("button", { name: "Add it" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    const [, , model, place] = platform.calls.find(([name]) => name === "adoptModel") ?? [];
    expect(place).toEqual({ parent_id: "kf-house", position: null });
    await waitFor(async () => expect(await chosen()).toHaveAttribute("aria-level", "2"));
    await user.click(screen.getByRole("button", { name: /^More about/ }));
    await user.click(await screen.findByRole("menuitem", { name: "Take out of the folders" }));
    await waitFor(async () => expect(await chosen()).toHaveTextContent("The house"));
    expect(platform.calls).toContainEqual(["releasePage", "workshop", `kp-${model}`]);
    // The notice of the first step, below it, still offers its own.
    const [undo] = await screen.findAllByRole("button", { name: "Undo" });
    if (undo) await user.click(undo);
    await waitFor(() =>
      expect(platform.calls.filter(([name]) => name === "adoptModel").at(-1)?.[3]).toEqual({
        parent_id: "kf-house",
        position: 2,
      }),
    );
  });

  test("is deleted only after what goes with it was said", async () => {
    const { user, platform } = renderApp(at("kf-house"));
    await item(/The house/);
    await user.keyboard("{Control>}{Backspace}{/Control}");
    expect(await screen.findByText(/2 pages in it go with their models/)).toBeVisible();
    expect(screen.getByText(/So does 1 folder/)).toBeVisible();
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Delete for good" }));
    await waitFor(() => expect(screen.queryByRole("treeitem", { name: /The house/ })).toBeNull());
    expect(platform.calls).toContainEqual(["deleteNode", "workshop", "kf-house"]);
  });

  test("are saved as files into a folder that is asked for", async () => {
    const { user, platform } = renderApp(folders);
    platform.chooseFiles = async () => ["/home/ada/notes"];
    await user.click(await screen.findByRole("button", { name: /^Save all as files/ }));
    expect(await screen.findByText("11 files written.")).toBeVisible();
    expect(platform.calls).toContainEqual(["savePageBundle", "workshop", "/home/ada/notes"]);
  });

  test("are found by words; nothing found is another state than empty", async () => {
    const { user } = renderApp(folders);
    await tree();
    await user.keyboard("/");
    await user.type(screen.getByRole("textbox", { name: "Find a page" }), "plan");
    const hits = await screen.findByRole("listbox", { name: "Pages found" });
    await user.click(await within(hits).findByRole("option", { name: /Move plan/ }));
    expect(await screen.findByText("In The move")).toBeVisible();
    await noViolations();
    await user.type(screen.getByRole("textbox", { name: "Find a page" }), "zzz");
    await user.click(await screen.findByRole("button", { name: "Clear the search" }));
    await item(/Move plan/);
  });

  test("with none it says what belongs here", async () => {
    const { user } = renderApp("/b/notes/models?layout=folders");
    expect(await screen.findByText("No pages yet")).toBeVisible();
    await noViolations();
    const [, make] = screen.getAllByRole("button", { name: /^New page/ });
    if (make) await user.click(make);
    expect(await screen.findByText("It is put into: Top level.")).toBeVisible();
  });

  test("what is refused is told in its place: the tree, a move, the files, a text", async () => {
    const no = (message: string) => async () => {
      throw refusal({ message });
    };
    const { user, platform } = renderApp(at("kp-welcome"), {
      updateNode: no("It cannot be moved."),
      savePageBundle: no("There is no such folder."),
      pageText: no("The text cannot be read."),
      searchPages: no("The search does not work."),
    });
    platform.chooseFiles = async () => ["/nowhere"];
    await item(/Welcome/);
    expect(await screen.findByText("The text cannot be read.")).toBeVisible();
    await user.keyboard("{Alt>}{ArrowUp}{/Alt}");
    expect(await screen.findByText("It cannot be moved.")).toBeVisible();
    await user.click(screen.getByRole("button", { name: /^Save all as files/ }));
    expect(await screen.findByText("There is no such folder.")).toBeVisible();
    expect(screen.queryByText("It cannot be moved.")).toBeNull();
    await user.type(screen.getByRole("textbox", { name: "Find a page" }), "x");
    expect(await screen.findByText("The search does not work.")).toBeVisible();
  });

  test("a tree that cannot be read says why", async () => {
    renderApp(folders, {
      pageTree: async () => {
        throw refusal({ message: "The folders cannot be read." });
      },
    });
    expect(await screen.findByText("The folders cannot be read.")).toBeVisible();
  });

  test("the detail covers the tree where there is no room", async () => {
    viewport.width = 1000;
    const { user } = renderApp(at("kp-plan"));
    await screen.findByRole("heading", { name: "Move plan" });
    expect(screen.queryByRole("tree")).toBeNull();
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Folders and pages" }));
    // The arrows go on in the tree; Space, or a press, looks at what is chosen.
    (await tree()).focus();
    await user.keyboard("{ArrowUp}");
    await waitFor(async () => expect(await chosen()).toHaveTextContent("Workshop status"));
    await user.keyboard(" ");
    await screen.findByRole("heading", { name: "Workshop status", level: 2 });
    expect(screen.queryByRole("tree")).toBeNull();
  });

  test("of thousands of pages only those in view are in the page", async () => {
    const [first] = memory().store.nodes;
    const many = Array.from(
      { length: 5000 },
      (_, n): TreeNode => ({
        ...(first as TreeNode),
        id: `kf-${n}` as NodeId,
        name: `Folder ${n}`,
        parent_id: null,
        depth: 0,
      }),
    );
    const { user } = renderApp(folders, { pageTree: async () => many });
    await item(/Folder 0/);
    expect(within(await tree()).getAllByRole("treeitem").length).toBeLessThan(60);
    (await tree()).focus();
    await user.keyboard("{End}");
    await waitFor(async () => expect(await chosen()).toHaveTextContent("Folder 4999"));
  });
});

describe("where a node can go", () => {
  const of = (id: string): TreeNode => {
    const node = nodes.find((each) => each.id === id);
    if (!node) throw new Error(id);
    return node;
  };

  test("a step leads past a neighbour, into the folder before, and out behind the own", () => {
    expect(stepped(nodes, of("kp-status"), "up")).toBeNull();
    expect(stepped(nodes, of("kp-status"), "down")).toEqual({ parent_id: "kf-move", position: 1 });
    expect(stepped(nodes, of("kp-plan"), "down")).toBeNull();
    expect(stepped(nodes, of("kp-plan"), "in")).toBeNull();
    expect(stepped(nodes, of("kp-machines"), "in")).toEqual({
      parent_id: "kf-rules",
      position: null,
    });
    expect(stepped(nodes, of("kp-rules"), "out")).toEqual({ parent_id: "kf-house", position: 1 });
    expect(stepped(nodes, of("kp-welcome"), "out")).toBeNull();
    expect(placeOf(nodes, of("kp-machines"))).toEqual({ parent_id: "kf-house", position: 1 });
  });

  test("a folder goes into none that lies in it", () => {
    expect(targets(nodes, of("kf-house")).map(({ id }) => id)).toEqual(["kf-move"]);
    expect(inside(nodes, "kf-house" as NodeId)).toHaveLength(4);
    expect(above(nodes, "kp-rules" as NodeId).map(({ id }) => id)).toEqual([
      "kf-house",
      "kf-rules",
    ]);
  });

  test("a folded folder hides all in it, however deep", () => {
    const rows = rowsOf(nodes, new Set(["kf-house" as NodeId]));
    expect(rows.map(({ node }) => node.id)).toEqual([
      "kf-move",
      "kp-status",
      "kp-plan",
      "kf-house",
      "kp-welcome",
    ]);
    expect(rows.at(-1)).toMatchObject({ place: 2, of: 3 });
  });

  test("a circle in the store does not hold the page", () => {
    const round = nodes.map((node) =>
      node.id === "kf-house" ? { ...node, parent_id: "kf-rules" as NodeId } : node,
    );
    expect(above(round, "kp-rules" as NodeId).length).toBeLessThanOrEqual(nodes.length);
  });
});
