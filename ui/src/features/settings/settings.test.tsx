import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { llmSettings } from "~/platform/fixtures/settings";
import { memory, refusal } from "~/platform/memory";
import { noViolations, renderApp } from "../../../test/render";

const at = (page: string) => `/b/workshop/settings/${page}`;

describe("language models", () => {
  test("the check stands line by line with what to do; a key is told by its end alone", async () => {
    renderApp(at("models"));
    const local = await screen.findByRole("article", { name: "Ollama on this computer" });
    expect(within(local).getByText(/8,192 tokens are loaded/)).toBeVisible();
    expect(within(local).getByText(/Set a longer context/)).toBeVisible();
    const far = screen.getByRole("article", { name: "Anthropic" });
    expect(far).toHaveTextContent("key is set, ends in …f3, kept in the system’s key store");
    expect(far).not.toHaveTextContent("9df3");
    expect(far).toHaveTextContent("what is asked and read is sent there");
    await noViolations();
  });

  test("a server that was found is added, used and checked", async () => {
    const { user, platform } = renderApp(at("models"));
    await user.click(await screen.findByRole("button", { name: "Add" }));
    expect(await screen.findByRole("textbox", { name: "Address" })).toHaveValue(
      "http://127.0.0.1:1234/v1",
    );
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Save and check" }));
    await waitFor(() => expect(platform.calls).toContainEqual(["chooseEndpoint", "e-new"]));
    await waitFor(() => expect(platform.calls).toContainEqual(["checkEndpoint", "e-new"]));
    expect(await screen.findByText("In use")).toBeVisible();
  });

  test("without a key store the person chooses where the key goes", async () => {
    const { user, platform } = renderApp(at("models"), {
      llmSettings: async () => ({ ...llmSettings, keychain: false }),
    });
    await user.click(await screen.findByRole("button", { name: "Add an endpoint" }));
    await user.type(await screen.findByRole("textbox", { name: "Name" }), "Far");
    await user.type(screen.getByRole("textbox", { name: "Address" }), "https://far.example/v1");
    await user.type(screen.getByLabelText("Key"), "sk-“ümlaut”");
    await user.click(await screen.findByRole("radio", { name: /In a file, unprotected/ }));
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Save and check" }));
    await waitFor(() =>
      expect(platform.calls.find(([name]) => name === "saveEndpoint")?.[1]).toMatchObject({
        key: "sk-“ümlaut”",
        key_fallback: "file",
        llm: null,
      }),
    );
  });

  test("a key store that refuses leads to the same choice", async () => {
    const { user } = renderApp(at("models"), {
      saveEndpoint: async () => {
        throw refusal({ code: "keychain_unavailable", message: "The key store is locked." });
      },
    });
    await user.click(await screen.findByRole("button", { name: "Add an endpoint" }));
    await user.type(await screen.findByRole("textbox", { name: "Name" }), "Far");
    await user.type(screen.getByRole("textbox", { name: "Address" }), "https://far.example/v1");
    await user.type(screen.getByLabelText("Key"), "k");
    expect(screen.queryByRole("radio", { name: /For this run only/ })).toBeNull();
    await user.click(screen.getByRole("button", { name: "Save and check" }));
    expect(await screen.findByRole("radio", { name: /For this run only/ })).toBeChecked();
  });

  test("a fault of a field stands at the field", async () => {
    const { user } = renderApp(at("models"), {
      saveEndpoint: async () => {
        throw refusal({
          code: "invalid_input",
          fields: [{ field: "base_url", code: "address", message: "This is no address." }],
        });
      },
    });
    await user.click(await screen.findByRole("button", { name: "Add an endpoint" }));
    await user.click(screen.getByRole("button", { name: "Save and check" }));
    expect(await screen.findByText("Give it a name.")).toBeVisible();
    await user.type(screen.getByRole("textbox", { name: "Name" }), "Far");
    await user.type(screen.getByRole("textbox", { name: "Address" }), "far");
    await user.click(screen.getByRole("button", { name: "Save and check" }));
    expect(await screen.findByText("This is no address.")).toBeVisible();
    await noViolations();
  });

  test("what was learnt is forgotten; removing asks first", async () => {
    const { user, platform } = renderApp(at("models"));
    const more = { name: "More about Ollama on this computer" };
    await user.click(await screen.findByRole("button", more));
    await user.click(await screen.findByRole("menuitem", { name: "Forget what was learnt" }));
    await waitFor(() => expect(platform.calls).toContainEqual(["forgetLearnt", "e-local"]));
    await waitFor(() => expect(screen.queryByText(/Learnt in use/)).toBeNull());
    await user.click(screen.getByRole("button", more));
    await user.click(await screen.findByRole("menuitem", { name: "Remove…" }));
    expect(await screen.findByRole("button", { name: "Keep it" })).toHaveFocus();
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Remove" }));
    await waitFor(() =>
      expect(screen.queryByRole("article", { name: "Ollama on this computer" })).toBeNull(),
    );
  });

  test("fc_28 what was learnt stands in plain words, with how it was found out", async () => {
    const { user, platform } = renderApp(at("models"));
    const local = await screen.findByRole("article", { name: "Ollama on this computer" });
    const fact = within(local).getByText(/Takes no tool by name: one tool is offered at a time/);
    expect(fact).not.toBeVisible();
    await user.click(within(local).getByText("Learnt in use: 1 thing"));
    expect(fact).toBeVisible();
    expect(within(local).getByText(/refused the request \(HTTP 400, tool_choice\)/)).toBeVisible();
    expect(local).not.toHaveTextContent("named_tool_choice");
    await noViolations();
    await user.click(within(local).getByRole("button", { name: "Forget what was learnt" }));
    await waitFor(() => expect(platform.calls).toContainEqual(["forgetLearnt", "e-local"]));
    await waitFor(() => expect(within(local).queryByText(/Learnt in use/)).toBeNull());
  });

  test("fc_25 fc_29 window and time of a call are stated in the form and shown", async () => {
    const { user, platform } = renderApp(at("models"));
    const local = await screen.findByRole("article", { name: "Ollama on this computer" });
    expect(local).toHaveTextContent("one call may take 600 seconds");
    expect(screen.getByRole("article", { name: "Anthropic" })).toHaveTextContent(
      "window of 200,000 tokens as you stated it, one call may take 120 seconds",
    );
    await user.click(screen.getByRole("button", { name: "More about Ollama on this computer" }));
    await user.click(await screen.findByRole("menuitem", { name: "Edit…" }));
    await user.click(await screen.findByText("Window and time"));
    const window = screen.getByRole("textbox", { name: "Window, in tokens" });
    expect(window).toHaveAccessibleDescription(/more needs more memory/);
    await user.type(window, "many");
    await user.click(screen.getByRole("button", { name: "Save and check" }));
    expect(await screen.findByText(/Write a whole number/)).toBeVisible();
    await noViolations();
    await user.clear(window);
    await user.type(window, "32,768");
    await user.type(screen.getByRole("textbox", { name: /Longest time of one call/ }), "900");
    await user.click(screen.getByRole("button", { name: "Save and check" }));
    await waitFor(() =>
      expect(platform.calls.find(([name]) => name === "saveEndpoint")?.[1]).toMatchObject({
        window: 32_768,
        call_seconds: 900,
      }),
    );
  });

  test("fc_25 the longest time of a question is a setting", async () => {
    const { user, platform } = renderApp(at("work"));
    const field = await screen.findByRole("textbox", { name: "Longest time of a question" });
    expect(field).toHaveAccessibleDescription(/one call is set with its endpoint/);
    await user.clear(field);
    await user.type(field, "900{Enter}");
    await waitFor(() =>
      expect(platform.calls).toContainEqual([
        "setBankSettings",
        "workshop",
        { reflect_wall_timeout: 900 },
      ]),
    );
  });

  test("with nothing set up and nothing found it says what is possible", async () => {
    const { user, platform } = renderApp(at("models"), {
      llmSettings: async () => ({ endpoints: [], extractive: true, keychain: true }),
      discoverEndpoints: async () => [],
    });
    expect(await screen.findByText(/No endpoint yet/)).toBeVisible();
    expect(await screen.findByText(/No server answers on this computer/)).toBeVisible();
    await noViolations();
    await user.click(screen.getByRole("checkbox", { name: /Answer with statements/ }));
    await waitFor(() => expect(platform.calls).toContainEqual(["setExtractive", false]));
  });

  test("what the network said is folded away", async () => {
    const settings = structuredClone(llmSettings);
    const [local] = settings.endpoints;
    if (!local?.check) throw new Error("no check");
    local.check.lines = [
      {
        key: "Connection",
        verdict: "fail",
        words: "Nothing answers at http://127.0.0.1:11434",
        remedy: "Check that the server runs and that the address is right.",
        detail: "connection refused (os error 111)",
      },
    ];
    const { user } = renderApp(at("models"), { llmSettings: async () => settings });
    expect(await screen.findByText("Nothing answers at http://127.0.0.1:11434")).toBeVisible();
    expect(screen.getByText(/os error 111/)).not.toBeVisible();
    await user.click(screen.getByText("Details"));
    expect(screen.getByText(/os error 111/)).toBeVisible();
    await noViolations();
  });

  test("a check that fails to run says why", async () => {
    const { user } = renderApp(at("models"), {
      checkEndpoint: async () => {
        throw refusal();
      },
    });
    await user.click(await screen.findByRole("button", { name: "Check again" }));
    expect(await screen.findByRole("alert")).toHaveTextContent("could not be reached");
    await noViolations();
  });
});

describe("the other pages", () => {
  test("look: theme, text size and single letters are kept", async () => {
    const { user, platform } = renderApp(at("look"));
    await user.click(await screen.findByRole("radio", { name: "Dark" }));
    await waitFor(() => expect(document.documentElement.dataset.theme).toBe("dark"));
    await user.click(screen.getByRole("button", { name: "Larger" }));
    await waitFor(() => expect(platform.store.look.text_zoom).toBe(110));
    await user.click(screen.getByRole("checkbox", { name: /Single letters/ }));
    await waitFor(() => expect(platform.store.look.single_keys).toBe(false));
    await noViolations();
  });

  test("data: folder, size, banks", async () => {
    renderApp(at("data"));
    expect(await screen.findByText("~/.local/share/palimpsest")).toBeVisible();
    expect(screen.getByText("18.4 MB")).toBeVisible();
    await noViolations();
  });

  test("data: a bank is deleted once its name is written, and the open one is left", async () => {
    const { user, platform, history } = renderApp(at("data"));
    await user.click(await screen.findByRole("button", { name: "Delete Foundry Lane" }));
    expect(await screen.findByRole("button", { name: "Keep it" })).toHaveFocus();
    expect(screen.getByText("9 models with every version of their documents")).toBeVisible();
    await noViolations();
    const act = screen.getByRole("button", { name: "Delete the bank" });
    await user.click(act);
    expect(platform.calls.some(([name]) => name === "deleteBank")).toBe(false);
    await user.type(screen.getByRole("textbox"), "Foundry Lane");
    await user.click(act);
    await waitFor(() => expect(platform.calls).toContainEqual(["deleteBank", "workshop"]));
    await waitFor(() => expect(history.location.pathname).toContain("/b/notes/"));
  });

  test("data: the sample that was deleted comes back on demand", async () => {
    const { user, platform } = renderApp(at("data"), {
      appStatus: async () => ({ ...memory().store.status, sample_bank: null }),
    });
    await user.click(await screen.findByRole("button", { name: "Bring it back" }));
    await waitFor(() => expect(platform.calls).toContainEqual(["restoreSample"]));
  });

  test("about: version, and the notices on demand", async () => {
    const { user } = renderApp(at("about"));
    await user.click(await screen.findByRole("button", { name: "Show" }));
    expect(await screen.findByText(/Radix, MIT/)).toBeVisible();
    await noViolations();
  });

  test("a half-written endpoint is thrown away only when a person says so", async () => {
    const { user } = renderApp(at("models"));
    await user.click(await screen.findByRole("button", { name: "Add an endpoint" }));
    await user.type(await screen.findByRole("textbox", { name: "Name" }), "Far");
    await user.keyboard("{Escape}");
    await user.click(await screen.findByRole("button", { name: "Go on writing" }));
    expect(await screen.findByRole("textbox", { name: "Name" })).toHaveValue("Far");
    await user.keyboard("{Escape}");
    await user.click(await screen.findByRole("button", { name: "Throw it away" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  });

  test("an endpoint that is saved and cannot be used or checked says why", async () => {
    const { user } = renderApp(at("models"), {
      checkEndpoint: async () => {
        throw refusal({ message: "The check could not begin." });
      },
    });
    await user.click(await screen.findByRole("button", { name: "Add" }));
    await user.click(await screen.findByRole("button", { name: "Save and check" }));
    expect(await screen.findByText("The check could not begin.")).toBeVisible();
  });

  test("what cannot be read on a page says so in its place", async () => {
    renderApp(at("data"), {
      listBanks: async () => {
        throw refusal({ message: "The banks cannot be read." });
      },
    });
    expect(await screen.findByText("The banks cannot be read.")).toBeVisible();
  });

  test("g s leads here", async () => {
    const { user, history } = renderApp("/b/workshop/models");
    await screen.findByRole("grid");
    await user.keyboard("gs");
    await waitFor(() => expect(history.location.pathname).toBe("/b/workshop/settings"));
  });
});
