// What a person wrote, and what the program refused, is never gone without a word.

import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { running } from "~/platform/fixtures/work";
import { memory, refusal } from "~/platform/memory";
import { noViolations, renderApp } from "../../../test/render";

const list = () => screen.findByRole("listbox", { name: "List of memories" });
const refused = (message: string) => async () => {
  throw refusal({ message, hint: null });
};

describe("what was written", () => {
  test("in the dialog of a fact is thrown away only when a person says so", async () => {
    const { user } = renderApp("/b/workshop/memories");
    await list();
    await user.click(screen.getByRole("button", { name: /^Add a fact/ }));
    await user.type(
      await screen.findByRole("textbox", { name: "Statement" }),
      "Ivo keeps the key.",
    );
    await user.keyboard("{Escape}");
    expect(await screen.findByRole("alertdialog", { name: /Throw away/ })).toBeVisible();
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Go on writing" }));
    expect(await screen.findByRole("textbox", { name: "Statement" })).toHaveValue(
      "Ivo keeps the key.",
    );
    await user.click(screen.getByRole("button", { name: "Cancel" }));
    await user.click(await screen.findByRole("button", { name: "Throw it away" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    // With nothing written there is nothing to ask.
    await user.click(screen.getByRole("button", { name: /^Add a fact/ }));
    expect(await screen.findByRole("textbox", { name: "Statement" })).toHaveValue("");
    await user.keyboard("{Escape}");
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  });

  test("of a text to keep is there again after another screen, until it is begun anew", async () => {
    const { user, history } = renderApp("/b/workshop/memories/retain");
    await user.type(await screen.findByRole("textbox", { name: "Text" }), "We met at six.");
    history.push("/b/workshop/activity");
    await screen.findByRole("heading", { name: "Activity" });
    history.push("/b/workshop/memories/retain");
    expect(await screen.findByText("You had begun this and not kept it yet.")).toBeVisible();
    expect(screen.getByRole("textbox", { name: "Text" })).toHaveValue("We met at six.");
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Begin anew" }));
    expect(screen.getByRole("textbox", { name: "Text" })).toHaveValue("");
    expect(localStorage).toHaveLength(0);
  });

  test("of an import is there again after another screen, and gone once it has begun", async () => {
    const { user, history } = renderApp("/b/workshop/memories/import");
    await user.type(await screen.findByRole("textbox", { name: "File or folder" }), "~/notes");
    await user.click(screen.getByRole("button", { name: "Show the plan" }));
    await screen.findByRole("region", { name: "Plan" });
    history.push("/b/workshop/activity");
    await screen.findByRole("heading", { name: "Activity" });
    history.push("/b/workshop/memories/import");
    expect(await screen.findByRole("textbox", { name: "File or folder" })).toHaveValue("~/notes");
    await user.click(await screen.findByRole("button", { name: /^Import \d/ }));
    await waitFor(() => expect(history.location.search).toContain("operation"));
    expect(localStorage).toHaveLength(0);
  });
});

describe("a refusal", () => {
  test("of a field stands at the field, and one without a field in the form is told above", async () => {
    const { user } = renderApp("/b/workshop/memories", {
      addMemory: async () => {
        throw refusal({
          code: "invalid_input",
          message: "Not all fields can be used.",
          fields: [
            { field: "entities", code: "too_many", message: "At most 20 names." },
            { field: "metadata", code: "unknown_key", message: "This is not known here." },
          ],
        });
      },
    });
    await list();
    await user.click(screen.getByRole("button", { name: /^Add a fact/ }));
    await user.type(
      await screen.findByRole("textbox", { name: "Statement" }),
      "Ivo keeps the key.",
    );
    await user.click(screen.getByRole("button", { name: "Add" }));
    const names = await screen.findByRole("textbox", { name: "People, places and things" });
    await waitFor(() => expect(names).toBeInvalid());
    expect(screen.getByText("At most 20 names.")).toBeVisible();
    expect(
      within(screen.getByRole("alert")).getAllByText("This is not known here.")[0],
    ).toBeVisible();
    await noViolations();
  });

  test("of what was to be taken back stands above the screen until it is dismissed", async () => {
    const { user } = renderApp("/b/workshop/memories/m-wiring", {
      restoreMemory: refused("The file cannot be written."),
    });
    await screen.findByText("Cited by 2 models");
    await user.keyboard("x");
    await user.click(await screen.findByRole("button", { name: "Invalidate" }));
    await user.click(await screen.findByRole("button", { name: "Undo" }));
    expect(await screen.findByText("It was not taken back: what you did stands.")).toBeVisible();
    await user.click(within(screen.getByRole("alert")).getByRole("button", { name: "Dismiss" }));
    await waitFor(() => expect(screen.queryByText("The file cannot be written.")).toBeNull());
  });

  test("of folding, of restoring and of the tags is told where it was asked for", async () => {
    const { memories } = memory().store;
    const gone = memories.find(({ state }) => state === "invalidated");
    if (!gone) throw new Error("no memory is invalidated");
    const { user } = renderApp(`/b/workshop/memories/${gone.id}`, {
      restoreMemory: refused("It cannot be restored."),
      consolidateNow: refused("Nothing can be folded now."),
      listTags: refused("The tags cannot be read."),
    });
    await user.click(await screen.findByRole("button", { name: /^Restore/ }));
    expect(await screen.findByText("It cannot be restored.")).toBeVisible();
    await user.keyboard("{Control>}k{/Control}");
    const palette = await screen.findByRole("dialog", { name: "Command palette" });
    await user.type(within(palette).getByRole("combobox"), "fold facts{Enter}");
    expect(await screen.findByText("Nothing can be folded now.")).toBeVisible();
    await user.click(screen.getByRole("button", { name: "Tags" }));
    expect(await screen.findByText("The tags cannot be read.")).toBeVisible();
  });

  test("of an import that is tried again is told; why it waits is said in words", async () => {
    const row = { ...running, operation_type: "import", mental_model_id: null };
    const { user } = renderApp("/b/workshop/memories/import?operation=o-1", {
      listOperations: async () => [
        { ...row, status: "failed", error_reason: "io", error_message: "The folder is gone." },
      ],
      retryOperation: refused("It cannot be tried again."),
    });
    await user.click(await screen.findByRole("button", { name: "Try again" }));
    expect(await screen.findByText("It cannot be tried again.")).toBeVisible();
  });

  test("a held import says what it waits for", async () => {
    renderApp("/b/workshop/memories/import?operation=o-1", {
      listOperations: async () => [
        { ...running, status: "pending", progress: null, held_reason: "llm_not_configured" },
      ],
    });
    expect(await screen.findByText("Waits for a language model to be set up")).toBeVisible();
  });

  test("of a next page leaves the rows, and a person asks again", async () => {
    const { store } = memory();
    let asked = 0;
    const { user } = renderApp("/b/workshop/memories", {
      listMemories: async (_bank, _filter, after) => {
        if (after === null)
          return {
            page: { items: store.memories.slice(0, 5), next: "m-5", total: 9 },
            counts: { world: 9, experience: 0, observation: 0 },
          };
        asked += 1;
        throw refusal({ message: "The rest cannot be read." });
      },
    });
    expect(await screen.findByText("The rest cannot be read.")).toBeVisible();
    expect(within(await list()).getAllByRole("option")).toHaveLength(5);
    expect(asked).toBe(1);
    await user.click(screen.getByRole("button", { name: "Try again" }));
    await waitFor(() => expect(asked).toBe(2));
  });
});

test("a memory that much rests on draws a part of it, and more by pressing", async () => {
  const { store } = memory();
  const [first] = store.memories;
  if (!first) throw new Error("no memory");
  const many = Array.from({ length: 500 }, (_, n) => ({
    ...first,
    id: `m-of-${n}`,
    text: `Fact ${n}`,
  }));
  const { user } = renderApp("/b/workshop/memories/m-keys", {
    getMemory: async () => ({
      memory: first,
      metadata: {},
      invalidation_reason: null,
      chunk: null,
      sources: many,
      observations: [],
      cited_by: [],
      folding: null,
      consolidation_error: null,
    }),
  });
  const detail = await screen.findByRole("complementary", { name: "Memory" });
  await within(detail).findByText("Fact 0");
  expect(within(detail).getAllByRole("button", { name: /Fact \d/ })).toHaveLength(30);
  await user.click(within(detail).getByRole("button", { name: "Show 200 more" }));
  expect(within(detail).getAllByRole("button", { name: /Fact \d/ })).toHaveLength(230);
});
