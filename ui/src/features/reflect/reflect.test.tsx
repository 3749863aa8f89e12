import { act, cleanup, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { liveSpans, rulerStep, spansOf } from "~/components/trace/spans";
import type { ReflectRunView, RunEvent } from "~/platform/bindings";
import { memory, refusal } from "~/platform/memory";
import { noViolations, renderApp } from "../../../test/render";
import { cite, cut } from "./cite";
import { inputOf, optionsOf } from "./options";

const question = () => screen.findByRole("textbox", { name: "Question" });

describe("asking", () => {
  test("offers questions of the bank, and one press asks", async () => {
    const { user, platform, history } = renderApp("/b/workshop/reflect");
    await screen.findByRole("heading", { name: "Ask what the bank knows" });
    await noViolations();
    await user.click(await screen.findByRole("button", { name: "What does Tomas work on?" }));
    await waitFor(() => expect(history.location.pathname).toBe("/b/workshop/reflect/r-5"));
    expect(platform.calls.find(([name]) => name === "ask")?.[2]).toMatchObject({
      query: "What does Tomas work on?",
      budget: "low",
    });
    expect(await screen.findByText("No language model wrote this")).toBeVisible();
    await noViolations();
  });

  test("options go with the question", async () => {
    const { user, platform } = renderApp("/b/workshop/reflect");
    await user.click(await screen.findByRole("button", { name: /^Budget/ }));
    await user.click(await screen.findByRole("radio", { name: "high" }));
    await noViolations();
    await user.keyboard("{Escape}");
    await user.click(screen.getByRole("button", { name: /^Tags/ }));
    await user.type(await screen.findByRole("textbox", { name: /Only memories/ }), "move, #kiln");
    await user.keyboard("{Escape}");
    await user.click(screen.getByRole("checkbox", { name: "Obey all rules" }));
    await user.type(await question(), "Who has the keys?");
    await user.keyboard("{Control>}{Enter}{/Control}");
    await waitFor(() =>
      expect(platform.calls.find(([name]) => name === "ask")?.[2]).toMatchObject({
        query: "Who has the keys?",
        budget: "high",
        tags: ["move", "kiln"],
        tags_match: "any",
        apply_all_directives: true,
      }),
    );
  });

  test("arrow up brings earlier questions, arrow down the draft", async () => {
    const { user } = renderApp("/b/workshop/reflect");
    await screen.findByText("Who may use the kiln?");
    const box = await question();
    await user.click(box);
    await user.keyboard("{ArrowUp}");
    expect(box).toHaveValue("Why is the move late, and what was agreed since?");
    await user.keyboard("{ArrowUp}");
    expect(box).toHaveValue("When do we get the keys to Mill Street?");
    await user.keyboard("{ArrowDown}{ArrowDown}");
    expect(box).toHaveValue("");
  });

  test("shows each step while it runs, streams, and Esc stops it", async () => {
    let hear: (event: RunEvent) => void = () => {};
    let finish: (view: ReflectRunView) => void = () => {};
    const { user, platform } = renderApp("/b/workshop/reflect", {
      ask: (_, __, events) => {
        hear = (event) => events.onmessage(event);
        return new Promise((resolve) => {
          finish = resolve;
        });
      },
    });
    await user.type(await question(), "Why?{Enter}");
    await screen.findByRole("button", { name: "Stop" });
    act(() => {
      hear({ type: "run_started", run_id: "r-9", forced_sequence: [], max_iterations: 10 });
      hear({ type: "iteration_started", i: 1, n: 10, forced: null });
      hear({ type: "tool_started", tool: "recall", reason: "Look for delays." });
    });
    expect(await screen.findByText("Search of facts: Look for delays.")).toBeVisible();
    expect(screen.getByRole("row", { name: /Search of facts/ })).toHaveTextContent("running");
    act(() => {
      hear({
        type: "tool_finished",
        tool: "recall",
        reason: null,
        result_count: 3,
        is_stale: null,
        status: "ok",
      });
      hear({ type: "guard", name: "uncited_answer" });
      hear({ type: "answer_delta", text: "The move is late. It" });
    });
    expect(screen.getByText("Search of facts, 3 results")).toBeVisible();
    expect(screen.getByText("The answer named no sources and was sent back.")).toBeVisible();
    expect(screen.getByRole("region", { name: "Answer so far" })).toHaveTextContent("It");
    await waitFor(() =>
      expect(screen.getByTestId("announcer")).toHaveTextContent("The move is late."),
    );
    await noViolations();
    await user.keyboard("{Escape}");
    expect(platform.calls).toContainEqual(["cancelReflect", "r-9"]);
    const [first] = platform.store.runs;
    if (!first) throw new Error("no run in the fixtures");
    await act(async () => finish({ ...first, id: "r-move", status: "cancelled", text: null }));
  });

  test("a question that broke goes on from what was found, a changed one begins anew", async () => {
    const { store } = memory();
    const [run] = store.runs;
    if (!run) throw new Error("no run in the fixtures");
    const report = refusal({ code: "provider_unreachable", retryable: true, run: { id: run.id } });
    const broken: ReflectRunView = {
      ...run,
      status: "failed",
      text: null,
      report,
      can_go_on: true,
    };
    const { user, platform } = renderApp(`/b/workshop/reflect/${run.id}`, {
      getReflectRun: async (_, id) => (id === run.id ? broken : { ...run, id }),
    });
    const asked = (name: string) => platform.calls.filter(([call]) => call === name);
    expect(await screen.findByText(/Another try goes on from what was found/)).toBeVisible();
    await user.type(await question(), " Really?");
    expect(screen.queryByText(/Another try goes on/)).toBeNull();
    await user.keyboard("{Backspace>8/}");
    await user.click(screen.getByRole("button", { name: "Try again" }));
    await waitFor(() => expect(asked("retryReflect")).toHaveLength(1));
    expect(asked("retryReflect")[0]?.slice(1, 3)).toEqual(["workshop", run.id]);
    expect(asked("ask")).toEqual([]);
    expect(await screen.findByRole("region", { name: "Answer" })).toBeVisible();
  });

  test("a run that was stopped or broke shows how far it came", async () => {
    const { store } = memory();
    const [run] = store.runs;
    if (!run) throw new Error("no run in the fixtures");
    const report = refusal({ reason: "cancelled", run: { id: run.id } });
    const { user, history } = renderApp("/b/workshop/reflect", {
      ask: async () => {
        throw report;
      },
      getReflectRun: async () => ({ ...run, status: "cancelled", text: null, report }),
    });
    await user.type(await question(), "Why?{Enter}");
    await waitFor(() => expect(history.location.pathname).toBe(`/b/workshop/reflect/${run.id}`));
    expect(await screen.findByText(/was stopped before it was answered/)).toBeVisible();
    expect(screen.queryByRole("alert")).toBeNull();
    expect(screen.getByRole("treegrid", { name: "Trace" })).toBeVisible();
  });

  test.each([
    ["provider_not_configured", /Connect a language model/],
    ["model_lacks_tools", /can call tools/],
    ["context_overflow", /Lower the budget/],
    ["evidence_unavailable", /search itself did not work/],
    ["empty_answer", /Asking again often helps/],
  ] as const)("a refusal with %s says what to do", async (code, remedy) => {
    const { user } = renderApp("/b/workshop/reflect", {
      ask: async () => {
        throw refusal({ code });
      },
    });
    await user.type(await question(), "Why?{Enter}");
    expect(await screen.findByRole("alert")).toHaveTextContent(remedy);
    if (code === "model_lacks_tools") {
      expect(screen.getByRole("link", { name: "Open settings" })).toBeVisible();
      await noViolations();
    }
  });
});

describe("an answer", () => {
  test("has its sources as buttons; one that is pressed is marked in the evidence", async () => {
    const { user, history } = renderApp("/b/workshop/reflect/r-move");
    const source = await screen.findByRole("button", { name: /^source 2: The landlord/ });
    expect(screen.getByText("No source given")).toBeVisible();
    await user.keyboard("c");
    expect(screen.getByRole("button", { name: /^source 1/ })).toHaveFocus();
    await user.keyboard("c{Enter}");
    expect(source).toHaveAttribute("aria-pressed", "true");
    await waitFor(() => expect(history.location.search).toContain("m-moved"));
    expect(screen.getByRole("tab", { name: /World/ })).toHaveAttribute("aria-selected", "true");
    expect(await screen.findAllByText("Found by search of facts, cited once")).not.toHaveLength(0);
    await noViolations();
  });

  test("the number keys choose the kind of evidence; what was not used is a press away", async () => {
    const { user } = renderApp("/b/workshop/reflect/r-move");
    await screen.findByRole("button", { name: /^source 1/ });
    await user.keyboard("2");
    const tab = screen.getByRole("tab", { name: /Experience/ });
    await waitFor(() => expect(tab).toHaveAttribute("aria-selected", "true"));
    await user.click(
      await screen.findByRole("checkbox", { name: "Show 1 retrieved and not used" }),
    );
    expect(await screen.findByText(/Retrieved, not used/)).toBeVisible();
  });

  test("is kept as a model with its question", async () => {
    const { user, history } = renderApp("/b/workshop/reflect/r-move");
    await screen.findByRole("button", { name: /^source 1/ });
    await user.keyboard("s");
    await waitFor(() => expect(history.location.pathname).toBe("/b/workshop/models/new"));
    expect(await screen.findByRole("textbox", { name: /question/i })).toHaveValue(
      "Why is the move late, and what was agreed since?",
    );
  });

  test("that is only the nearest says so", async () => {
    renderApp("/b/workshop/reflect/r-lathe");
    expect(await screen.findByText("Nearest match")).toBeVisible();
    expect(screen.getByText("These statements are leads, not an answer.")).toBeVisible();
    await noViolations();
  });

  test("with nothing found offers a way on", async () => {
    renderApp("/b/workshop/reflect/r-nothing");
    expect(await screen.findByText(/The bank holds nothing about this/)).toBeVisible();
    expect(screen.getByRole("button", { name: "Add a fact" })).toBeVisible();
    await noViolations();
  });

  test("without a language model marks no sentence as lacking a source", async () => {
    const { platform } = renderApp("/b/workshop/reflect");
    const [kept] = platform.store.runs;
    if (!kept) throw new Error("no run in the fixtures");
    cleanup();
    renderApp("/b/workshop/reflect/r-move", {
      getReflectRun: async () => ({ ...kept, extractive: true, confidence: "found" }),
    });
    await screen.findByRole("button", { name: /^source 1/ });
    expect(screen.queryByText("No source given")).toBeNull();
  });

  test("that is gone says so", async () => {
    renderApp("/b/workshop/reflect/r-none");
    expect(await screen.findByRole("alert")).toHaveTextContent("no longer kept");
  });

  test("the trace is a tree that folds by keys and shows each step", async () => {
    const { user } = renderApp("/b/workshop/reflect/r-move");
    const tree = await screen.findByRole("treegrid", { name: "Trace" });
    expect(within(tree).getAllByRole("row")).toHaveLength(7);
    tree.focus();
    await user.keyboard("{ArrowDown}{ArrowLeft}");
    expect(within(tree).getAllByRole("row")).toHaveLength(5);
    await user.keyboard("{ArrowRight}{ArrowDown}{Enter}");
    const detail = await screen.findByRole("complementary", { name: "Details of the span" });
    expect(detail).toHaveTextContent("Search of models");
    await noViolations();
  });
});

describe("what a question takes", () => {
  test("is told before it is asked, by depth, and beside the answer", async () => {
    const { user, platform } = renderApp("/b/workshop/reflect/r-move");
    expect(
      await screen.findByText(
        "Probably 3 model calls and 4,700 tokens (3 to 5 calls, 3,600 to 11,000 tokens), as the last 7 like it.",
      ),
    ).toBeVisible();
    expect(screen.getByText("3 model calls, 3,720 tokens in, 592 out")).toBeVisible();
    expect(await screen.findByText("expected 3 calls and 4,700 tokens")).toBeVisible();
    expect(platform.calls).toContainEqual([
      "estimateReflect",
      "workshop",
      expect.objectContaining({ query: "Why is the move late, and what was agreed since?" }),
      "r-move",
    ]);
    await user.click(await screen.findByRole("button", { name: /^Budget/ }));
    await user.click(await screen.findByRole("radio", { name: "high" }));
    expect(await screen.findByText(/Probably 12 model calls/)).toBeVisible();
  });

  test("fc_15 says when the tokens of the day are spent, and that a question still runs", async () => {
    const { platform } = renderApp("/b/workshop/reflect");
    const settings = await platform.commands.bankSettings("workshop");
    cleanup();
    renderApp("/b/workshop/reflect", {
      bankSettings: async () => ({ ...settings, ceiling_reached: true }),
    });
    expect(await screen.findByText(/The tokens of this day are spent/)).toBeVisible();
  });
});

describe("two runs side by side", () => {
  test("differ where they differ, share what they share, and lead back", async () => {
    const { user, history } = renderApp("/b/workshop/reflect/r-move");
    await user.click(await screen.findByRole("button", { name: "Compare" }));
    await user.click(await screen.findByRole("menuitem", { name: /When do we get the keys/ }));
    await waitFor(() => expect(history.location.search).toContain("beside=r-keys"));
    const table = await screen.findByRole("table", { name: /How each was asked/ });
    expect(within(table).getByRole("cell", { name: "Model calls 3" })).toBeVisible();
    expect(within(table).getByRole("cell", { name: "Model calls 0" })).toBeVisible();
    expect(screen.getByText(/^The same in both:.*budget low/)).toBeVisible();
    expect(screen.getByRole("region", { name: "Answer, this one" })).toHaveTextContent(
      "The move to Mill Street is late.",
    );
    expect(screen.getByText("In both: 2 sources")).toBeVisible();
    expect(screen.getByText("Only this one: 3")).toBeVisible();
    expect(screen.getByText("The other has no source of its own.")).toBeVisible();
    expect(screen.getAllByRole("treegrid", { name: "Trace" })).toHaveLength(2);
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Back to the answer" }));
    expect(await screen.findByRole("button", { name: /^source 1/ })).toBeVisible();
  });

  test("asking again sets the new answer beside the old one", async () => {
    const { user, history } = renderApp("/b/workshop/reflect/r-move");
    await user.click(await screen.findByRole("button", { name: "Compare" }));
    await user.click(await screen.findByRole("menuitem", { name: "Ask again and compare" }));
    await waitFor(() => expect(history.location.pathname).toBe("/b/workshop/reflect/r-5"));
    expect(history.location.search).toContain("beside=r-move");
    expect(await screen.findByText("Two questions side by side")).toBeVisible();
  });
});

describe("taking an answer out", () => {
  test("needs a folder and says where the file is", async () => {
    const { user, platform } = renderApp("/b/workshop/reflect/r-move");
    await user.click(await screen.findByRole("button", { name: "Export" }));
    await user.click(await screen.findByRole("radio", { name: "The whole record, JSON" }));
    const act = within(screen.getByRole("dialog")).getByRole("button", { name: "Export" });
    await user.click(act);
    expect(screen.getByRole("textbox", { name: "Folder" })).toBeInvalid();
    await noViolations();
    await user.type(screen.getByRole("textbox", { name: "Folder" }), "/home/ada");
    await user.click(act);
    expect(
      await screen.findByText("Written to /home/ada/why-is-the-move-late.json."),
    ).toBeVisible();
    expect(platform.calls).toContainEqual([
      "saveReflectRun",
      "workshop",
      "r-move",
      "record",
      "/home/ada",
    ]);
  });
});

describe("fields of an answer", () => {
  test("are built beside the question and go with it, and with the model", async () => {
    const { user, platform, history } = renderApp("/b/workshop/reflect/r-move");
    await screen.findByRole("button", { name: /^source 1/ });
    await user.click(screen.getByRole("button", { name: /^Fields none/ }));
    await user.click(await screen.findByRole("button", { name: /^Status/ }));
    await screen.findByRole("treegrid", { name: "Fields of the schema" });
    await user.click(screen.getByRole("button", { name: "Try on the answer" }));
    await waitFor(() =>
      expect(platform.calls.find(([name]) => name === "trySchema")?.[3]).toContain("Mill Street"),
    );
    await user.click(screen.getByRole("button", { name: "Back to the question" }));
    expect(await screen.findByRole("button", { name: /^Fields 3 fields/ })).toBeVisible();
    await user.click(screen.getByRole("button", { name: /^Ask again/ }));
    await waitFor(() =>
      expect(platform.calls.find(([name]) => name === "ask")?.[2]).toMatchObject({
        response_schema: { required: ["status"] },
      }),
    );
    await waitFor(() => expect(history.location.pathname).toBe("/b/workshop/reflect/r-5"));
    await screen.findByText("No language model wrote this");
    document.body.focus();
    await user.click(screen.getByRole("button", { name: /Save as model/ }));
    await waitFor(() => expect(history.location.search).toContain("schema="));
  });

  test("are shown by name, or as JSON; a fault is told in words", async () => {
    const { store } = memory();
    const [run] = store.runs;
    if (!run) throw new Error("no run in the fixtures");
    const request = {
      ...run.request,
      response_schema: { type: "object", properties: { day: { type: "string" }, cost: {} } },
    };
    const { user } = renderApp("/b/workshop/reflect/r-move", {
      getReflectRun: async () => ({ ...run, request, structured_output: { day: "2 February" } }),
    });
    const fields = await screen.findByRole("region", { name: "Fields" });
    expect(fields).toHaveTextContent("2 February");
    expect(fields).toHaveTextContent("cost");
    expect(fields).toHaveTextContent("Came back without a value");
    await user.click(within(fields).getByRole("radio", { name: "JSON" }));
    expect(fields).toHaveTextContent('"day": "2 February"');
    cleanup();
    renderApp("/b/workshop/reflect/r-move", {
      getReflectRun: async () => ({
        ...run,
        request,
        structured_output_error: { code: "timeout", message: "It took too long." },
      }),
    });
    expect(
      await screen.findByText("The fields could not be filled: It took too long."),
    ).toBeVisible();
  });
});

describe("looking at a trace", () => {
  const tree = () => screen.findByRole("treegrid", { name: "Trace" });

  test("finds words, goes from match to match, shows one kind and the longest way", async () => {
    const { user } = renderApp("/b/workshop/reflect/r-move");
    (await tree()).focus();
    await user.keyboard("{Control>}f{/Control}");
    const field = screen.getByRole("textbox", { name: "Find in the trace" });
    expect(field).toHaveFocus();
    await user.type(field, "meeting{Enter}");
    expect(screen.getByText("1 of 1")).toBeVisible();
    const chosen = () =>
      document.getElementById(
        screen.getByRole("treegrid").getAttribute("aria-activedescendant") ?? "",
      );
    expect(chosen()).toHaveTextContent("agreed at the meeting");
    await user.clear(field);
    await user.click(screen.getByRole("radio", { name: "Model" }));
    expect(within(await tree()).getAllByRole("row")).toHaveLength(4);
    await user.click(screen.getByRole("radio", { name: "All" }));
    await user.click(screen.getByRole("button", { name: "Longest way" }));
    // Beside the longer search of the same turn the shorter one does not count.
    expect(screen.getAllByText(/on the longest way/)).toHaveLength(5);
    await noViolations();
  });

  test("the keys look nearer and show the whole again", async () => {
    const { user } = renderApp("/b/workshop/reflect/r-move");
    (await tree()).focus();
    const last = () => within(screen.getByRole("treegrid")).getAllByRole("row").at(-1);
    const bar = () => last()?.querySelector<HTMLElement>("[style*=width]")?.style.width ?? "";
    await user.keyboard("{End}");
    const whole = Number.parseFloat(bar());
    await user.keyboard("+");
    expect(Number.parseFloat(bar())).toBeCloseTo(whole * 2);
    await user.keyboard("0");
    expect(Number.parseFloat(bar())).toBeCloseTo(whole);
  });

  test("what was sent is fetched when it is asked for, and may be gone", async () => {
    const { user, platform } = renderApp("/b/workshop/reflect/r-move");
    (await tree()).focus();
    await user.keyboard("{ArrowDown}{Enter}");
    const detail = await screen.findByRole("complementary", { name: "Details of the span" });
    await user.click(within(detail).getByRole("button", { name: "What was sent" }));
    expect(await within(detail).findByText("reflect.system 9f2c41d0")).toBeVisible();
    expect(detail).toHaveTextContent("You answer questions from what the bank holds.");
    expect(platform.calls).toContainEqual(["recordedCall", "workshop", "r-move", "agent_1", 0]);
    (await tree()).focus();
    await user.keyboard("{End}");
    await user.click(within(detail).getByRole("button", { name: "What was sent" }));
    expect(await within(detail).findByText(/no longer kept/)).toBeVisible();
    await noViolations();
  });
});

describe("what cannot be done", () => {
  test("earlier questions that cannot be read say so", async () => {
    renderApp("/b/workshop/reflect", {
      listReflectRuns: async () => {
        throw refusal({ message: "The questions cannot be read." });
      },
    });
    expect(await screen.findByText("The questions cannot be read.")).toBeVisible();
  });

  test("a run that cannot be stopped says so and can be stopped again", async () => {
    const { user } = renderApp("/b/workshop/reflect", {
      ask: async (_bank, _input, channel) => {
        channel.onmessage({
          type: "run_started",
          run_id: "r-1",
          forced_sequence: [],
          max_iterations: 1,
        });
        return new Promise(() => {});
      },
      cancelReflect: async () => {
        throw refusal({ message: "It cannot be stopped now." });
      },
    });
    await user.type(
      await screen.findByRole("textbox", { name: "Question" }),
      "Where is it?{Enter}",
    );
    await user.click(await screen.findByRole("button", { name: /^Stop/ }));
    expect(await screen.findByText("It cannot be stopped now.")).toBeVisible();
    expect(screen.getByRole("button", { name: /^Stop/ })).not.toHaveAttribute("aria-disabled");
  });

  test("of a run of thousands of steps only those in view are in the page", async () => {
    const { store } = memory();
    const [run] = store.runs;
    const call = run?.trace.tool_calls?.[0];
    if (!run || !call) throw new Error("no run with a tool call");
    const trace = { ...run.trace, tool_calls: Array.from({ length: 3000 }, () => call) };
    const { user } = renderApp(`/b/workshop/reflect/${run.id}`, {
      getReflectRun: async () => ({ ...run, trace }),
    });
    const tree = await screen.findByRole("treegrid", { name: "Trace" });
    expect(within(tree).getAllByRole("row").length).toBeLessThan(80);
    expect(Number(tree.getAttribute("aria-rowcount"))).toBeGreaterThan(3000);
    tree.focus();
    await user.keyboard("{End}");
    const active = document.getElementById(tree.getAttribute("aria-activedescendant") ?? "");
    expect(active).toHaveAttribute("aria-rowindex", tree.getAttribute("aria-rowcount") ?? "");
  });
});

test("an expression over tags goes along when a question is asked again, until tags replace it", () => {
  const asked = { query: "Why?", tag_groups: [{ not: { tags: ["old"] } }] };
  const options = optionsOf(asked);
  expect(inputOf("Why?", options).tag_groups).toEqual(asked.tag_groups);
  const narrowed = inputOf("Why?", { ...options, tags: ["move"] });
  expect(narrowed).toMatchObject({ tags: ["move"], tag_groups: null });
});

describe("where citations stand", () => {
  const item = { kind: "world", context: null, occurred_start: "2026-02-01T00:00:00Z" } as const;
  const fact = (id: string) => ({
    ...item,
    id,
    text: `fact ${id}`,
    mentioned_at: null,
    document: null,
    first_cited_version: null,
    gone: false,
  });
  const at = (text: string, quote: string, ...ids: string[]) => {
    const start = text.indexOf(quote);
    return { start, end: start + quote.length, ids };
  };

  test("after the full stop and after signs that close, numbered by first mention", () => {
    const text = "It is **late**. The rest [here](https://x.y) stays";
    const spans = [at(text, "here", "b"), at(text, "late", "a", "b"), at(text, "stays", "c")];
    const cited = cite(text, spans, [fact("b"), fact("a")]);
    expect(cited.sources.map(({ id }) => id)).toEqual(["a", "b"]);
    expect(cut(cited.markdown)).toEqual([
      "It is **late**.",
      [1, 2],
      " The rest [here](https://x.y)",
      [2],
      " stays",
    ]);
    expect(cited.times.get("b")).toBe(2);
  });

  test("after the date that was put behind a statement", () => {
    const cited = cite(
      "- It is late. (3 March 2026)\n",
      [{ start: 2, end: 13, ids: ["a"] }],
      [fact("a")],
    );
    expect(cut(cited.markdown)).toEqual(["- It is late. (3 March 2026)", [1], "\n"]);
  });

  test("an id that nothing rests on makes no number", () => {
    expect(cite("Text.", [{ start: 0, end: 4, ids: ["x"] }], []).tied).toBe(false);
  });
});

describe("bars of a trace", () => {
  test("a kept trace lays calls end to end and tools of a turn side by side", async () => {
    const { platform } = renderApp("/b/workshop/reflect/r-move");
    const trace = platform.store.runs[0]?.trace;
    if (!trace) throw new Error("no trace");
    const spans = spansOf(trace);
    expect(spans.map(({ start }) => start)).toEqual([0, 1420, 1420, 1930, 3650, 4080]);
    expect(spans[0]?.wait).toBe(500);
  });

  test("a watched run ends the bar that was open", () => {
    const spans = liveSpans([
      { at: 10, event: { type: "tool_started", tool: "recall", reason: null } },
      {
        at: 60,
        event: {
          type: "tool_finished",
          tool: "recall",
          reason: null,
          result_count: 1,
          is_stale: null,
          status: "ok",
        },
      },
    ]);
    expect(spans).toMatchObject([{ start: 10, took: 50, note: "1 result" }]);
  });

  test.each([
    [9200, 2000],
    [46, 10],
    [1, 0.2],
  ])("a run of %d ms has marks every %d ms", (total, step) => {
    expect(rulerStep(total)).toBeCloseTo(step);
  });
});
