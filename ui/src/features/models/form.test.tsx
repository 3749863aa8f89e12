import { act, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import type { ModelId, TagGroup } from "~/platform/bindings";
import { memory, refusal } from "~/platform/memory";
import { noViolations, renderApp } from "../../../test/render";
import { choiceOf, expressionOf } from "./cron";
import { strings } from "./form-strings";
import { changed, groupsOf, isWhole, nodesOf } from "./groups";

describe("schedules", () => {
  test.each([
    ["5 * * * *", "hourly"],
    ["30 9 * * *", "daily"],
    ["0 7 * * 1", "weekly"],
    ["0 7 * * 1,3,5", "weekly"],
    ["15 23 28 * *", "monthly"],
  ])("%s is the choice %s, and the choice is it", (expression, kind) => {
    const choice = choiceOf(expression);
    expect(choice.kind).toBe(kind);
    expect(expressionOf(choice)).toBe(expression);
  });

  test("names and ranges of weekdays are read", () => {
    expect(choiceOf("0 7 * * MON-FRI")).toMatchObject({
      kind: "weekly",
      weekdays: [1, 2, 3, 4, 5],
    });
    expect(choiceOf("0 7 * * 7").weekdays).toEqual([0]);
  });

  test.each(["*/5 * * * *", "0 7 1 1 *", "0 7 1 * 1", "0 25 * * *", "0 7 * *", "words"])(
    "%s stays an expression of its own",
    (expression) => expect(choiceOf(expression).kind).toBe("own"),
  );
});

describe("expressions over tags", () => {
  const stored: TagGroup[] = [
    { tags: ["move"], match: "all_strict", resolve: "exact" },
    { or: [{ tags: ["a", "b"], match: "any_strict", resolve: "exact" }] },
    {
      not: {
        or: [
          { tags: ["draft"], match: "any_strict", resolve: "exact" },
          { tags: ["old"], match: "exact", resolve: "exact" },
        ],
      },
    },
    { not: { and: [{ tags: ["x"], match: "any_strict", resolve: "exact" }] } },
  ];

  test("are edited and stored with the same meaning", () => {
    const leaf = (tags: string[], match: string) => ({ tags, match });
    expect(groupsOf(nodesOf(stored))).toEqual([
      leaf(["move"], "all_strict"),
      { or: [leaf(["a", "b"], "any_strict")] },
      { not: { or: [leaf(["draft"], "any_strict"), leaf(["old"], "exact")] } },
      { not: { and: [leaf(["x"], "any_strict")] } },
    ]);
  });

  test("a taken away condition leaves the rest; an empty group is not whole", () => {
    const nodes = nodesOf(stored);
    const group = nodes[1];
    if (group?.kind !== "or") throw new Error("no group");
    const [inner] = group.members;
    const left = changed(nodes, inner?.id ?? 0, null);
    expect(left).toHaveLength(4);
    expect(isWhole(nodes)).toBe(true);
    expect(isWhole(left)).toBe(false);
  });
});

// The whole form is drawn in each of these, and asked for by role.
describe("the form of a model", { timeout: 60_000 }, () => {
  test("tells what each way to match the tags would read", async () => {
    const { user, platform } = renderApp("/b/workshop/models/status/settings");
    const all = await screen.findByRole("radio", { name: /^all of the tags as usual/ });
    expect(all).toBeChecked();
    expect(await screen.findByText("48")).toBeVisible();
    expect(await screen.findAllByText("This scope reads 18 memories now.")).toHaveLength(2);
    await user.click(screen.getByRole("radio", { name: /^one of the tags 29/ }));
    expect(await screen.findAllByText("This scope reads 29 memories now.")).toHaveLength(2);
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Save" }));
    await waitFor(() => {
      const call = platform.calls.find(([name]) => name === "updateModel");
      expect(call?.[3]).toMatchObject({ trigger: { tags_match: "any_strict" } });
    });
  });

  test("a schedule by choices and by its expression stay in step, with its next runs", async () => {
    const { user, platform } = renderApp("/b/workshop/models/words/settings");
    const expression = await screen.findByRole("textbox", { name: "Expression" });
    expect(expression).toHaveValue("0 8 * * 1");
    expect(screen.getByRole("checkbox", { name: "Monday" })).toBeChecked();
    await user.click(screen.getByRole("checkbox", { name: "Thursday" }));
    expect(expression).toHaveValue("0 8 * * 1,4");
    const runs = await screen.findByRole("table", { name: "Next runs" });
    expect(within(runs).getAllByRole("row")).toHaveLength(6);
    expect(within(runs).getAllByText(/UTC$/)[1]).toBeVisible();
    await noViolations();
    await user.clear(expression);
    await user.type(expression, "*/20 6 * *");
    expect(await screen.findByText("The schedule cannot be read at position 0.")).toBeVisible();
    expect(screen.getByRole("combobox", { name: "How often" })).toHaveValue("own");
    await user.type(expression, " *");
    await user.click(screen.getByRole("checkbox", { name: /second schedule/ }));
    expect(screen.getByRole("combobox", { name: "How often it is written anew" })).toHaveValue(
      "weekly",
    );
    await user.click(screen.getByRole("button", { name: "Save" }));
    await waitFor(() => {
      const call = platform.calls.find(([name]) => name === "updateModel");
      expect(call?.[3]).toMatchObject({
        trigger: { refresh_cron: "*/20 6 * * *", full_refresh_cron: "0 6 * * 1" },
      });
    });
  });

  test("the day of a month is typed over, and a day that is none is not taken", async () => {
    const { user } = renderApp("/b/workshop/models/words/settings");
    const expression = await screen.findByRole("textbox", { name: "Expression" });
    await user.selectOptions(screen.getByRole("combobox", { name: "How often" }), "monthly");
    const date = screen.getByRole("spinbutton", { name: "Day of the month" });
    await user.clear(date);
    await user.type(date, "5");
    expect(expression).toHaveValue("0 8 5 * *");
    await user.type(date, "5");
    expect(expression).toHaveValue("0 8 5 * *");
    await user.tab();
    expect(date).toHaveValue(5);
  });

  test("a refresh follows observations, with a pause of its own", async () => {
    const { user, platform } = renderApp("/b/workshop/models/status/settings");
    await user.click(await screen.findByRole("radio", { name: "After observations change" }));
    const pause = screen.getByRole("textbox", { name: /Least minutes/ });
    await user.type(pause, "soon");
    await user.click(screen.getByRole("button", { name: "Save" }));
    await waitFor(() => expect(pause).toBeInvalid());
    await user.clear(pause);
    await user.type(pause, "90");
    await user.click(screen.getByRole("button", { name: "Save" }));
    await waitFor(() => {
      const call = platform.calls.find(([name]) => name === "updateModel");
      expect(call?.[3]).toMatchObject({
        trigger: {
          refresh_after_consolidation: true,
          refresh_cron: null,
          min_refresh_interval_seconds: 5400,
        },
      });
    });
  });

  test("an expression over tags takes the place of the tags", async () => {
    const { user, platform } = renderApp("/b/workshop/models/new");
    await user.type(await screen.findByRole("textbox", { name: "Name" }), "Tools");
    await user.type(screen.getByRole("textbox", { name: "Question" }), "Which?");
    await user.click(screen.getByRole("radio", { name: "By an expression over tags" }));
    const make = screen.getByRole("button", { name: "Make the model" });
    expect(make).toHaveAttribute("aria-disabled", "true");
    await user.type(screen.getByRole("textbox", { name: "Tags, separated by commas" }), "tools");
    await user.click(screen.getByRole("button", { name: "Add a group" }));
    const joins = screen.getByRole("combobox", { name: "Join" });
    await user.selectOptions(joins, "none of");
    const group = screen.getByRole("group", { name: "none of" });
    await user.type(within(group).getByRole("textbox"), "lent, lost");
    await noViolations();
    expect(await screen.findAllByText("This scope reads 23 memories now.")).toHaveLength(2);
    await user.click(make);
    await waitFor(() => {
      const call = platform.calls.find(([name]) => name === "createModel");
      expect(call?.[2]).toMatchObject({
        trigger: {
          tag_groups: [
            { tags: ["tools"], match: "any_strict" },
            { not: { tags: ["lent", "lost"], match: "any_strict" } },
          ],
        },
      });
    });
  });

  test("an expression that is unfinished is saved neither by the grey button nor by Enter", async () => {
    const { user, platform } = renderApp("/b/workshop/models/status/settings");
    await user.click(await screen.findByRole("radio", { name: "By an expression over tags" }));
    const save = screen.getByRole("button", { name: "Save" });
    expect(save).toHaveAttribute("aria-disabled", "true");
    await user.click(save);
    await user.type(screen.getByRole("textbox", { name: "Name" }), " now{Enter}");
    await user.click(screen.getByRole("radio", { name: "By the tags of the model" }));
    await user.click(screen.getByRole("button", { name: "Save" }));
    await waitFor(() =>
      expect(platform.calls.filter(([name]) => name === "updateModel")).toHaveLength(1),
    );
  });

  test("what was changed and not saved outlives the screen, until it is discarded", async () => {
    const { user } = renderApp("/b/workshop/models/status/settings");
    const name = () => screen.findByRole("textbox", { name: "Name" });
    await user.type(await name(), " now");
    await user.click(screen.getByRole("radio", { name: "By an expression over tags" }));
    await user.type(screen.getByRole("textbox", { name: "Tags, separated by commas" }), "lent");
    await user.click(screen.getByRole("tab", { name: /History/ }));
    await user.click(screen.getByRole("tab", { name: "Settings" }));
    expect(await name()).toHaveValue("Workshop status now");
    expect(screen.getByRole("textbox", { name: "Tags, separated by commas" })).toHaveValue("lent");
    expect(screen.getByText("You began this earlier; it is not saved yet.")).toBeVisible();
    await user.click(screen.getByRole("button", { name: strings.discard }));
    expect(await name()).toHaveValue("Workshop status");
    await user.click(screen.getByRole("tab", { name: /History/ }));
    await user.click(screen.getByRole("tab", { name: "Settings" }));
    expect(await name()).toHaveValue("Workshop status");
    expect(screen.queryByText("You began this earlier; it is not saved yet.")).toBeNull();
  });

  test("what the engine refuses is told at its field, or above when no field shows it", async () => {
    let refused: [field: string, message: string][] = [
      ["trigger.response_schema.properties.status", "This type is not known."],
      ["trigger.fact_types", "Read at least one kind."],
      ["trigger.budget", "Not with this model."],
    ];
    const { user, platform } = renderApp("/b/workshop/models/status/settings", {
      updateModel: async () => {
        throw refusal({
          code: "invalid_input",
          message: "Some fields cannot be used.",
          fields: refused.map(([field, message]) => ({ field, code: "refused", message })),
        });
      },
    });
    await user.type(await screen.findByRole("textbox", { name: "Name" }), " now");
    await user.click(screen.getByRole("button", { name: strings.save }));
    const alert = await screen.findByRole("alert");
    expect(alert).toHaveTextContent("Not with this model.");
    expect(alert).not.toHaveTextContent("This type is not known.");
    const output = screen.getByRole("region", { name: strings.output });
    expect(within(output).getByText("This type is not known.")).toBeVisible();
    expect(screen.getByText("Read at least one kind.")).toBeVisible();
    // Nothing of this keeps it from being sent again.
    refused = [];
    await user.click(screen.getByRole("button", { name: strings.save }));
    await waitFor(() =>
      expect(platform.calls.filter(([name]) => name === "updateModel")).toHaveLength(2),
    );
  });

  test("of many models that can be left out few are drawn, and any is found by name", async () => {
    const [like] = memory().store.models;
    if (!like) throw new Error("no model");
    const { user, platform } = renderApp("/b/workshop/models/status/settings", {
      listModels: async () =>
        Array.from({ length: 400 }, (_, number) => ({
          ...like,
          id: `m-${number}` as ModelId,
          name: `Model number ${number}`,
        })),
    });
    const group = await screen.findByRole("group", { name: strings.excluded });
    expect(within(group).getAllByRole("checkbox").length).toBeLessThan(60);
    await user.type(within(group).getByRole("textbox"), "number 371{Enter}");
    await user.click(within(group).getByRole("checkbox", { name: "Model number 371" }));
    expect(platform.calls.some(([name]) => name === "updateModel")).toBe(false);
    await user.click(screen.getByRole("button", { name: strings.save }));
    await waitFor(() => {
      const call = platform.calls.find(([name]) => name === "updateModel");
      expect(call?.[3]).toMatchObject({ trigger: { exclude_mental_model_ids: ["m-371"] } });
    });
  });

  test("a new model begins with what the bank says about who decides", async () => {
    const { settings } = memory().store;
    const { user } = renderApp("/b/workshop/models/new", {
      bankSettings: async () => ({
        ...settings,
        effective: { ...(settings.effective as object), review_default: "auto" },
      }),
    });
    await waitFor(() =>
      expect(screen.getByRole("radio", { name: "Publish at once" })).toBeChecked(),
    );
    await user.click(screen.getByRole("radio", { name: "I review each change" }));
    expect(screen.getByRole("radio", { name: "I review each change" })).toBeChecked();
  });

  test("a model that was begun is there again, and gone once it is left", async () => {
    const { user, history } = renderApp("/b/workshop/models/new");
    const name = () => screen.findByRole("textbox", { name: "Name" });
    await user.type(await name(), "Tools");
    act(() => history.push("/b/workshop/review"));
    await waitFor(() => expect(screen.queryByRole("textbox", { name: "Name" })).toBeNull());
    act(() => history.push("/b/workshop/models/new"));
    expect(await name()).toHaveValue("Tools");
    await user.click(screen.getByRole("button", { name: strings.cancel }));
    await waitFor(() => expect(screen.queryByRole("textbox", { name: "Name" })).toBeNull());
    act(() => history.push("/b/workshop/models/new"));
    expect(await name()).toHaveValue("");
  });

  test("fields of the structured output are described, in step with their code", async () => {
    const { user, platform } = renderApp("/b/workshop/models/status/settings");
    await user.click(await screen.findByText("Describe fields…"));
    await user.click(await screen.findByText("Status"));
    const tree = await screen.findByRole("treegrid", { name: "Fields of the schema" });
    expect(within(tree).getAllByRole("row")).toHaveLength(3);
    const [name] = within(tree).getAllByRole("textbox", { name: "Name" });
    if (!name) throw new Error("no name");
    await user.type(name, "_now");
    expect(name).toHaveFocus();
    const code = await screen.findByRole("textbox", { name: "Schema, JSON" });
    expect(code).toHaveTextContent('"status_now"');
    await user.keyboard("{Enter}");
    await waitFor(() => expect(within(tree).getAllByRole("row")).toHaveLength(4));
    await waitFor(() => expect(document.activeElement).toHaveValue("field"));
    await user.keyboard("{Control>}{Backspace}{/Control}");
    await waitFor(() => expect(within(tree).getAllByRole("row")).toHaveLength(3));
    await user.click(screen.getByLabelText("Undo"));
    await waitFor(() => expect(within(tree).getAllByRole("row")).toHaveLength(4));
    await user.click(screen.getByText("Back to the settings"));
    expect(await screen.findByText("status_now, field, next_steps, risks")).toBeVisible();
    await user.click(screen.getByText("Save"));
    await waitFor(() => {
      const call = platform.calls.find(([called]) => called === "updateModel");
      expect(call?.[3]).toMatchObject({
        trigger: { response_schema: { required: ["status_now"] } },
      });
    });
  });

  test("a schema is tried on the document before it is saved", async () => {
    const { user, platform } = renderApp("/b/workshop/models/status/settings");
    await user.click(await screen.findByText("Describe fields…"));
    expect(await screen.findByRole("heading", { name: "No fields yet" })).toBeVisible();
    await user.click(screen.getByText("Status"));
    await user.click(await screen.findByText("Try on the document"));
    expect(await screen.findByText("Who pays for the second extractor?")).toBeVisible();
    expect(platform.calls.some(([name]) => name === "updateModel")).toBe(false);
    await noViolations();
  });
});
