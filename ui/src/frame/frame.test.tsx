import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test, vi } from "vitest";
import type { MemoryRow } from "~/platform/bindings";
import { memory, refusal } from "~/platform/memory";
import { noViolations, renderApp } from "../../test/render";

describe("frame", () => {
  test("opens the bank that was open last, with its landmarks", async () => {
    const { history } = renderApp("/");
    await waitFor(() => expect(history.location.pathname).toMatch(/^\/b\/workshop\/review/));
    expect(await screen.findByRole("banner")).toBeVisible();
    expect(screen.getByRole("navigation", { name: "Main" })).toBeVisible();
    expect(screen.getByRole("main")).toHaveAttribute("id", "content");
    expect(screen.getByRole("link", { name: "Skip to content" })).toHaveAttribute(
      "href",
      "#content",
    );
    expect(await screen.findByRole("button", { name: "Bank Foundry Lane, switch" })).toBeVisible();
  });

  test("a sequence of keys leads to a screen", async () => {
    const { user, history } = renderApp("/b/workshop/review");
    // Two strokes make one only while they follow each other: the screen is at rest first.
    await screen.findAllByRole("article");
    await user.keyboard("gm");
    await waitFor(() => expect(history.location.pathname).toBe("/b/workshop/models"));
    expect(screen.getByRole("link", { name: "Models" })).toHaveAttribute("aria-current", "page");
  });

  test("the palette finds commands and models, and says why something cannot be done", async () => {
    const { user, history } = renderApp("/b/workshop/models");
    await screen.findByRole("row", { name: /Workshop status/ });
    await user.keyboard("{Control>}k{/Control}");
    const palette = await screen.findByRole("dialog", { name: "Command palette" });
    await user.keyboard("refresh");
    expect(
      within(palette).getByRole("option", { name: /Refresh the chosen model/ }),
    ).toHaveAttribute("aria-disabled", "true");
    expect(within(palette).getByText("Choose a model first")).toBeVisible();
    await noViolations();
    await user.clear(within(palette).getByRole("combobox"));
    await user.keyboard("glos");
    await user.click(await within(palette).findByRole("option", { name: /Glos\s?sary/ }));
    await waitFor(() => expect(history.location.pathname).toBe("/b/workshop/models/words"));
  });

  test("what runs is told, and can be stopped", async () => {
    const { user, platform } = renderApp("/b/workshop/models");
    await user.click(await screen.findByRole("button", { name: "1 running" }));
    expect(await screen.findByText("Refresh: Move plan")).toBeVisible();
    expect(screen.getByText("Reading memories, 3 of 5")).toBeVisible();
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Stop" }));
    await waitFor(() => expect(screen.queryByText("1 running")).toBeNull());
    expect(platform.calls).toContainEqual(["cancelOperation", "workshop", "o-1"]);
  });

  test("a commit refetches what is on show, and nothing of another bank", async () => {
    const { platform } = renderApp("/b/workshop/models");
    await screen.findByRole("row", { name: /Workshop status/ });
    const asked = () => platform.calls.filter(([name]) => name === "listModels").length;
    const before = asked();
    platform.emit.changed({ bank: "notes" as never, tags: ["models"] });
    platform.emit.changed({ bank: "workshop" as never, tags: ["endpoints"] });
    expect(asked()).toBe(before);
    platform.emit.changed({ bank: "workshop" as never, tags: ["models"] });
    await waitFor(() => expect(asked()).toBe(before + 1));
  });

  test("text zoom is kept by the program", async () => {
    const { user, platform } = renderApp("/b/workshop/models");
    await screen.findByRole("row", { name: /Workshop status/ });
    await user.keyboard("{Control>}+{/Control}");
    await waitFor(() => expect(platform.store.look.text_zoom).toBe(110));
    await waitFor(() => expect(platform.calls).toContainEqual(["dressWindow", "system", 1.1]));
  });

  test("data that cannot be opened is the whole page: where it lies, why, and the ways on", async () => {
    const { user, platform } = renderApp("/", {
      appStatus: async () => ({
        version: "0.1.0",
        data_folder: "/data/palimpsest",
        blocked: refusal({
          code: "database_newer",
          message: "This data was written by a newer version of the program.",
          retryable: false,
        }),
        answering: { kind: "extractive" },
        embedder: { name: "e5", dim: 384, ready: true, problem: null },
        bank: null,
        sample_bank: null,
        sample_ready: true,
        first_run_done: true,
      }),
    });
    expect(await screen.findByText(/newer version of the program/)).toBeVisible();
    expect(screen.getByText("/data/palimpsest")).toBeVisible();
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Try again" }));
    expect(platform.calls).toContainEqual(["reopen", null]);
  });

  test("a part that cannot be drawn leaves the others, and is read anew", async () => {
    let broken = true;
    const { store } = memory();
    const { user } = renderApp("/b/workshop/memories/m-keys", {
      getMemory: async () => {
        if (broken) return {} as never;
        return {
          memory: store.memories[0] as MemoryRow,
          metadata: {},
          invalidation_reason: null,
          chunk: null,
          sources: [],
          observations: [],
          cited_by: [],
          folding: null,
          consolidation_error: null,
        };
      },
    });
    const told = vi.spyOn(console, "error").mockImplementation(() => {});
    expect(await screen.findByText("Something in the program went wrong.")).toBeVisible();
    expect(screen.getByRole("listbox", { name: "List of memories" })).toBeVisible();
    broken = false;
    await user.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByText("Learned")).toBeVisible();
    told.mockRestore();
  });

  test("what the bar cannot find or stop is told there", async () => {
    const { user } = renderApp("/b/workshop/memories", {
      paletteSearch: async () => {
        throw refusal({ message: "The search does not work." });
      },
      cancelOperation: async () => {
        throw refusal({ message: "It cannot be stopped now." });
      },
    });
    await screen.findByRole("listbox", { name: "List of memories" });
    await user.keyboard("{Control>}k{/Control}");
    const palette = await screen.findByRole("dialog", { name: "Command palette" });
    await user.type(within(palette).getByRole("combobox"), "zebra");
    expect(await within(palette).findByText("The search does not work.")).toBeVisible();
    expect(within(palette).queryByText(/Nothing matches/)).toBeNull();
    await user.keyboard("{Escape}");
    await user.click(await screen.findByRole("button", { name: "1 running" }));
    await user.click(await screen.findByRole("button", { name: "Stop" }));
    expect(await screen.findByText("It cannot be stopped now.")).toBeVisible();
    await noViolations();
  });
});
