import { act, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { memory, refusal } from "~/platform/memory";
import { noViolations, renderApp } from "../../../test/render";
import { viewport } from "../../../test/setup";
import { filterOf, instantOf, readTokens } from "./filter";

const list = () => screen.findByRole("listbox", { name: "List of memories" });
const field = () => screen.findByRole("combobox", { name: "Filter memories" });

describe("the list", () => {
  test("shows kinds with counts, and pages by key", async () => {
    const { user, platform } = renderApp("/b/workshop/memories");
    expect(within(await list()).getAllByRole("option").length).toBeGreaterThan(5);
    expect(screen.getByRole("button", { name: /^All 63/ })).toHaveAttribute("aria-pressed", "true");
    (await list()).focus();
    await user.keyboard("{End}");
    await waitFor(() =>
      expect(platform.calls.filter(([name]) => name === "listMemories").at(-1)?.[3]).toBe(
        "m-more-12",
      ),
    );
    await noViolations();
  });

  test("words and tokens go to the engine; a token becomes a chip that can be removed", async () => {
    const { user, platform, history } = renderApp("/b/workshop/memories");
    await list();
    await user.keyboard("/");
    await user.type(await field(), 'tag:move entity:"Mill Street" keys');
    await waitFor(() =>
      expect(platform.calls.filter(([name]) => name === "listMemories").at(-1)?.[2]).toEqual({
        tags: ["move"],
        entity: "Mill Street",
        words: "keys",
      }),
    );
    expect(history.location.search).toContain("tag");
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Remove tag move" }));
    await waitFor(() =>
      expect(platform.calls.filter(([name]) => name === "listMemories").at(-1)?.[2]).toEqual({
        entity: "Mill Street",
        words: "keys",
      }),
    );
  });

  test("suggests names of tokens and their values", async () => {
    const { user, platform } = renderApp("/b/workshop/memories");
    await list();
    await user.type(await field(), "sta");
    expect(await screen.findByRole("option", { name: "state:" })).toBeVisible();
    await user.keyboard("{ArrowDown}{Enter}");
    await user.keyboard("inv{ArrowDown}{Enter}");
    await waitFor(() =>
      expect(platform.calls.filter(([name]) => name === "listMemories").at(-1)?.[2]).toEqual({
        state: "invalidated",
      }),
    );
  });

  test("a segment narrows to a kind", async () => {
    const { user, history } = renderApp("/b/workshop/memories");
    await user.click(await screen.findByRole("button", { name: /^Observations/ }));
    await waitFor(() => expect(history.location.search).toContain("observation"));
    expect(within(await list()).getAllByRole("option").length).toBeGreaterThan(0);
  });

  test("empty because of filters is another state than empty", async () => {
    const { user } = renderApp("/b/workshop/memories?q=zeppelin");
    await screen.findByRole("heading", { name: "Nothing matches these filters" });
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Clear filters" }));
    await list();
  });

  test("with nothing in the bank it says what belongs here", async () => {
    renderApp("/b/notes/memories");
    await screen.findByRole("heading", { name: "No memories yet" });
    expect(screen.getAllByRole("button", { name: "Import files" })).toHaveLength(2);
    await noViolations();
  });

  test("a refused list says why, in place", async () => {
    renderApp("/b/workshop/memories", {
      listMemories: async () => {
        throw refusal({ code: "busy", message: "The data is busy." });
      },
    });
    expect(await screen.findByRole("alert")).toHaveTextContent("The data is busy.");
  });

  test("recall shows places, and in the detail why each way found it", async () => {
    const { user } = renderApp("/b/workshop/memories?q=keys");
    await list();
    await user.keyboard("mm");
    expect(await screen.findByText("12 hits in 6 ms")).toBeVisible();
    expect(await screen.findByText(/Not searched by time/)).toBeVisible();
    const [first] = within(await list()).getAllByRole("option");
    if (!first) throw new Error("no hit");
    expect(first).toHaveTextContent("Place 1");
    await user.click(first);
    expect(await screen.findByText("Why it was found")).toBeVisible();
    expect(screen.getByText("place 1, 0.860")).toBeVisible();
    await noViolations();
  });

  test("by meaning alone, one way is asked and one way is told", async () => {
    const { user, platform } = renderApp("/b/workshop/memories?q=keys");
    await list();
    await user.click(screen.getByRole("radio", { name: "Meaning" }));
    expect(await screen.findByText("12 hits in 6 ms")).toBeVisible();
    expect(platform.calls.findLast(([name]) => name === "recall")?.[2]).toMatchObject({
      way: "semantic",
    });
    expect(screen.queryByText(/Not searched by/)).toBeNull();
  });

  test("tags are ticked in a menu that knows all of the bank", async () => {
    const many = Array.from({ length: 80 }, (_, n) => ({ name: `topic-${n}`, memories: 80 - n }));
    const { user, history } = renderApp("/b/workshop/memories", { listTags: async () => many });
    await list();
    await user.click(screen.getByRole("button", { name: "Tags" }));
    expect(await screen.findByText(/20 more/)).toBeVisible();
    await user.type(screen.getByRole("textbox", { name: "Find a tag" }), "topic-79");
    await user.click(await screen.findByRole("checkbox", { name: "topic-79" }));
    await waitFor(() => expect(history.location.search).toContain("topic-79"));
    await noViolations();
    await user.click(screen.getByRole("checkbox", { name: "topic-79" }));
    await waitFor(() => expect(history.location.search).not.toContain("topic-79"));
  });

  test("a passage shows no signs of Markdown", async () => {
    const [row] = memory().store.memories;
    if (!row) throw new Error("no memory");
    const text = "## Leaders\n\n- **Ian Murdock**, 1993";
    renderApp("/b/workshop/memories", {
      listMemories: async () => ({
        page: { items: [{ ...row, text }], total: 1, next: null },
        counts: { world: 1, experience: 0, observation: 0 },
      }),
    });
    const [option] = within(await list()).getAllByRole("option");
    expect(option).toHaveTextContent("Leaders • Ian Murdock, 1993");
  });

  test("recall without words asks for some", async () => {
    renderApp("/b/workshop/memories?mode=recall");
    expect(await screen.findByText(/Write what you look for/)).toBeVisible();
    await noViolations();
  });
});

describe("one memory", () => {
  test("tells where it comes from and what rests on it", async () => {
    renderApp("/b/workshop/memories/m-wiring");
    expect(await screen.findByText("1 observation built on this")).toBeVisible();
    expect(screen.getByText("Cited by 2 models")).toBeVisible();
    expect(screen.getByRole("link", { name: "Workshop status" })).toBeVisible();
    expect(screen.getByRole("button", { name: "Show the whole passage" })).toBeVisible();
    await noViolations();
  });

  test("is invalidated with a reason, and the toast takes it back", async () => {
    const { user, platform } = renderApp("/b/workshop/memories/m-wiring");
    await screen.findByText("Cited by 2 models");
    await user.keyboard("x");
    await user.type(await screen.findByRole("textbox", { name: /no longer holds/ }), "Rewired.");
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Invalidate" }));
    await waitFor(() =>
      expect(platform.calls).toContainEqual([
        "invalidateMemory",
        "workshop",
        "m-wiring",
        "Rewired.",
      ]),
    );
    expect(await screen.findByText("Invalidated because")).toBeVisible();
    await user.click(await screen.findByRole("button", { name: "Undo" }));
    await waitFor(() => expect(screen.queryByText("Invalidated because")).toBeNull());
  });

  test("is deleted only after its reach was shown", async () => {
    const { user, platform, history } = renderApp("/b/workshop/memories/m-wiring");
    await screen.findByText("Cited by 2 models");
    await user.keyboard("{Control>}{Backspace}{/Control}");
    expect(await screen.findByText(/1 observation and 2 models rest on it/)).toBeVisible();
    expect(screen.getByRole("button", { name: "Keep it" })).toHaveFocus();
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Delete" }));
    await waitFor(() => expect(history.location.pathname).toBe("/b/workshop/memories"));
    expect(platform.store.memories.some(({ id }) => id === "m-wiring")).toBe(false);
  });

  test("is edited; a wrong date stays in its field", async () => {
    const { user, platform } = renderApp("/b/workshop/memories/m-wiring");
    await screen.findByText("Cited by 2 models");
    await user.keyboard("e");
    const from = await screen.findByRole("textbox", { name: "Happened on" });
    await user.clear(from);
    await user.type(from, "soon");
    await user.click(screen.getByRole("button", { name: "Save" }));
    expect(await screen.findByText("Write the date like 2026-02-14.")).toBeVisible();
    await noViolations();
    await user.clear(from);
    await user.type(from, "2026-02");
    await user.click(screen.getByRole("button", { name: "Save" }));
    await waitFor(() =>
      expect(platform.calls.find(([name]) => name === "editMemory")?.[3]).toMatchObject({
        occurred_start: "2026-02-01T00:00:00Z",
      }),
    );
  });

  test("a fact is added from the keyboard and opens", async () => {
    const { user, history, platform } = renderApp("/b/workshop/memories");
    await list();
    await user.keyboard("n");
    await user.type(await screen.findByRole("textbox", { name: "Statement" }), "The kiln is sold.");
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Add" }));
    await waitFor(() => expect(history.location.pathname).toContain("/memories/m-own-"));
    expect(platform.calls.find(([name]) => name === "addMemory")?.[2]).toMatchObject({
      text: "The kiln is sold.",
      fact_type: "world",
    });
  });

  test("covers the list where there is no room, and gives it back", async () => {
    viewport.width = 900;
    const { user } = renderApp("/b/workshop/memories/m-wiring");
    await screen.findByText("Cited by 2 models");
    await noViolations();
    await user.click(await screen.findByRole("button", { name: "Back to the list" }));
    // The arrows go on in the list, and Enter looks at what is chosen.
    (await list()).focus();
    await user.keyboard("{ArrowDown}");
    await list();
    await user.keyboard("{Enter}");
    await screen.findByRole("button", { name: "Back to the list" });
    expect(screen.queryByRole("listbox", { name: "List of memories" })).toBeNull();
  });
});

describe("reading files in", () => {
  test("a typed path shows the plan, then the import and what it skipped", async () => {
    const { user, platform } = renderApp("/b/workshop/memories/import");
    await user.type(
      await screen.findByRole("textbox", { name: "File or folder" }),
      "/home/ada/minutes{Enter}",
    );
    expect(await screen.findByText("2 documents, 1 file of facts, 1 left out")).toBeVisible();
    expect(screen.getByText(/Drawings cannot be read/)).toBeVisible();
    expect(screen.getByRole("radio", { name: /As facts/ })).toBeDisabled();
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Import 3 files" }));
    expect(await screen.findByText("2 documents and 31 facts were read in.")).toBeVisible();
    expect(platform.calls.find(([name]) => name === "importFiles")?.[2]).toEqual({
      paths: ["/home/ada/minutes"],
      mode: "chunks",
      tags: [],
    });
    expect(await screen.findByText("facts.jsonl, line 7")).toBeVisible();
    await noViolations();
  });

  test("progress is told, and can be stopped", async () => {
    const { user, platform } = renderApp("/b/workshop/memories/import?operation=o-1");
    await screen.findByText("Reading");
    act(() =>
      platform.emit.progress({
        id: "o-1",
        bank: "workshop",
        progress: {
          stage: "embedding",
          processed: 40,
          total: 90,
          detail: "october.md (3/7)",
          stored: 212,
        },
      }),
    );
    expect(await screen.findByText("Computing vectors")).toBeVisible();
    expect(screen.getByText("40 of 90")).toBeVisible();
    expect(screen.getByText("october.md (3/7)")).toBeVisible();
    expect(screen.getByText("212 memories stored so far")).toBeVisible();
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Stop" }));
    expect(await screen.findByText("The import was stopped")).toBeVisible();
    expect(screen.getByText("212 memories had been stored and stay.")).toBeVisible();
    await user.click(screen.getByRole("button", { name: "Go on with it" }));
    expect(platform.calls).toContainEqual(["retryOperation", "workshop", "o-1"]);
  });

  test("an empty path is named", async () => {
    const { user } = renderApp("/b/workshop/memories/import");
    await user.click(await screen.findByRole("button", { name: "Show the plan" }));
    expect(await screen.findByText("Name a file or a folder first.")).toBeVisible();
    await noViolations();
  });

  test("a text is kept with its date and tags", async () => {
    const { user, platform, history } = renderApp("/b/workshop/memories/retain");
    await user.click(await screen.findByRole("button", { name: "Keep the text" }));
    expect(await screen.findByText("Write or paste a text.")).toBeVisible();
    await noViolations();
    await user.type(screen.getByRole("textbox", { name: "Text" }), "We met at six.");
    await user.type(screen.getByRole("textbox", { name: "Title" }), "Evening");
    await user.type(screen.getByRole("textbox", { name: "Written on" }), "2026-03-12");
    await user.click(screen.getByRole("button", { name: "Keep the text" }));
    await waitFor(() => expect(history.location.pathname).toBe("/b/workshop/memories"));
    expect(platform.calls.find(([name]) => name === "retainText")?.[2]).toMatchObject({
      text: "We met at six.",
      title: "Evening",
      timestamp: "2026-03-12T00:00:00Z",
      mode: "chunks",
    });
  });
});

describe("the filter field", () => {
  test.each(["@mira", "C++", 'a"b', '"', "AND", "NEAR(", "*", "foo:bar", "50%", "外币汇率"])(
    "%s is words and nothing else",
    (text) => {
      expect(filterOf(text, null, [])).toEqual({ filter: { words: text }, unusable: [] });
    },
  );

  test("one that is being typed is no token yet", () => {
    expect(readTokens("tag:ki", false)).toEqual({ tokens: [], words: "tag:ki" });
    expect(readTokens("tag:kiln ", false).tokens).toEqual([{ name: "tag", value: "kiln" }]);
  });

  test("a document is found by its title; what cannot be is kept aside", () => {
    const documents = [{ id: "d-1", title: "Site visit", facts: 1, tags: [], updated_at: "" }];
    expect(filterOf("doc:visit kind:dream after:soon", null, documents)).toEqual({
      filter: { document: "d-1" },
      unusable: [
        { name: "kind", value: "dream" },
        { name: "after", value: "soon" },
      ],
    });
  });

  test.each([
    ["2026", "2026-01-01T00:00:00Z"],
    ["2026-02", "2026-02-01T00:00:00Z"],
    ["2026-02-14 09:30", "2026-02-14T09:30:00Z"],
    ["2026-02-30", null],
    ["yesterday", null],
  ])("%s as a moment", (text, instant) => {
    expect(instantOf(text)).toBe(instant);
  });
});
