import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { refusal } from "~/platform/memory";
import { noViolations, renderApp } from "../../../test/render";

const row = (name: RegExp) => screen.findByRole("row", { name });

describe("models", () => {
  test("lists every state with its word, in the order of precedence", async () => {
    renderApp("/b/workshop/models");
    await row(/Workshop status/);
    const rows = screen.getAllByRole("row").slice(1);
    expect(rows.map((each) => within(each).getAllByRole("gridcell")[0]?.textContent)).toEqual([
      "Refreshing",
      "Conflicted",
      "Waiting for review",
      "Waiting for review",
      "Failed",
      expect.stringMatching(/^Parked until/),
      "Never refreshed",
      "Behind (3)",
      "Current",
    ]);
    expect(screen.getByRole("columnheader", { name: "State" })).toHaveAttribute(
      "aria-sort",
      "ascending",
    );
    await noViolations();
  });

  test("arrows choose, Enter opens, and the address follows", async () => {
    const { user, history } = renderApp("/b/workshop/models");
    await row(/Workshop status/);
    screen.getByRole("grid").focus();
    await user.keyboard("{ArrowDown}{ArrowDown}{ArrowDown}{Enter}");
    await waitFor(() => expect(history.location.pathname).toBe("/b/workshop/models/status"));
  });

  test("words filter; nothing found is another state than nothing there", async () => {
    const { user, history } = renderApp("/b/workshop/models");
    await row(/Workshop status/);
    await user.keyboard("/");
    await user.keyboard("heron");
    expect(await screen.findByText("No model matches these filters")).toBeVisible();
    await waitFor(() => expect(history.location.search).toContain("heron"));
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Clear filters" }));
    await row(/Workshop status/);
  });

  test("all that lag are refreshed with one act", async () => {
    const { user, platform } = renderApp("/b/workshop/models");
    await user.click(await screen.findByRole("button", { name: "Refresh all 2" }));
    await waitFor(() =>
      expect(platform.calls.filter(([name]) => name === "refreshModel")).toHaveLength(2),
    );
  });

  test("with none it says what a model is and offers three to begin with", async () => {
    const { user, history } = renderApp("/b/workshop/models", { listModels: async () => [] });
    expect(await screen.findByRole("heading", { name: "No models yet" })).toBeVisible();
    await noViolations();
    await user.click(screen.getByRole("button", { name: /^People/ }));
    await waitFor(() => expect(history.location.pathname).toBe("/b/workshop/models/new"));
    expect(await screen.findByRole("textbox", { name: "Name" })).toHaveValue("People");
  });

  test("a refused list says why, in place", async () => {
    renderApp("/b/workshop/models", {
      listModels: async () => {
        throw refusal({ code: "busy", message: "The data is busy." });
      },
    });
    expect(await screen.findByRole("alert")).toHaveTextContent("The data is busy.");
    await noViolations();
  });
});

describe("new model", () => {
  test("is made with review by a person, and opens", async () => {
    const { user, platform, history } = renderApp("/b/workshop/models/new");
    await user.type(await screen.findByRole("textbox", { name: "Name" }), "Tools");
    await user.type(screen.getByRole("textbox", { name: "Question" }), "Which tools are lent out?");
    expect(screen.getByRole("radio", { name: "I review each change" })).toBeChecked();
    expect(await screen.findAllByText("This scope reads 61 memories now.")).toHaveLength(2);
    await noViolations();
    await user.keyboard("{Control>}{Enter}{/Control}");
    await waitFor(() => expect(history.location.pathname).toBe("/b/workshop/models/tools"));
    const call = platform.calls.find(([name]) => name === "createModel");
    expect(call?.[2]).toMatchObject({ name: "Tools", review: "manual", max_tokens: 4096 });
  });

  test("what is missing is said on its field", async () => {
    const { user } = renderApp("/b/workshop/models/new");
    await user.click(await screen.findByRole("button", { name: "Make the model" }));
    const name = screen.getByRole("textbox", { name: "Name" });
    await waitFor(() => expect(name).toHaveAccessibleDescription("Give the model a name."));
    expect(name).toBeInvalid();
    await noViolations();
  });

  test("what the engine refuses is said on its field", async () => {
    const { user } = renderApp("/b/workshop/models/new", {
      createModel: async () => {
        throw refusal({
          code: "invalid_input",
          retryable: false,
          fields: [{ field: "tags[0]", code: "too_long", message: "This tag is too long." }],
        });
      },
    });
    await user.type(await screen.findByRole("textbox", { name: "Name" }), "Tools");
    await user.type(screen.getByRole("textbox", { name: "Question" }), "Which?");
    await user.click(screen.getByRole("button", { name: "Make the model" }));
    await waitFor(() =>
      expect(screen.getByRole("textbox", { name: "Tags" })).toHaveAccessibleDescription(
        expect.stringContaining("This tag is too long."),
      ),
    );
  });
});

describe("model", () => {
  test("shows its document, who wrote what, and the facts behind a section", async () => {
    const { user } = renderApp("/b/workshop/models/status");
    expect(await screen.findByText(/Forty-two members/)).toBeVisible();
    expect(screen.getByText(/^you ·/)).toBeVisible();
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Agreed" }));
    expect(screen.getByText(/a booking of the lathe lapses/)).toBeVisible();
    await user.keyboard("b");
    expect(screen.queryByText(/^you ·/)).toBeNull();
    expect(screen.getByRole("link", { name: "Review 6 changes" })).toHaveAttribute(
      "href",
      "/b/workshop/review/p-status",
    );
  });

  test.each([
    ["evidence", "No longer exist"],
    ["trace", "A proposal waits for review"],
    ["history", "Rejected proposal"],
    ["settings", "Who decides"],
  ])("tab %s", async (tab, words) => {
    renderApp(`/b/workshop/models/status/${tab}`);
    expect(await screen.findByText(words)).toBeVisible();
    await noViolations();
  });

  test("compares a version with the one before, any two by marks, and reverts with a way back", async () => {
    const { user, platform, history } = renderApp("/b/workshop/models/status/history");
    expect(await screen.findByRole("button", { name: "Revert to version 11" })).toBeVisible();
    screen.getByRole("listbox", { name: "Versions" }).focus();
    await user.keyboard("{ArrowDown}");
    expect(await screen.findByRole("button", { name: "Revert to version 10" })).toBeVisible();
    await user.keyboard("{ArrowDown} ");
    await waitFor(() => expect(history.location.search).toContain("a=10"));
    await user.keyboard("{Shift>}R{/Shift}");
    await waitFor(() => expect(platform.calls.some(([name]) => name === "revertModel")).toBe(true));
    expect(await screen.findByRole("button", { name: "Undo" })).toBeVisible();
  });

  test("side by side", async () => {
    const { user } = renderApp("/b/workshop/models/status/history");
    await user.click(await screen.findByRole("radio", { name: "Split" }));
    expect(await screen.findByText(/Thirty-eight/)).toBeVisible();
    await noViolations();
  });

  test("a failed refresh keeps the document and says what to do", async () => {
    renderApp("/b/workshop/models/money");
    const alert = await screen.findByRole("alert");
    expect(alert).toHaveTextContent("The document below is version 5 and has not changed.");
    expect(within(alert).getByRole("button", { name: "Try again" })).toBeVisible();
    await noViolations();
  });

  test("without a document it offers the first refresh", async () => {
    const { user, platform } = renderApp("/b/workshop/models/suppliers");
    expect(await screen.findByRole("heading", { name: "No document yet" })).toBeVisible();
    await noViolations();
    await user.keyboard("r");
    await waitFor(() =>
      expect(platform.calls).toContainEqual(["refreshModel", "workshop", "suppliers", false]),
    );
  });

  test("editing saves a version; a document that moved is refused with the text kept", async () => {
    const { user, platform } = renderApp("/b/workshop/models/status", {
      editModel: async () => {
        throw refusal({ code: "conflict", message: "The document has changed.", retryable: false });
      },
    });
    await screen.findByText(/Forty-two members/);
    await user.keyboard("e");
    const field = await screen.findByRole("textbox", { name: "Document, Markdown" });
    await user.click(field);
    await user.keyboard("More. ");
    await user.click(screen.getByRole("button", { name: /Save as a version/ }));
    expect(await screen.findByRole("alert")).toHaveTextContent("Your text is still here");
    expect(field).toHaveTextContent("More.");
    expect(platform.calls.find(([name]) => name === "editModel")?.[4]).toBe(12);
  });

  test("clearing and deleting ask first", async () => {
    const { user, platform, history } = renderApp("/b/workshop/models/status");
    await user.click(await screen.findByRole("button", { name: "More" }));
    await user.click(await screen.findByRole("menuitem", { name: "Delete the model…" }));
    const dialog = await screen.findByRole("alertdialog", { name: "Delete Workshop status?" });
    expect(within(dialog).getByRole("button", { name: "Keep it" })).toHaveFocus();
    await noViolations();
    await user.click(within(dialog).getByRole("button", { name: "Delete for good" }));
    await waitFor(() => expect(history.location.pathname).toBe("/b/workshop/models"));
    expect(platform.calls).toContainEqual(["deleteModel", "workshop", "status"]);
  });

  test("settings say when nothing has changed, and save what has", async () => {
    const { user, platform } = renderApp("/b/workshop/models/status/settings");
    const save = await screen.findByRole("button", { name: "Save" });
    expect(save).toHaveAttribute("title", "Nothing has changed");
    await user.click(screen.getByRole("radio", { name: "Publish at once" }));
    await user.click(screen.getByRole("button", { name: "Save" }));
    await waitFor(() => {
      const call = platform.calls.find(([name]) => name === "updateModel");
      expect(call?.[3]).toMatchObject({ review: "auto" });
    });
  });

  test("a model that is gone says so", async () => {
    renderApp("/b/workshop/models/nothing");
    expect(await screen.findByText(/There is no mental model "nothing"/)).toBeVisible();
    await noViolations();
  });
});
