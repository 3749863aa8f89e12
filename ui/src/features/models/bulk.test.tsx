import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import type { DryRunView } from "~/platform/bindings";
import { memory, refusal } from "~/platform/memory";
import { noViolations, renderApp } from "../../../test/render";

/** Selects the first three models, two of them with a change that waits. */
async function selectThree(user: ReturnType<typeof renderApp>["user"]) {
  await screen.findByRole("row", { name: /Workshop status/ });
  screen.getByRole("grid").focus();
  await user.keyboard("{Home}{Shift>}{ArrowDown}{ArrowDown}{/Shift}");
  await screen.findByRole("toolbar", { name: "3 models selected" });
}

describe("dry runs of several models", { timeout: 60_000 }, () => {
  test("say one after the other what would happen, and lead to each", async () => {
    const { user, platform, history } = renderApp("/b/workshop/models");
    await selectThree(user);
    await user.click(screen.getByRole("button", { name: "Dry run" }));
    const region = await screen.findByRole("region", { name: "Dry runs" });
    expect(await within(region).findByText("3 of 3 done, nothing is written")).toBeVisible();
    expect(platform.calls.filter(([name]) => name === "dryRunModel")).toHaveLength(3);
    expect(platform.calls.some(([name]) => name === "refreshModel")).toBe(false);
    expect(within(region).getByText("6 changes would wait for review")).toBeVisible();
    expect(within(region).getAllByText("Nothing would change").length).toBeGreaterThan(0);
    await noViolations();
    await user.click(within(region).getByRole("link", { name: "Look at Workshop status" }));
    await waitFor(() => expect(history.location.pathname).toMatch(/\/status\/dry-run\/dry-/));
    // They are there again when the list is.
    history.back();
    await screen.findByText("3 of 3 done, nothing is written");
    await user.click(screen.getByRole("button", { name: "Close the dry runs" }));
    await waitFor(() => expect(screen.queryByText(/nothing is written/)).toBeNull());
  });

  test("go on when one fails, and say why", async () => {
    let asked = 0;
    const { user } = renderApp("/b/workshop/models", {
      dryRunModel: async () => {
        asked += 1;
        if (asked === 2) throw refusal({ message: "The model ran out of room." });
        return { dry_run_id: `dry-${asked}`, would_persist: true } as DryRunView;
      },
    });
    await selectThree(user);
    await user.click(screen.getByRole("button", { name: "Dry run" }));
    expect(await screen.findByText("3 of 3 done, nothing is written")).toBeVisible();
    expect(screen.getByText("The model ran out of room.")).toBeVisible();
    expect(screen.getAllByText("A new version would be published")).toHaveLength(2);
  });

  test("are stopped: the one that runs is cancelled, the rest never begins", async () => {
    let cut: (why: unknown) => void = () => {};
    const { user, platform } = renderApp("/b/workshop/models", {
      dryRunModel: () =>
        new Promise((_, reject) => {
          cut = reject;
        }),
      cancelDryRun: async () => {
        cut(refusal({ code: "cancelled", message: "It was stopped." }));
        return null;
      },
    });
    await selectThree(user);
    await user.click(screen.getByRole("button", { name: "Dry run" }));
    const region = await screen.findByRole("region", { name: "Dry runs" });
    expect(await within(region).findByText("0 of 3 done, nothing is written")).toBeVisible();
    expect(screen.getByRole("button", { name: "Dry run" })).toHaveAttribute("aria-disabled");
    await user.click(within(region).getByRole("button", { name: "Stop" }));
    await waitFor(() => expect(within(region).getAllByText("Stopped")).toHaveLength(3));
    expect(platform.calls.filter(([name]) => name === "dryRunModel")).toHaveLength(1);
  });

  test("cannot be asked for where nothing answers, and say so", async () => {
    const { status } = memory().store;
    const { user } = renderApp("/b/workshop/models", {
      appStatus: async () => ({ ...status, answering: { kind: "nothing" } }),
    });
    await selectThree(user);
    expect(screen.getByRole("button", { name: "Dry run" })).toHaveAttribute("aria-disabled");
  });
});

test("chosen models are saved as files; what is refused stands beside them", async () => {
  const { user, platform } = renderApp("/b/workshop/models");
  const asked: unknown[] = [];
  platform.chooseFiles = async (how) => {
    asked.push(how);
    return ["/home/ada/notes"];
  };
  await screen.findByRole("row", { name: /Workshop status/ });
  screen.getByRole("grid").focus();
  await user.keyboard("{Control>}a{/Control}");
  await user.click(await screen.findByRole("button", { name: "Save as files…" }));
  expect(await screen.findByText(/^\d+ files written$/)).toBeVisible();
  expect(asked).toEqual([{ title: "Where should the files be written?", folders: true }]);
  const [, bank, models, folder] = platform.calls.find(([name]) => name === "saveModels") ?? [];
  expect([bank, folder]).toEqual(["workshop", "/home/ada/notes"]);
  expect(models).toContain("status");
  await noViolations();
});

test("several documents are cleared once it is confirmed, those never written left out", async () => {
  const { user, platform } = renderApp("/b/workshop/models");
  await screen.findByRole("row", { name: /Workshop status/ });
  screen.getByRole("grid").focus();
  await user.keyboard("{Control>}a{/Control}");
  await user.click(await screen.findByRole("button", { name: "Clear…" }));
  expect(await screen.findByRole("alertdialog", { name: "Clear 8 documents?" })).toBeVisible();
  await noViolations();
  await user.click(screen.getByRole("button", { name: "Clear them" }));
  await waitFor(() =>
    expect(platform.calls.filter(([name]) => name === "clearModel")).toHaveLength(8),
  );
  expect(platform.calls).toContainEqual(["clearModel", "workshop", "status", 12]);
});
