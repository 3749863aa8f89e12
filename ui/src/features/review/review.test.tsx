import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import type { Preview } from "~/platform/bindings";
import { type MemoryPlatform, memory, refusal } from "~/platform/memory";
import { noViolations, renderApp } from "../../../test/render";
import { viewport } from "../../../test/setup";

const card = (name: RegExp) => screen.findByRole("article", { name });

describe("review", () => {
  test("opens the oldest proposal, with the evidence of its first operation", async () => {
    renderApp("/b/workshop/review");
    expect(await card(/^1 of 6, Replace paragraph in The move, accepted/)).toBeVisible();
    const evidence = screen.getByRole("complementary", { name: "Evidence" });
    expect(await within(evidence).findByText("Call with the landlord")).toBeVisible();
    expect(screen.getByRole("button", { name: /Approve 4 of 6/ })).toBeEnabled();
    await noViolations();
  });

  test("y accepts and goes on, u takes back, z undoes, and the count is told", async () => {
    const { user } = renderApp("/b/workshop/review/p-welcome");
    await card(/^1 of 2/);
    await user.keyboard("y");
    expect(await card(/^1 of 2.*accepted/)).toBeVisible();
    await waitFor(() => expect(screen.getByTestId("announcer")).toHaveTextContent("1 accepted"));
    expect(await card(/^2 of 2/)).toHaveAttribute("aria-current", "true");
    await user.keyboard("z");
    expect(await card(/^1 of 2.*undecided/)).toBeVisible();
  });

  test("what an operation needs is said before, and follows when it is accepted", async () => {
    const { user } = renderApp("/b/workshop/review/p-welcome");
    expect(
      await screen.findByText(/Needs operation 1; accepting this accepts it too/),
    ).toBeVisible();
    await user.keyboard("jy");
    expect(await card(/^1 of 2.*accepted/)).toBeVisible();
    expect(await card(/^2 of 2.*accepted/)).toBeVisible();
    await waitFor(() =>
      expect(screen.getByTestId("announcer")).toHaveTextContent("Operation 1 followed"),
    );
  });

  test("quick keys are saved in turn", async () => {
    const { user, platform } = renderApp("/b/workshop/review/p-welcome");
    await card(/^1 of 2/);
    await user.keyboard("nn");
    await waitFor(() =>
      expect(platform.calls.filter(([name]) => name === "decideOps")).toHaveLength(2),
    );
    expect(await screen.findByText("0 accepted, 2 rejected")).toBeVisible();
    expect(screen.queryByRole("alert")).toBeNull();
  });

  test("Ctrl+Enter publishes at once when nothing asks for a second look", async () => {
    const { user, platform, history } = renderApp("/b/workshop/review/p-welcome");
    await card(/^1 of 2/);
    await user.keyboard("yy");
    await screen.findByText("2 accepted");
    await user.keyboard("{Control>}{Enter}{/Control}");
    await waitFor(() => expect(history.location.pathname).toBe("/b/workshop/models/welcome"));
    expect(platform.calls).toContainEqual([
      "approveProposal",
      "workshop",
      "p-welcome",
      { what: "decided", confirm: [], draft: null, note: null, without_structured_output: false },
      { state_seq: 2, request_id: expect.any(String) },
    ]);
    expect(await screen.findByText("Version 4 of Welcome is published")).toBeVisible();
  });

  test("pressed twice while it is being published, it is published once", async () => {
    const { user, platform } = renderApp("/b/workshop/review/p-welcome");
    await card(/^1 of 2/);
    await user.keyboard("yy");
    await screen.findByText("2 accepted");
    fireEvent.keyDown(document.body, { key: "Enter", ctrlKey: true });
    fireEvent.keyDown(document.body, { key: "Enter", ctrlKey: true });
    expect(await screen.findByText("Version 4 of Welcome is published")).toBeVisible();
    expect(platform.calls.filter(([name]) => name === "approveProposal")).toHaveLength(1);
  });

  test("with words of the person touched, a summary must be confirmed; focus is on the way back", async () => {
    const { user, platform } = renderApp("/b/workshop/review/p-status");
    await card(/^1 of 6/);
    await user.keyboard("jy");
    await card(/^2 of 6.*accepted/);
    await user.keyboard("{Control>}{Enter}{/Control}");
    const dialog = await screen.findByRole("alertdialog", { name: /Publish version 13/ });
    expect(within(dialog).getByText("Changes or removes what you wrote")).toBeVisible();
    expect(within(dialog).getByRole("button", { name: "Back to the review" })).toHaveFocus();
    await noViolations();
    expect(platform.calls.some(([name]) => name === "approveProposal")).toBe(false);
    await user.click(within(dialog).getByRole("button", { name: "Publish version 13" }));
    await waitFor(() =>
      expect(platform.calls.some(([name]) => name === "approveProposal")).toBe(true),
    );
  });

  test("nothing accepted: the button says to use Reject", async () => {
    renderApp("/b/workshop/review/p-welcome");
    const approve = await screen.findByRole("button", { name: /Approve 0 of 2/ });
    expect(approve).toHaveAttribute("aria-disabled", "true");
    expect(approve).toHaveAttribute("title", expect.stringContaining("use Reject"));
  });

  test("rejecting asks why and what becomes of the facts", async () => {
    const { user, platform } = renderApp("/b/workshop/review/p-welcome");
    await card(/^1 of 2/);
    await user.keyboard("{Control>}{Backspace}{/Control}");
    const dialog = await screen.findByRole("dialog", { name: "Reject proposal 2 of Welcome" });
    expect(within(dialog).getByRole("radio", { name: "Dismiss these facts" })).toBeChecked();
    await user.type(within(dialog).getByRole("textbox", { name: "Why" }), "Ask Tomas first");
    expect(within(dialog).getByRole("radio", { name: "Try again with this note" })).toBeChecked();
    await noViolations();
    await user.click(within(dialog).getByRole("button", { name: "Reject the proposal" }));
    await waitFor(() =>
      expect(platform.calls).toContainEqual([
        "rejectProposal",
        "workshop",
        "p-welcome",
        { note: "Ask Tomas first", disposition: "retry", standing: false },
        { state_seq: 0, request_id: expect.any(String) },
      ]),
    );
  });

  test("the proposed text is edited in place, with the old text above it", async () => {
    const { user, platform } = renderApp("/b/workshop/review/p-welcome");
    await card(/^1 of 2/);
    await user.keyboard("e");
    const field = await screen.findByRole("textbox", { name: "Proposed text" });
    expect(field).toHaveFocus();
    expect(screen.getByText("Old text")).toBeVisible();
    await user.clear(field);
    await user.type(field, "Keys come after the induction.");
    await noViolations();
    await user.keyboard("{Control>}{Enter}{/Control}");
    expect(await screen.findByText("Edited by you")).toBeVisible();
    expect(platform.calls.some(([name]) => name === "approveProposal")).toBe(false);
  });

  test("a note is written with c and left with Esc", async () => {
    const { user } = renderApp("/b/workshop/review/p-welcome");
    await card(/^1 of 2/);
    await user.keyboard("c");
    const note = await screen.findByRole("textbox", { name: "Note on this operation" });
    await user.type(note, "Check with Nadia{Control>}{Enter}{/Control}");
    expect(await screen.findByText("Check with Nadia")).toBeVisible();
    await user.keyboard("c");
    await screen.findByRole("textbox", { name: "Note on this operation" });
    await user.keyboard("{Escape}");
    expect(screen.queryByRole("textbox", { name: "Note on this operation" })).toBeNull();
  });

  test.each([
    ["2", "Version 12"],
    ["3", "Show deletions"],
    ["4", "renamed"],
    ["5", "Exactly what would be published"],
  ])("key %s shows its view", async (key, words) => {
    const { user } = renderApp("/b/workshop/review/p-status");
    await card(/^1 of 6/);
    await user.keyboard(key);
    expect(await screen.findByText(words)).toBeVisible();
    await noViolations();
  });

  test("conflicts show the three texts and are settled one by one", async () => {
    const { user } = renderApp("/b/workshop/review/p-rules");
    expect(await screen.findByText(/3 of 4 operations no longer fit/)).toBeVisible();
    const first = await card(/^2 of 4.*text changed/);
    for (const label of ["Base", "Now", "Proposed"]) {
      expect(within(first).getByText(label)).toBeVisible();
    }
    await noViolations();
    expect(screen.getByRole("button", { name: /Approve after 3 more/ })).toHaveAttribute(
      "aria-disabled",
    );
    await user.click(within(first).getByRole("button", { name: "Keep mine" }));
    expect(await screen.findByRole("button", { name: /Approve after 2 more/ })).toBeVisible();
  });

  test("o goes to the evidence, Esc comes back", async () => {
    const { user } = renderApp("/b/workshop/review/p-status");
    await card(/^1 of 6/);
    await user.keyboard("o");
    await waitFor(() => expect(document.activeElement).toHaveAttribute("id", "evidence-text"));
    await user.keyboard("{Escape}");
    expect(await card(/^1 of 6/)).toHaveFocus();
  });

  test("keys do nothing while something is typed, and ? lists them", async () => {
    const { user } = renderApp("/b/workshop/review/p-status");
    await card(/^1 of 6/);
    await user.keyboard("?");
    const sheet = await screen.findByRole("dialog", { name: "Keys of this screen" });
    expect(within(sheet).getByText("Accept this operation")).toBeVisible();
    await noViolations();
  });

  test("with nothing waiting it says what belongs here and which models are behind", async () => {
    renderApp("/b/workshop/review", { listProposals: async () => [] });
    expect(await screen.findByRole("heading", { name: "Nothing waits for you" })).toBeVisible();
    expect(await screen.findByRole("link", { name: "Machines" })).toBeVisible();
    await noViolations();
  });

  test("a refusal is told in place with its way on", async () => {
    const { user } = renderApp("/b/workshop/review/p-welcome", {
      decideOps: async () => {
        throw refusal({ message: "The proposal has changed since it was shown." });
      },
    });
    await card(/^1 of 2/);
    await user.keyboard("y");
    const alert = await screen.findByRole("alert");
    expect(alert).toHaveTextContent("The proposal has changed since it was shown.");
    await noViolations();
  });

  test("a closed proposal can be read and not decided", async () => {
    const { platform, user } = renderApp("/b/workshop/review/p-welcome");
    await card(/^1 of 2/);
    const view = platform.store.proposals[1];
    if (!view) throw new Error("no fixture");
    view.row.state = "partially_approved";
    view.published_version = 4;
    platform.emit.changed({ bank: null, tags: ["proposals"] });
    expect(await screen.findByText("This proposal is closed: partly approved.")).toBeVisible();
    expect(screen.getByRole("link", { name: "Open version 4" })).toBeVisible();
    expect(screen.queryByRole("radio")).toBeNull();
    await user.keyboard("y{Control>}{Enter}{/Control}");
    expect(platform.calls.some(([name]) => /decide|approve/.test(name))).toBe(false);
    await noViolations();
  });

  test("a proposal that is gone says so", async () => {
    renderApp("/b/workshop/review/nothing");
    expect(await screen.findByText("This proposal no longer exists.")).toBeVisible();
    await noViolations();
  });

  test("of two thousand operations few are in the page, and keys reach the last", async () => {
    const { platform } = renderApp("/b/workshop/review/p-status");
    await card(/^1 of 6/);
    const view = platform.store.proposals[0];
    const [first] = view?.ops ?? [];
    if (!view || !first) throw new Error("no fixture");
    view.ops = Array.from({ length: 2000 }, (_, at) => ({
      ...first,
      op_id: `many-${at}`,
      number: at + 1,
    }));
    platform.emit.changed({ bank: null, tags: ["proposals"] });
    await card(/^1 of 2000/);
    expect(screen.getAllByRole("article").length).toBeLessThan(60);
  });

  test("a document of a megabyte keeps few nodes in the page, in every view", async () => {
    const { user, platform } = renderApp("/b/workshop/review/p-status", {
      previewProposal: async () => largePreview,
    });
    await card(/^1 of 6/);
    large(platform);
    platform.emit.changed({ bank: null, tags: ["proposals"] });
    await card(/^1 of 1500/);
    for (const key of ["1", "2", "3", "4", "5"]) {
      await user.keyboard(key);
      await screen.findAllByText(/Sentence 0 /);
      expect(document.querySelectorAll("*").length).toBeLessThan(2600);
    }
  }, 60_000);

  test("the structure shows sections, the structured output and the evidence of the change", async () => {
    const { user } = renderApp("/b/workshop/review/p-status?view=structure");
    expect(await screen.findByText("renamed")).toBeVisible();
    expect(await card(/^2 of 6, Remove item/)).toBeVisible();
    await noViolations();
    await user.click(screen.getByRole("radio", { name: "Structured output" }));
    expect(await screen.findByRole("heading", { name: "risks, 1" })).toBeVisible();
    await user.click(screen.getByRole("radio", { name: "Evidence" }));
    expect(await screen.findByRole("region", { name: "Comes with the change" })).toBeVisible();
    await noViolations();
  });

  test("a text of one's own is kept with the proposal, outlives the window and is published", async () => {
    const { user, platform } = renderApp("/b/workshop/review/p-welcome");
    await card(/^1 of 2/);
    await user.keyboard("{Shift>}E{/Shift}");
    const field = await screen.findByRole("textbox", { name: "Document, Markdown" });
    await user.click(field);
    await user.keyboard("Mine. ");
    expect(localStorage.getItem("draft.proposal p-welcome")).toContain("Mine.");
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Keep the text" }));
    await waitFor(() => expect(platform.store.proposals[1]?.draft?.content).toContain("Mine."));
    expect(localStorage.getItem("draft.proposal p-welcome")).toBeNull();
    await user.click(screen.getByRole("button", { name: /Publish this text/ }));
    const dialog = await screen.findByRole("alertdialog", { name: /Publish version 4/ });
    expect(within(dialog).getByText(/^Your own text/)).toBeVisible();
    await user.click(within(dialog).getByRole("button", { name: "Publish version 4" }));
    await waitFor(() => {
      const call = platform.calls.find(([name]) => name === "approveProposal");
      expect(call?.[3]).toMatchObject({ what: "draft", confirm: ["human_touch"] });
    });
  });

  test("words that are being written survive the closing of the window", async () => {
    const first = renderApp("/b/workshop/review/p-welcome");
    await card(/^1 of 2/);
    await first.user.keyboard("c");
    await first.user.type(
      await screen.findByRole("textbox", { name: "Note on this operation" }),
      "Half a thou",
    );
    cleanup();
    const second = renderApp("/b/workshop/review/p-welcome");
    await card(/^1 of 2/);
    await second.user.keyboard("c");
    expect(await screen.findByRole("textbox", { name: "Note on this operation" })).toHaveValue(
      "Half a thou",
    );
  });

  test("the reason of a rejection outlives its dialog until it is said", async () => {
    const { user } = renderApp("/b/workshop/review/p-welcome", {
      rejectProposal: async () => {
        throw refusal({ message: "The data is busy." });
      },
    });
    await card(/^1 of 2/);
    const open = async () => {
      await user.click(screen.getByRole("button", { name: /^Reject…/ }));
      return within(await screen.findByRole("dialog", { name: /^Reject proposal/ }));
    };
    const dialog = await open();
    await user.type(dialog.getByRole("textbox", { name: "Why" }), "Too early");
    await user.click(dialog.getByRole("button", { name: "Reject the proposal" }));
    expect(await dialog.findByRole("alert")).toHaveTextContent("The data is busy.");
    await user.keyboard("{Escape}");
    expect((await open()).getByRole("textbox", { name: "Why" })).toHaveValue("Too early");
  });

  test("a refused decision is made by trying again", async () => {
    let refuse = true;
    const own = memory();
    const { user } = renderApp("/b/workshop/review/p-welcome", {
      getProposal: own.commands.getProposal,
      decideOps: async (...args) => {
        if (refuse) throw refusal({ message: "The data is busy." });
        return own.commands.decideOps(...args);
      },
    });
    await card(/^1 of 2/);
    await user.keyboard("y");
    const alert = await screen.findByRole("alert");
    refuse = false;
    await user.click(within(alert).getByRole("button", { name: "Try again" }));
    expect(await card(/^1 of 2.*accepted/)).toBeVisible();
    expect(screen.queryByRole("alert")).toBeNull();
  });

  test("a proposal whose changes were all refused can still be rejected and left", async () => {
    const own = memory();
    const { user } = renderApp("/b/workshop/review/p-welcome", {
      getProposal: async (...args) => {
        const view = await own.commands.getProposal(...args);
        return { ...view, ops: view.ops.map((op) => ({ ...op, status: "skipped" as const })) };
      },
      refreshModel: async () => {
        throw refusal({ message: "The data is busy." });
      },
    });
    await screen.findByRole("heading", { name: "Every change was refused by the engine" });
    expect(screen.getByRole("heading", { level: 1 })).toBeVisible();
    await user.click(screen.getByRole("button", { name: "Refresh in full" }));
    expect(await screen.findByRole("alert")).toHaveTextContent("The data is busy.");
    await noViolations();
    await user.click(screen.getByRole("button", { name: /^Reject…/ }));
    expect(await screen.findByRole("dialog", { name: /^Reject proposal/ })).toBeVisible();
  });

  test("claims are read as text; where a person wrote in the file no fact is missed", async () => {
    const own = memory();
    renderApp("/b/workshop/review/p-welcome", {
      getProposal: async (...args) => {
        const view = await own.commands.getProposal(...args);
        return {
          ...view,
          row: { ...view.row, origin: "file" },
          ops: view.ops.map((op) => ({
            ...op,
            evidence: [],
            claims: [{ quote: "The **new** date", evidence: [] }],
          })),
        };
      },
    });
    expect(await screen.findByRole("heading", { name: "The new date" })).toBeVisible();
    expect(screen.getByText(/^Written by a person in the published file/)).toBeVisible();
  });

  test("words that could not be saved are still there when the form is opened again", async () => {
    const refuses = async () => {
      throw refusal({ message: "The data is busy." });
    };
    const { user } = renderApp("/b/workshop/review/p-welcome", {
      setOpNote: refuses,
      editOp: refuses,
    });
    await card(/^1 of 2/);
    for (const [key, name] of [
      ["c", "Note on this operation"],
      ["e", "Proposed text"],
    ] as const) {
      await user.keyboard(key);
      const field = await screen.findByRole("textbox", { name });
      await user.clear(field);
      await user.type(field, "Ask Nadia first{Control>}{Enter}{/Control}");
      expect(await screen.findByRole("alert")).toHaveTextContent("The data is busy.");
      await user.keyboard(key);
      expect(await screen.findByRole("textbox", { name })).toHaveValue("Ask Nadia first");
      await user.keyboard("{Escape}");
    }
  });

  test("a text of one's own is kept until it is published", async () => {
    const { user } = renderApp("/b/workshop/review/p-welcome", {
      approveProposal: async () => {
        throw refusal({ message: "The data is busy." });
      },
    });
    await card(/^1 of 2/);
    await user.keyboard("{Shift>}E{/Shift}");
    await user.click(await screen.findByRole("textbox", { name: "Document, Markdown" }));
    await user.keyboard("Mine. ");
    await user.click(screen.getByRole("button", { name: /Publish this text/ }));
    const dialog = await screen.findByRole("alertdialog", { name: /Publish version 4/ });
    await user.click(within(dialog).getByRole("button", { name: "Publish version 4" }));
    expect(await screen.findByRole("alert")).toHaveTextContent("The data is busy.");
    expect(localStorage.getItem("draft.proposal p-welcome")).toContain("Mine.");
  });

  test("newer memories: the decisions are moved into a new proposal", async () => {
    const { user, platform } = renderApp("/b/workshop/review/p-rules");
    await user.click(await screen.findByRole("button", { name: "Refresh and keep my decisions" }));
    await waitFor(() =>
      expect(platform.calls).toContainEqual([
        "refreshInReview",
        "workshop",
        "rules",
        false,
        "fold",
      ]),
    );
  });

  test("a moved block is applied where it stands now", async () => {
    const { user, platform } = renderApp("/b/workshop/review/p-rules");
    const moved = await card(/^3 of 4.*moved/);
    expect(within(moved).getByText("Now under Before you start")).toBeVisible();
    await user.click(within(moved).getByRole("button", { name: "Apply there" }));
    await waitFor(() =>
      expect(platform.calls.find(([name]) => name === "resolveConflict")?.[4]).toEqual({
        kind: "take_proposed",
      }),
    );
  });

  test("why it ran, what it read and what has happened since stand with it", async () => {
    const { user } = renderApp("/b/workshop/review/p-status");
    await user.click(await screen.findByRole("button", { name: "Run details" }));
    const dialog = await screen.findByRole("dialog", { name: /The run behind proposal 4/ });
    expect(within(dialog).getByText(/operations 1, 3, 5 and 6, accepted/)).toBeVisible();
    expect(within(dialog).getByText("Search of facts: dates of the move")).toBeVisible();
    await noViolations();
  });

  test("in a narrow window the inbox folds into a menu", async () => {
    viewport.width = 900;
    const { user } = renderApp("/b/workshop/review/p-status");
    await user.click(await screen.findByRole("button", { name: "Waiting for review, 1 of 3" }));
    expect(await screen.findByRole("menuitem", { name: /House rules/ })).toBeVisible();
  });
});

describe("dry run", () => {
  test("shows the change without decisions and is kept as a proposal", async () => {
    const { user, platform, history } = renderApp("/b/workshop/models/status");
    await screen.findByText(/Forty-two members/);
    await user.keyboard("d");
    expect(await screen.findByText("Dry run, nothing written")).toBeVisible();
    expect(history.location.pathname).toBe("/b/workshop/models/status/dry-run/dry-1");
    expect(screen.getByText("2 facts were read and not used.")).toBeVisible();
    await card(/^1 of 6/);
    expect(screen.queryByRole("radio")).toBeNull();
    await noViolations();
    await user.keyboard("2");
    expect(await screen.findByText("Proposal 4")).toBeVisible();
    await user.click(screen.getByRole("button", { name: /Keep as proposal/ }));
    await waitFor(() => expect(history.location.pathname).toBe("/b/workshop/review/p-status"));
    expect(platform.calls).toContainEqual(["keepDryRun", "workshop", "dry-1"]);
  });

  test("that would change nothing cannot be kept, and says why", async () => {
    const { user } = renderApp("/b/workshop/models/words");
    await screen.findByRole("heading", { name: "Glossary" });
    await user.keyboard("d");
    expect(await screen.findByText("No new fact lies in the scope.")).toBeVisible();
    expect(screen.getByRole("button", { name: /Keep as proposal/ })).toHaveAttribute(
      "title",
      "It would change nothing",
    );
    await noViolations();
  });

  test("is dropped from its screen", async () => {
    const { user, platform, history } = renderApp("/b/workshop/models/words");
    await screen.findByRole("heading", { name: "Glossary" });
    await user.keyboard("d");
    await user.click(await screen.findByRole("button", { name: "Drop it" }));
    await waitFor(() => expect(history.location.pathname).toBe("/b/workshop/models/words"));
    expect(platform.calls).toContainEqual(["dropDryRun", "workshop", "dry-1"]);
  });
});

const sentence = (at: number, word: string) =>
  `Sentence ${at} ${word} ${"and a long piece of it ".repeat(14)}`;

/** A proposal of 1,500 changes over a document of about a megabyte. */
function large({ store }: MemoryPlatform): void {
  const view = store.proposals[0];
  const [first] = view?.ops ?? [];
  const [, section] = view?.base.sections ?? [];
  if (!view || !first || !section) throw new Error("no fixture");
  const blocks = Array.from({ length: 3000 }, (_, at) => ({
    id: `big-${at}`,
    text: sentence(at, "old"),
    gap: "\n\n",
  }));
  view.base = { ...view.base, sections: [{ ...section, blocks }] };
  view.ops = Array.from({ length: 1500 }, (_, at) => ({
    ...first,
    op_id: `many-${at}`,
    number: at + 1,
    section_id: section.id,
    block_id: `big-${at * 2}`,
    old_text: sentence(at * 2, "old"),
    new_text: sentence(at * 2, "new"),
    words: [],
  }));
}

/** What that proposal comes to. */
const largePreview: Preview = {
  content: "Sentence",
  diff: {
    unified: "",
    entries: Array.from({ length: 3000 }, (_, at) => {
      const changes = at % 2 === 0;
      return {
        kind: changes ? "block_changed" : "unchanged",
        section_id: "the-move",
        block_id: `big-${at}`,
        level: 2,
        old_text: sentence(at, "old"),
        new_text: sentence(at, changes ? "new" : "old"),
        words: [],
        op_ids: changes ? [`many-${at / 2}`] : [],
      };
    }),
  },
  document_tokens: 250_000,
  max_tokens: 8192,
  confirm: [],
  op_ids: [],
};
