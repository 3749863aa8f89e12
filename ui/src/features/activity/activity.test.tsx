import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { waiting } from "~/platform/fixtures/work";
import { memory, refusal } from "~/platform/memory";
import { noViolations, renderApp } from "../../../test/render";
import { viewport } from "../../../test/setup";
import { momentsOf, readDay, type When } from "./span";

const list = () => screen.findByRole("listbox", { name: "Work of this bank" });
const row = async (name: RegExp) => within(await list()).findByRole("option", { name });

describe("activity", () => {
  test("tells each piece of work with its state", async () => {
    renderApp("/b/workshop/activity");
    expect(await row(/Running.*Refresh: Move plan.*Reading memories, 3 of 5/)).toBeVisible();
    expect(await row(/Failed.*Refresh: Money.*cannot be reached/)).toBeVisible();
    expect(await row(/Done.*Refresh: Workshop status.*A change waits for review/)).toBeVisible();
    expect(await row(/Stopped.*Folding into observations/)).toBeVisible();
    await noViolations();
  });

  test("is narrowed by state and kind, and shown whole again", async () => {
    const { user, platform } = renderApp("/b/workshop/activity");
    await row(/Move plan/);
    await user.click(screen.getByRole("radio", { name: "Failed" }));
    await waitFor(() => expect(screen.queryByText("Refresh: Move plan")).toBeNull());
    await user.selectOptions(screen.getByRole("combobox", { name: "Kind" }), "import");
    expect(await screen.findByText("Nothing matches these filters")).toBeVisible();
    expect(platform.calls.findLast(([name]) => name === "pageOperations")?.[2]).toMatchObject({
      statuses: ["failed"],
      operation_type: "import",
    });
    await user.click(screen.getByRole("button", { name: "Show all" }));
    await row(/Move plan/);
  });

  test("is narrowed to one model, which the address keeps", async () => {
    const { user, platform, history } = renderApp("/b/workshop/activity");
    await row(/Move plan/);
    await user.click(screen.getByRole("button", { name: "Model All" }));
    await noViolations();
    await user.click(await screen.findByRole("button", { name: "Money" }));
    await waitFor(() => expect(screen.queryByText("Refresh: Move plan")).toBeNull());
    await row(/Refresh: Money/);
    expect(history.location.search).toContain("model=money");
    expect(platform.calls.findLast(([name]) => name === "pageOperations")?.[2]).toMatchObject({
      mental_model_id: "money",
    });
    await user.click(screen.getByRole("button", { name: "Model Money" }));
    await user.click(await screen.findByRole("button", { name: "All" }));
    await row(/Move plan/);
  });

  test("is narrowed to a time, which the address keeps, and to days of one's own", async () => {
    const { user, platform, history } = renderApp("/b/workshop/activity");
    const asked = () => platform.calls.findLast(([name]) => name === "pageOperations")?.[2];
    await row(/Move plan/);
    await user.selectOptions(screen.getByRole("combobox", { name: "Time" }), "The last hour");
    await waitFor(() => expect(asked()).toMatchObject({ since: expect.any(String) }));
    expect(history.location.search).toContain("time=hour");
    await noViolations();
    await user.selectOptions(screen.getByRole("combobox", { name: "Time" }), "From … to …");
    fireEvent.change(await screen.findByLabelText("From"), { target: { value: "2026-03-02" } });
    await waitFor(() => expect(history.location.search).toContain("from=2026-03-02"));
    fireEvent.change(screen.getByLabelText("Up to and with"), { target: { value: "2026-03-01" } });
    expect(await screen.findByText("The first day is after the last.")).toBeVisible();
    expect(screen.getByLabelText("From")).toBeInvalid();
    fireEvent.change(screen.getByLabelText("Up to and with"), { target: { value: "2026-03-02" } });
    await waitFor(() =>
      expect(asked()).toMatchObject({
        since: new Date("2026-03-02T00:00:00").toISOString(),
        until: new Date("2026-03-03T00:00:00").toISOString(),
      }),
    );
    expect(history.location.search).toContain("from=2026-03-02");
    await user.click(await screen.findByRole("button", { name: "Show all" }));
    await row(/Move plan/);
    expect(screen.getByRole("combobox", { name: "Time" })).toHaveDisplayValue("Any time");
  });

  test("work that the filters hide says so and is shown again", async () => {
    const { user } = renderApp("/b/workshop/activity/o-1?show=failed");
    expect(await screen.findByText(/It may be further down, filtered out/)).toBeVisible();
    const [show] = screen.getAllByRole("button", { name: "Show all" });
    if (show) await user.click(show);
    expect(await screen.findByRole("heading", { name: "Refresh: Move plan" })).toBeVisible();
  });

  test("what cannot be found out or changed is told in its place", async () => {
    const { user } = renderApp("/b/workshop/activity", {
      setProgramSettings: async () => {
        throw refusal({ message: "The settings cannot be written." });
      },
      bankSettings: async () => {
        throw refusal({ message: "The settings of this bank cannot be read." });
      },
      listModels: async () => {
        throw refusal({ message: "The models cannot be read." });
      },
    });
    await user.click(await screen.findByRole("button", { name: "Pause automatic work" }));
    expect(await screen.findByText("The settings cannot be written.")).toBeVisible();
    expect(screen.getByText("The settings of this bank cannot be read.")).toBeVisible();
    expect(screen.getByText("The models cannot be read.")).toBeVisible();
  });

  test("a next page that is refused leaves the list and is asked for by a person", async () => {
    const { operations } = memory().store;
    let asked = 0;
    const { user } = renderApp("/b/workshop/activity", {
      pageOperations: async (_, { after }) => {
        if (!after) return { operations, next: "o-stopped" };
        asked += 1;
        if (asked === 1) throw refusal({ message: "The rest cannot be read." });
        return { operations: waiting, next: null };
      },
    });
    expect(await screen.findByText("The rest cannot be read.")).toBeVisible();
    await row(/Move plan.*Reading memories/);
    expect(asked).toBe(1);
    await user.click(screen.getByRole("button", { name: "Try again" }));
    await row(/Held/);
    expect(asked).toBe(2);
  });

  test("where there is no room, the arrows go on in the list and Enter looks", async () => {
    viewport.width = 900;
    const { user } = renderApp("/b/workshop/activity");
    await row(/Move plan/);
    (await list()).focus();
    await user.keyboard("{ArrowDown}{ArrowDown}");
    expect(await row(/Refresh: Money/)).toHaveAttribute("aria-selected", "true");
    await user.keyboard("{Enter}");
    await screen.findByRole("heading", { name: "Refresh: Money" });
    expect(screen.queryByRole("listbox", { name: "Work of this bank" })).toBeNull();
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Back to the list" }));
    expect(await row(/Refresh: Money/)).toHaveAttribute("aria-selected", "true");
  });

  test("what waits says what for", async () => {
    renderApp("/b/workshop/activity", {
      pageOperations: async () => ({ operations: waiting, next: null }),
    });
    expect(await row(/Held.*Waits until the review that has begun is decided/)).toBeVisible();
    expect(await row(/Parked.*Waits until .* \d\d:\d\d/)).toBeVisible();
  });

  test("running work is stopped by a key; failed work is tried again, or removed", async () => {
    const { user, platform } = renderApp("/b/workshop/activity/o-1");
    await screen.findByRole("button", { name: /^Stop/ });
    await user.keyboard("x");
    await waitFor(() =>
      expect(platform.calls).toContainEqual(["cancelOperation", "workshop", "o-1"]),
    );
    await user.click(await row(/Refresh: Money/));
    expect(await screen.findByRole("alert")).toHaveTextContent("cannot be reached");
    expect(screen.getByRole("link", { name: "Open the model" })).toHaveAttribute(
      "href",
      "/b/workshop/models/money",
    );
    await noViolations();
    await user.keyboard("{Shift>}R{/Shift}");
    await waitFor(() =>
      expect(platform.calls).toContainEqual(["retryOperation", "workshop", "o-failed"]),
    );
    await user.click(await row(/Stopped.*Folding/));
    await user.click(await screen.findByRole("button", { name: "Remove from the list" }));
    await waitFor(() =>
      expect(platform.calls).toContainEqual(["deleteOperation", "workshop", "o-stopped"]),
    );
  });

  test("where a pressed button goes away, its pane keeps the focus", async () => {
    const { user } = renderApp("/b/workshop/activity/o-1");
    (await screen.findByRole("button", { name: /^Stop/ })).focus();
    await user.keyboard("x");
    await waitFor(() => expect(screen.queryByRole("button", { name: /^Stop/ })).toBeNull());
    const pane = screen.getByRole("complementary", { name: "One piece of work" });
    await waitFor(() => expect(pane).toHaveFocus());
    await user.click(screen.getByRole("button", { name: "Remove from the list" }));
    await waitFor(() =>
      expect(screen.queryByRole("button", { name: "Remove from the list" })).toBeNull(),
    );
    await waitFor(() => expect(pane).toHaveFocus());
  });

  test("a proposal that came out is one press away", async () => {
    const { user, history } = renderApp("/b/workshop/activity/o-done");
    await user.click(await screen.findByRole("link", { name: "Review the change" }));
    await waitFor(() => expect(history.location.pathname).toBe("/b/workshop/review/p-status"));
  });

  test("facts that could not be folded are told, and folded once more", async () => {
    const { banks } = memory().store;
    const { user, platform } = renderApp("/b/workshop/activity", {
      listBanks: async () => banks.map((bank) => ({ ...bank, failed_consolidation: 3 })),
    });
    expect(await screen.findByText("3 facts could not be folded into observations.")).toBeVisible();
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Try again" }));
    await waitFor(() =>
      expect(platform.calls).toContainEqual(["retryFailedConsolidation", "workshop"]),
    );
  });

  test("automatic work is paused and goes on", async () => {
    const { user, platform } = renderApp("/b/workshop/activity");
    await user.click(await screen.findByRole("button", { name: "Pause automatic work" }));
    expect(await screen.findByText(/Automatic work is paused/)).toBeVisible();
    expect(platform.calls).toContainEqual(["setProgramSettings", { background_paused: true }]);
    await noViolations();
    await user.click(screen.getByRole("button", { name: "Go on with automatic work" }));
    await waitFor(() => expect(screen.queryByText(/Automatic work is paused/)).toBeNull());
  });

  test("with nothing there it says what belongs here; what fails to load says why", async () => {
    renderApp("/b/notes/activity");
    expect(await screen.findByText("Nothing has run yet")).toBeVisible();
    expect(screen.getByText("Nothing is scheduled in this bank.")).toBeVisible();
    await noViolations();
  });

  test("a list that cannot be read is told in place", async () => {
    renderApp("/b/workshop/activity", {
      pageOperations: async () => {
        throw refusal({ message: "The file cannot be read." });
      },
    });
    expect(await screen.findByText("The file cannot be read.")).toBeVisible();
  });

  test("g a leads here", async () => {
    const { user, history } = renderApp("/b/workshop/models");
    await screen.findByRole("grid");
    await user.keyboard("ga");
    await waitFor(() => expect(history.location.pathname).toBe("/b/workshop/activity"));
  });
});

describe("automatic work in the settings", () => {
  test("a number is kept in its own unit, and taken back", async () => {
    const { user, platform } = renderApp("/b/workshop/settings/work");
    const field = await screen.findByRole("textbox", { name: /Shortest time between/ });
    expect(field).toHaveValue("30");
    await noViolations();
    await user.clear(field);
    await user.type(field, "45{Enter}");
    await waitFor(() =>
      expect(platform.calls).toContainEqual([
        "setBankSettings",
        "workshop",
        { mental_model_min_refresh_interval_seconds: 2700 },
      ]),
    );
    await user.click(await screen.findByRole("button", { name: /Reset Shortest time/ }));
    await waitFor(() =>
      expect(screen.getByRole("textbox", { name: /Shortest time between/ })).toHaveValue("0"),
    );
  });

  test("the focus stays where a key was pressed", async () => {
    const { user } = renderApp("/b/workshop/settings/work");
    const flag = await screen.findByRole("checkbox", { name: /Pause everything/ });
    flag.focus();
    await user.keyboard(" ");
    await waitFor(() =>
      expect(screen.getByRole("checkbox", { name: /Pause everything/ })).toBeChecked(),
    );
    expect(screen.getByRole("checkbox", { name: /Pause everything/ })).toHaveFocus();
    const number = screen.getByRole("textbox", { name: /Shortest time between/ });
    await user.clear(number);
    await user.type(number, "45{Enter}");
    await screen.findByText(/Usually 0 minutes/);
    await user.click(await screen.findByRole("button", { name: /Reset Shortest time/ }));
    await waitFor(() =>
      expect(screen.queryByRole("button", { name: /Reset Shortest/ })).toBeNull(),
    );
    expect(screen.getByRole("textbox", { name: /Shortest time between/ })).toHaveFocus();
    expect(screen.getByRole("textbox", { name: /Shortest time between/ })).toHaveValue("0");
  });

  test("what was typed is kept however the page is left", async () => {
    const { user, platform, history } = renderApp("/b/workshop/settings/work");
    await user.type(await screen.findByRole("textbox", { name: /Most tokens a day/ }), "5000");
    history.push("/b/workshop/settings/look");
    await screen.findByRole("heading", { name: "Look and keys" });
    await waitFor(() =>
      expect(platform.calls).toContainEqual([
        "setBankSettings",
        "workshop",
        { daily_token_ceiling: 5000 },
      ]),
    );
  });

  test("choices and switches are kept at once; a refusal stays at its field", async () => {
    const { user, platform } = renderApp("/b/workshop/settings/work", {
      setBankSettings: async (_, patch) => {
        if ("daily_token_ceiling" in (patch as object))
          throw refusal({
            code: "invalid_input",
            message: "The limit must be a whole number from 1.",
          });
        return memory().store.settings;
      },
    });
    await user.click(await screen.findByRole("checkbox", { name: /Pause everything/ }));
    await waitFor(() =>
      expect(platform.calls).toContainEqual(["setProgramSettings", { background_paused: true }]),
    );
    const deciding = screen.getByRole("combobox", { name: /Who decides/ });
    expect(deciding).toHaveDisplayValue("As usual");
    expect(screen.getByText(/^Usually you decide on models made here/)).toBeVisible();
    await user.selectOptions(deciding, "You decide");
    await waitFor(() =>
      expect(platform.calls).toContainEqual([
        "setBankSettings",
        "workshop",
        { review_default: "manual" },
      ]),
    );
    const ceiling = screen.getByRole("textbox", { name: /Most tokens a day/ });
    await user.type(ceiling, "many{Enter}");
    expect(await screen.findByText("The limit must be a whole number from 1.")).toBeVisible();
    expect(ceiling).toHaveValue("many");
    // What was kept is marked; what was refused is not.
    expect(screen.getAllByText("Saved")).toHaveLength(2);
    await noViolations();
  });
});

describe("the time that work is narrowed to", () => {
  const now = new Date("2026-03-29T10:30:00");
  const since = (when: When) => momentsOf(when, now).since;

  test("a span ends now and begins at a midnight, but for the hour", () => {
    expect(momentsOf(null, now)).toEqual({});
    expect(since("hour")).toBe(new Date("2026-03-29T09:30:00").toISOString());
    expect(since("today")).toBe(new Date("2026-03-29T00:00:00").toISOString());
    expect(since("week")).toBe(new Date("2026-03-23T00:00:00").toISOString());
    expect(since("month")).toBe(new Date("2026-02-28T00:00:00").toISOString());
  });

  test("days count whole, and an open end stays open", () => {
    expect(momentsOf({ from: "2026-03-28", to: "2026-03-29" }, now)).toEqual({
      since: new Date("2026-03-28T00:00:00").toISOString(),
      until: new Date("2026-03-30T00:00:00").toISOString(),
    });
    expect(momentsOf({ from: null, to: "2026-03-29" }, now)).not.toHaveProperty("since");
    expect(momentsOf({ from: null, to: null }, now)).toEqual({});
  });

  test("only days of the calendar are read from an address", () => {
    expect(readDay("2026-03-02")).toBe("2026-03-02");
    for (const none of ["2026-02-30", "2026-13-01", "today", "2026-3-2", 5, null])
      expect(readDay(none)).toBeNull();
  });
});
