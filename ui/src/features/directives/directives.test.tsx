import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import type { AppStatus, ReflectInput, ReflectRunView } from "~/platform/bindings";
import { memory, refusal } from "~/platform/memory";
import { noViolations, renderApp } from "../../../test/render";

const row = (name: RegExp) => screen.findByRole("option", { name });
const list = () => screen.getByRole("listbox", { name: "Directives" });
const names = () =>
  within(list())
    .getAllByRole("option")
    .map((each) => each.querySelector("span")?.textContent);
const calls = ({ calls: all }: { calls: [string, ...unknown[]][] }, name: string) =>
  all.filter(([own]) => own === name);

/** The status of a program that a language model answers. */
async function withModel(): Promise<AppStatus> {
  const status = await memory().commands.appStatus();
  return {
    ...status,
    answering: { kind: "llm", endpoint: "This computer", llm: "large", local: true },
  } as AppStatus;
}

describe("the list", () => {
  test("tells each rule, its scope in words, and whether it would apply", async () => {
    renderApp("/b/workshop/directives");
    expect(await row(/Dates/)).toHaveTextContent("applies to every question");
    const safety = await row(/Safety first/);
    expect(safety).toHaveTextContent("only with #safety or #machines");
    await waitFor(() => expect(safety).toHaveTextContent("Held back"));
    expect(await row(/Dates/)).toHaveTextContent("Applies");
    expect(await row(/Amounts/)).toHaveTextContent("Off");
    expect(names()).toEqual(["Safety first", "Dates", "Members", "Amounts"]);
    await noViolations();
  });

  test("fc_21 a scope that is thought of says at once which rules it puts in force", async () => {
    const { user, history } = renderApp("/b/workshop/directives");
    expect(
      await screen.findByText("1 rule applies, 2 held back by their tags, 1 switched off"),
    ).toBeVisible();
    await user.type(
      screen.getByRole("textbox", { name: "Which rules apply for tags" }),
      "safety, lathe",
    );
    expect(
      await screen.findByText("2 rules apply, 1 held back by its tags, 1 switched off"),
    ).toBeVisible();
    expect(await row(/Safety first/)).toHaveTextContent("Applies");
    await user.selectOptions(
      screen.getByRole("combobox", { name: "How the tags are compared" }),
      "all of them",
    );
    expect(
      await screen.findByText("1 rule applies, 2 held back by their tags, 1 switched off"),
    ).toBeVisible();
    expect(history.location.search).toContain("lathe");
    await user.click(screen.getByRole("checkbox", { name: "Apply all rules" }));
    expect(await screen.findByText("3 rules apply, 1 switched off")).toBeVisible();
    await user.click(screen.getByRole("button", { name: "#members" }));
    expect(screen.getByRole("textbox", { name: "Which rules apply for tags" })).toHaveValue(
      "safety, lathe, members",
    );
    await noViolations();
  });

  test("says that rules cannot be kept while no language model answers", async () => {
    renderApp("/b/workshop/directives");
    expect(await screen.findByText(/No language model answers now, so no rule/)).toBeVisible();
  });

  test("is found by name, rule and tag, and says when nothing is", async () => {
    const { user } = renderApp("/b/workshop/directives");
    await row(/Dates/);
    await user.keyboard("/");
    await user.keyboard("amounts");
    expect(names()).toEqual(["Amounts"]);
    await user.keyboard("{Escape}#memb");
    expect(names()).toEqual(["Members"]);
    await user.keyboard("zzz");
    expect(await screen.findByText("No directive reads like that")).toBeVisible();
    await user.click(screen.getByRole("button", { name: "Clear the search" }));
    expect(names()).toHaveLength(4);
  });

  test("a list of thousands draws what is in view", async () => {
    const platform = memory();
    const [first] = await platform.commands.listDirectives("workshop" as never);
    renderApp("/b/workshop/directives", {
      listDirectives: async () =>
        Array.from({ length: 5000 }, (_, n) => ({
          ...(first as NonNullable<typeof first>),
          id: `d-${n}` as never,
          name: `Rule ${n}`,
        })),
    });
    await row(/Rule 0/);
    expect(names().length).toBeLessThan(60);
  });

  test("tells what it was refused with, and tries again", async () => {
    let times = 0;
    const { user } = renderApp("/b/workshop/directives", {
      listDirectives: async () => {
        times += 1;
        if (times === 1)
          throw refusal({ message: "The database is busy.", reason: "database_busy" });
        return [];
      },
    });
    expect(await screen.findByText("The database is busy.")).toBeVisible();
    await user.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByText("Rules that every answer keeps")).toBeVisible();
  });
});

describe("acts", () => {
  test("by keys: switch, move, delete, and each can be taken back", async () => {
    const { user, platform } = renderApp("/b/workshop/directives");
    await row(/Dates/);
    list().focus();
    await user.keyboard("{ArrowDown}{ArrowDown}");
    expect(await row(/Dates/)).toHaveAttribute("aria-selected", "true");
    await user.keyboard(" ");
    await waitFor(async () => expect(await row(/Dates/)).toHaveTextContent("Off"));
    await user.click(await screen.findByRole("button", { name: "Undo" }));
    await waitFor(async () => expect(await row(/Dates/)).not.toHaveTextContent("Off"));

    list().focus();
    await user.keyboard("{Alt>}{ArrowUp}{/Alt}");
    await waitFor(() => expect(names()).toEqual(["Dates", "Safety first", "Members", "Amounts"]));
    expect(calls(platform, "moveDirective")[0]?.slice(2)).toEqual(["d-dates", 0]);

    await user.keyboard("{Control>}{Backspace}{/Control}");
    await waitFor(() => expect(names()).toEqual(["Safety first", "Members", "Amounts"]));
    expect(await row(/Safety first/)).toHaveAttribute("aria-selected", "true");
    const notes = await screen.findAllByRole("button", { name: "Undo" });
    await user.click(notes[0] as HTMLElement);
    await waitFor(() => expect(names()).toEqual(["Dates", "Safety first", "Members", "Amounts"]));
    expect(calls(platform, "restoreDirective")).toHaveLength(1);
  });

  test("a new rule: n, its fields, Ctrl Enter; a blank one is refused at its field", async () => {
    const { user, platform } = renderApp("/b/workshop/directives");
    await row(/Dates/);
    await user.keyboard("n");
    const name = await screen.findByRole("textbox", { name: "Name" });
    await user.type(name, "Tone");
    await user.keyboard("{Control>}{Enter}{/Control}");
    expect(await screen.findByText("Write what should be kept.")).toBeVisible();
    await noViolations();
    await user.type(screen.getByRole("textbox", { name: "Rule" }), "Be brief.");
    await user.type(screen.getByRole("textbox", { name: "Tags" }), "#letters, shop");
    await user.keyboard("{Control>}{Enter}{/Control}");
    const made = await row(/Tone/);
    expect(made).toHaveAttribute("aria-selected", "true");
    expect(calls(platform, "createDirective")[0]?.[2]).toEqual({
      name: "Tone",
      content: "Be brief.",
      tags: ["letters", "shop"],
      priority: 0,
    });
  });

  test("what is typed into a rule outlives leaving it", async () => {
    const { user } = renderApp("/b/workshop/directives/d-dates");
    const rule = await screen.findByRole("textbox", { name: "Rule" });
    await user.type(rule, " And the weekday.");
    await user.click(await row(/Members/));
    await waitFor(() =>
      expect(screen.getByRole("textbox", { name: "Rule" })).toHaveValue(
        "Never name a member who has left.",
      ),
    );
    await user.click(await row(/Dates/));
    await waitFor(() =>
      expect(screen.getByRole("textbox", { name: "Rule" })).toHaveValue(
        "Give every date with day, month and year. And the weekday.",
      ),
    );
    expect(screen.getByText("What you had begun is still here.")).toBeVisible();
    await user.click(screen.getByRole("button", { name: "Save" }));
    expect(await row(/Dates/)).toHaveTextContent("And the weekday.");
  });

  test("a refused change says so and changes nothing", async () => {
    const { user } = renderApp("/b/workshop/directives/d-dates", {
      deleteDirective: async () => {
        throw refusal({ code: "disk_full", message: "The disk is full.", retryable: false });
      },
    });
    await user.click(await screen.findByRole("button", { name: "Delete" }));
    expect(await screen.findByText("The disk is full.")).toBeVisible();
    expect(names()).toHaveLength(4);
  });

  test("an address of a rule that is gone leads back", async () => {
    const { user } = renderApp("/b/workshop/directives/d-gone");
    expect(await screen.findByText("This directive is not there")).toBeVisible();
    await user.click(screen.getByRole("button", { name: "Back to the list" }));
    expect(await screen.findByRole("heading", { name: "Disposition" })).toBeVisible();
  });

  test("an empty bank offers two examples to begin with", async () => {
    const { user } = renderApp("/b/empty/directives", { listDirectives: async () => [] });
    await user.click(await screen.findByRole("button", { name: /Begin with this: Safety first/ }));
    expect(await screen.findByRole("textbox", { name: "Tags" })).toHaveValue("safety");
    await noViolations();
  });
});

describe("disposition and missions", () => {
  test("a slider tells its effect, is kept at once, and can be taken back", async () => {
    const { user, platform } = renderApp("/b/workshop/directives");
    const slider = await screen.findByRole("slider", { name: "Skepticism" });
    expect(slider).toHaveAttribute("aria-valuetext", "3 of 5. No extra instruction.");
    const preset = screen.getByRole("combobox", { name: "Preset" });
    await user.selectOptions(preset, "Research assistant");
    await waitFor(() =>
      expect(slider).toHaveAttribute("aria-valuetext", expect.stringMatching(/^4/)),
    );
    expect(calls(platform, "setBankSettings")[0]?.[2]).toEqual({ disposition_skepticism: 4 });
    expect(await screen.findByText("Saved")).toBeVisible();
    await user.click(screen.getByRole("button", { name: "As all banks" }));
    await waitFor(() => expect(slider).toHaveValue("3"));
  });

  test("a refused slider goes back and says why", async () => {
    const { user } = renderApp("/b/workshop/directives", {
      setBankSettings: async () => {
        throw refusal({ code: "disk_full", message: "The disk is full." });
      },
    });
    const slider = await screen.findByRole("slider", { name: "Empathy" });
    await user.selectOptions(screen.getByRole("combobox", { name: "Preset" }), "Customer support");
    expect(await screen.findByText("The disk is full.")).toBeVisible();
    expect(slider).toHaveValue("3");
  });

  test("a mission is kept when its field is left, and emptied by emptying it", async () => {
    const { user, platform } = renderApp("/b/workshop/directives");
    const box = await screen.findByRole("textbox", { name: "For answers" });
    await user.type(box, "You advise the members.");
    await user.tab();
    await waitFor(() =>
      expect(calls(platform, "setBankSettings")[0]?.[2]).toEqual({
        reflect_mission: "You advise the members.",
      }),
    );
    expect(await screen.findByText("Saved")).toBeVisible();
    await user.clear(box);
    await user.tab();
    await waitFor(() =>
      expect(calls(platform, "setBankSettings")[1]?.[2]).toEqual({ reflect_mission: null }),
    );
  });
});

describe("one question under two dispositions", () => {
  test("asks both, shows both answers and which sources each used alone", async () => {
    const status = await withModel();
    const kept: ReflectRunView[] = [];
    const [sample] = memory().store.runs;
    const { user, platform } = renderApp("/b/workshop/directives/compare", {
      appStatus: async () => status,
      ask: async (_, request: ReflectInput) => {
        const doubts = (request.disposition?.skepticism ?? 3) > 3;
        const view = {
          ...(sample as ReflectRunView),
          id: `r-${kept.length + 10}` as never,
          request,
          text: doubts ? "Only one source says so." : "The keys come on 2 February.",
          evidence_spans: [],
          based_on: (sample as ReflectRunView).based_on.slice(0, doubts ? 1 : 2),
        };
        kept.push(view);
        return view;
      },
      getReflectRun: async (_, id) => kept.find((run) => run.id === id) as ReflectRunView,
    });
    await user.type(await screen.findByRole("textbox", { name: "Question" }), "When?");
    const right = screen.getByRole("region", { name: "Right disposition" });
    await user.selectOptions(within(right).getByRole("combobox"), "Legal analysis");
    await noViolations();
    await user.keyboard("{Control>}{Enter}{/Control}");
    expect(await within(right).findByText("Only one source says so.")).toBeVisible();
    const left = screen.getByRole("region", { name: "Left disposition" });
    expect(await within(left).findByText("The keys come on 2 February.")).toBeVisible();
    const asked = calls(platform, "ask").map(([, , input]) => input);
    expect(asked).toMatchObject([
      { query: "When?", disposition: { skepticism: 3, literalism: 3, empathy: 3 } },
      { query: "When?", disposition: { skepticism: 5, literalism: 5, empathy: 2 } },
    ]);
    const alone = within(left).getByRole("list", { name: /only this answer/ });
    expect(within(alone).getAllByRole("listitem")).toHaveLength(1);
    expect(within(right).getByText(/the other answer used them too/)).toBeVisible();
    await noViolations();
  });

  test("refuses where nothing would differ, and says why", async () => {
    const { user, platform } = renderApp("/b/workshop/directives/compare");
    expect(await screen.findByText(/none answers now: both answers/)).toBeVisible();
    await user.type(screen.getByRole("textbox", { name: "Question" }), "When?{Enter}");
    expect(calls(platform, "ask")).toEqual([]);
  });
});

test("fc_21 an answer lists the rules that it kept and those that were held back", async () => {
  renderApp("/b/workshop/reflect/r-move");
  const told = await screen.findByLabelText("Rules of this answer");
  expect(told).toHaveTextContent("Rules appliedDates");
  expect(told).toHaveTextContent("Held back: scopeSafety firstMembers");
  expect(told).toHaveTextContent("Held back: switched offAmounts");
  expect(within(told).getByRole("link", { name: "Safety first" })).toHaveAttribute(
    "href",
    "/b/workshop/directives/d-safety",
  );
});
