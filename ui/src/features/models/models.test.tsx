import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { keepEdit } from "~/lib/kept-edit";
import type { ModelId } from "~/platform/bindings";
import { memory, refusal } from "~/platform/memory";
import { noViolations, renderApp } from "../../../test/render";

const row = (name: RegExp) => screen.findByRole("row", { name });

describe("models", () => {
  test("lists every state with its word, in the order of precedence", async () => {
    renderApp("/b/workshop/models");
    await row(/Workshop status/);
    const rows = screen.getAllByRole("row").slice(1);
    expect(rows.map((each) => within(each).getAllByRole("gridcell")[1]?.textContent)).toEqual([
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

  test("several are selected and scheduled, tagged or deleted as one", async () => {
    const { user, platform } = renderApp("/b/workshop/models");
    await row(/Workshop status/);
    screen.getByRole("grid").focus();
    await user.keyboard("{ArrowDown}{ArrowDown} {Shift>}{ArrowDown}{/Shift}");
    expect(await screen.findByRole("toolbar", { name: "2 models selected" })).toBeVisible();
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Schedule…" }));
    const dialog = await screen.findByRole("dialog", { name: "When 2 models refresh" });
    await user.click(within(dialog).getByRole("radio", { name: "After observations change" }));
    await user.click(within(dialog).getByRole("button", { name: "Save" }));
    await waitFor(() => {
      const calls = platform.calls.filter(([name]) => name === "updateModel");
      expect(calls).toHaveLength(2);
      expect(calls[0]?.[3]).toEqual({
        trigger: { refresh_after_consolidation: true, refresh_cron: null },
      });
    });
    screen.getByRole("grid").focus();
    await user.keyboard("{Control>}a{/Control}");
    await user.click(await screen.findByRole("button", { name: "Delete…" }));
    expect(await screen.findByRole("alertdialog", { name: "Delete 9 models?" })).toBeVisible();
  });

  test("schedules filter, and the address follows", async () => {
    const { user, history } = renderApp("/b/workshop/models");
    await row(/Workshop status/);
    await user.click(screen.getByRole("button", { name: /^Schedule/ }));
    await user.click(await screen.findByRole("menuitemcheckbox", { name: "On a schedule" }));
    await user.keyboard("{Escape}");
    await waitFor(() => expect(screen.getAllByRole("row")).toHaveLength(5));
    expect(history.location.search).toContain("cron");
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
    ["structured", /has changed since these fields were filled/],
    ["trace", "9 read, 5 used"],
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

  test("a rebuild is asked for from the menu, and says that a person decides on it", async () => {
    const { user, platform } = renderApp("/b/workshop/models/rules");
    await user.click(await screen.findByRole("button", { name: "More" }));
    await user.click(await screen.findByRole("menuitem", { name: "Rebuild as a proposal" }));
    expect(
      await screen.findByText(/is written anew; the result waits for your review/),
    ).toBeVisible();
    expect(platform.calls).toContainEqual(["refreshModel", "workshop", "rules", true]);
    platform.chooseFiles = async () => ["/home/ada/notes"];
    await user.click(screen.getByRole("button", { name: "More" }));
    await user.click(await screen.findByRole("menuitem", { name: "Save as a file…" }));
    expect(await screen.findByText(/was saved as a file/)).toBeVisible();
    expect(platform.calls).toContainEqual(["saveModels", "workshop", ["rules"], "/home/ada/notes"]);
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

  test("a text that is being written outlives the screen and the next version", async () => {
    const { user, platform } = renderApp("/b/workshop/models/status");
    await screen.findByText(/Forty-two members/);
    await user.keyboard("e");
    await user.click(await screen.findByRole("textbox", { name: "Document, Markdown" }));
    await user.keyboard("Mine. ");
    await user.click(screen.getByRole("tab", { name: /Evidence/ }));
    platform.store.models = platform.store.models.map((model) => ({ ...model, version: 13 }));
    platform.emit.changed({ bank: null, tags: ["models"] });
    await user.click(screen.getByRole("tab", { name: "Document" }));
    await user.click(await screen.findByRole("button", { name: "Go on editing" }));
    const field = await screen.findByRole("textbox", { name: "Document, Markdown" });
    expect(field).toHaveTextContent("Mine.");
    expect(await screen.findByText(/^You began this on version 12/)).toBeVisible();
    await user.click(screen.getByRole("button", { name: /Save as a version/ }));
    await waitFor(() =>
      expect(platform.calls.find(([name]) => name === "editModel")?.[4]).toBe(12),
    );
  });

  test("a text that is handed over waits for one that was begun", async () => {
    localStorage.setItem(
      "draft.model workshop status",
      JSON.stringify({ text: "Mine.", on: "12" }),
    );
    keepEdit("status" as ModelId, {
      model_id: "status" as ModelId,
      content: "Proposed.",
      version: 11,
      left_out: 0,
    });
    const { user, platform } = renderApp("/b/workshop/models/status?edit=true");
    const field = () => screen.findByRole("textbox", { name: "Document, Markdown" });
    expect(await field()).toHaveTextContent("Mine.");
    await user.click(screen.getByRole("button", { name: /^Take the text from the proposal/ }));
    expect(await field()).toHaveTextContent("Proposed.");
    await user.click(screen.getByRole("button", { name: /Save as a version/ }));
    await waitFor(() =>
      expect(platform.calls.find(([name]) => name === "editModel")?.slice(3)).toEqual([
        "Proposed.",
        11,
      ]),
    );
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
    await waitFor(() =>
      expect(platform.calls).toContainEqual(["deleteModel", "workshop", "status"]),
    );
  });

  test("a model that could not be deleted is told of where one has gone", async () => {
    let refuse = true;
    const { user } = renderApp("/b/workshop/models/status", {
      deleteModel: async () => {
        if (refuse) throw refusal({ message: "The data is busy." });
        return { models: 1, versions: 0, proposals: 0 } as never;
      },
    });
    await user.click(await screen.findByRole("button", { name: "More" }));
    await user.click(await screen.findByRole("menuitem", { name: "Delete the model…" }));
    await user.click(await screen.findByRole("button", { name: "Delete for good" }));
    const alert = await screen.findByRole("alert");
    expect(alert).toHaveTextContent("The data is busy.");
    expect(alert).toHaveTextContent("Workshop status was not deleted.");
    await noViolations();
    refuse = false;
    await user.click(within(alert).getByRole("button", { name: "Try again" }));
    expect(await screen.findByText("Workshop status is deleted")).toBeVisible();
    expect(screen.queryByRole("alert")).toBeNull();
  });

  test("what history cannot do is told there, and a way back that fails above the screen", async () => {
    let reverts = 0;
    const { user } = renderApp("/b/workshop/models/status/history", {
      pinVersion: async () => {
        throw refusal({ message: "The data is busy." });
      },
      revertModel: async () => {
        reverts += 1;
        if (reverts !== 2) throw refusal({ message: "The model is being written." });
        return { model: { version: 13 } } as never;
      },
    });
    await user.click(await screen.findByRole("button", { name: "Pin, so that it is always kept" }));
    expect(await screen.findByRole("alert")).toHaveTextContent("The data is busy.");
    await user.click(screen.getByRole("button", { name: "Revert to version 11" }));
    expect(await screen.findByText("The model is being written.")).toBeVisible();
    await user.click(screen.getByRole("button", { name: "Revert to version 11" }));
    await user.click(await screen.findByRole("button", { name: "Undo" }));
    expect(await screen.findByText("Version 11 was brought back and stays.")).toBeVisible();
    await user.click(screen.getAllByRole("button", { name: "Dismiss" })[0] as HTMLElement);
    expect(screen.queryByText("Version 11 was brought back and stays.")).toBeNull();
  });

  test("a block tells who wrote it, and is locked and unlocked", async () => {
    const { user, platform } = renderApp("/b/workshop/models/status");
    await user.click(await screen.findByRole("button", { name: /^v12.*proposal 3/ }));
    const behind = screen.getByRole("region", { name: "Behind this block" });
    expect(within(behind).getByRole("link", { name: "Proposal 3, operation 1" })).toBeVisible();
    expect(within(behind).getByText(/planned for 12 January/)).toBeVisible();
    await noViolations();
    await user.keyboard("l");
    await waitFor(() =>
      expect(platform.calls).toContainEqual(["setLock", "workshop", "status", "block", "b0", null]),
    );
    expect(await within(behind).findByRole("button", { name: /Unlock/ })).toBeVisible();
    await user.keyboard("l");
    await waitFor(() =>
      expect(platform.calls).toContainEqual(["removeLock", "workshop", "status", "block", "b0"]),
    );
  });

  test("a refresh during a review asks what becomes of the decisions", async () => {
    const { user, platform } = renderApp("/b/workshop/models/status", {
      refreshModel: async () => {
        throw refusal({ code: "conflict", reason: "review_in_progress", retryable: false });
      },
    });
    await screen.findByText(/Forty-two members/);
    await user.keyboard("r");
    const dialog = await screen.findByRole("alertdialog", { name: /A review of Workshop status/ });
    expect(within(dialog).getByRole("button", { name: "Do not refresh" })).toHaveFocus();
    await noViolations();
    await user.click(within(dialog).getByRole("button", { name: "Move my decisions" }));
    await waitFor(() =>
      expect(platform.calls).toContainEqual([
        "refreshInReview",
        "workshop",
        "status",
        false,
        "fold",
      ]),
    );
  });

  test("two versions are compared over evidence, structured output and settings; one is pinned", async () => {
    const { user, platform } = renderApp("/b/workshop/models/status/history");
    await user.click(await screen.findByRole("tab", { name: /^Structured 1/ }));
    expect(await screen.findByText("Agree on the second extractor")).toBeVisible();
    await user.click(screen.getByRole("tab", { name: /^Settings 1/ }));
    expect(await screen.findByRole("heading", { name: "Largest size in tokens" })).toBeVisible();
    await user.click(screen.getByRole("tab", { name: /^Evidence 2/ }));
    expect(await screen.findByRole("region", { name: "In both" })).toBeVisible();
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Pin, so that it is always kept" }));
    expect(
      await screen.findByRole("button", { name: "No longer pin", pressed: true }),
    ).toBeVisible();
    await user.click(screen.getByRole("button", { name: "Note…" }));
    await user.type(await screen.findByRole("textbox", { name: "Note" }), "Before the move");
    await user.click(screen.getByRole("button", { name: "Save the note" }));
    await waitFor(() =>
      expect(platform.calls).toContainEqual([
        "noteVersion",
        "workshop",
        "status",
        12,
        "Before the move",
      ]),
    );
  });

  test("what published nothing stands in the history, set back, and can be left out", async () => {
    const { user } = renderApp("/b/workshop/models/status/history");
    expect(await screen.findByText("Refresh skipped")).toBeVisible();
    expect(screen.getByText("Rejected proposal")).toBeVisible();
    expect(screen.getByText("Refresh failed")).toBeVisible();
    await user.click(screen.getByRole("button", { name: "Show" }));
    await user.click(await screen.findByRole("menuitemcheckbox", { name: "Skipped refreshes" }));
    await waitFor(() => expect(screen.queryByText("Refresh skipped")).toBeNull());
  });

  test("a failed run tells what it did and where to go on", async () => {
    const { user } = renderApp("/b/workshop/models/status/trace");
    const runs = await screen.findByRole("listbox", { name: "Runs" });
    await user.click(within(runs).getByText("Failed; the document stays"));
    expect(await screen.findByText("The refresh ended without an answer.")).toBeVisible();
    await user.click(within(runs).getByText("A new version was published"));
    expect(await screen.findByRole("link", { name: "version 12" })).toBeVisible();
    const steps = await screen.findByRole("treegrid", { name: "Trace" });
    expect(within(steps).getAllByRole("row")).toHaveLength(7);
    await user.click(within(steps).getByText("Writing changes"));
    expect(screen.getByRole("complementary", { name: "Details of the span" })).toBeVisible();
    await noViolations();
  });

  test("of a thousand facts few are in the page, and more come when they are asked for", async () => {
    const own = memory();
    const { user } = renderApp("/b/workshop/models/status/evidence", {
      getModel: async (...args) => {
        const detail = await own.commands.getModel(...args);
        const [like] = detail.based_on;
        if (!like) throw new Error("no fact");
        const many = Array.from({ length: 1000 }, (_, at) => ({
          ...like,
          id: `f-${at}` as typeof like.id,
          gone: false,
        }));
        return { ...detail, based_on: many };
      },
    });
    const cited = await screen.findByRole("region", { name: "Cited by the document" });
    expect(within(cited).getByRole("heading")).toHaveTextContent("1000");
    expect(within(cited).getAllByRole("article")).toHaveLength(30);
    await user.click(within(cited).getByRole("button", { name: "Show 200 more" }));
    expect(within(cited).getAllByRole("article")).toHaveLength(230);
  });

  test("structured output is shown by its fields, and filled anew when it is stale", async () => {
    const { user, platform } = renderApp("/b/workshop/models/status/structured");
    await user.click(
      await screen.findByRole("button", { name: "Fill them from the present text" }),
    );
    await waitFor(() =>
      expect(platform.calls).toContainEqual(["reextractStructured", "workshop", "status"]),
    );
    await user.click(screen.getByRole("radio", { name: "JSON" }));
    expect(screen.getByText(/"next_steps"/)).toBeVisible();
  });

  test("is published to a file; one that was changed outside leads to the review", async () => {
    const { user, platform } = renderApp("/b/workshop/models/rules/settings");
    expect(await screen.findByText(/Somebody changed the file/)).toBeVisible();
    const card = screen.getByRole("region", { name: "Publish to a file" });
    expect(within(card).getByRole("link", { name: "Look at the change" })).toHaveAttribute(
      "href",
      "/b/workshop/review/p-rules",
    );
    expect(within(card).getByRole("button", { name: "Write it now" })).toHaveAttribute(
      "aria-disabled",
      "true",
    );
    await user.type(within(card).getByRole("textbox", { name: "File" }), ".txt");
    await user.click(within(card).getByRole("button", { name: "Save" }));
    await waitFor(() =>
      expect(platform.calls).toContainEqual([
        "setPublishTarget",
        "workshop",
        "rules",
        { path: "/home/ife/notes/house-rules.md.txt", front_matter: true },
      ]),
    );
  });

  test("what reviews told the refreshes can be taken back", async () => {
    const { user, platform } = renderApp("/b/workshop/models/status/settings");
    const told = await screen.findByRole("region", { name: "What refreshes are told" });
    const [, more] = within(told).getAllByRole("button", { name: "More" });
    if (!more) throw new Error("no menu");
    await user.click(more);
    await user.click(await screen.findByRole("menuitem", { name: "Tell it no more" }));
    await waitFor(() => {
      const call = platform.calls.find(([name]) => name === "changeGuidance");
      expect(call?.slice(3)).toEqual([1, expect.any(String), "remove"]);
    });
  });

  test("a document of three thousand blocks keeps few of them in the page", async () => {
    const { platform } = renderApp("/b/workshop/models/status");
    await screen.findByText(/Forty-two members/);
    const [, section] = platform.store.document.sections;
    if (!section) throw new Error("no section");
    section.blocks = Array.from({ length: 3000 }, (_, at) => ({
      id: `big-${at}`,
      text: `Sentence ${at}.`,
      gap: "\n\n",
    }));
    platform.emit.changed({ bank: null, tags: ["models"] });
    await screen.findByText("Sentence 0.");
    expect(screen.getAllByText(/^Sentence \d+\.$/).length).toBeLessThan(80);
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
