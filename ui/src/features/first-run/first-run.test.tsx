import { act, screen, waitFor } from "@testing-library/react";
import { beforeEach, describe, expect, test } from "vitest";
import type { AppStatus } from "~/platform/bindings";
import { memory, refusal } from "~/platform/memory";
import { noViolations, renderApp } from "../../../test/render";

let status: AppStatus;
const first = () => ({
  appStatus: async () => status,
  finishFirstRun: async () => {
    status = { ...status, first_run_done: true };
    return null;
  },
});
beforeEach(() => {
  status = { ...memory().store.status, first_run_done: false };
});

describe("the first page", () => {
  test("Enter opens the waiting change, with the tour", async () => {
    const { user, history } = renderApp("/", first());
    const review = await screen.findByRole("button", { name: "Review the waiting change" });
    expect(review).toHaveFocus();
    await screen.findByText("A change that waits");
    await noViolations();
    await user.keyboard("{Enter}");
    await waitFor(() => expect(history.location.pathname).toContain("/b/workshop/review"));
    expect(await screen.findByText("Each change shows what it rests on")).toBeVisible();
    expect(status.first_run_done).toBe(true);
  });

  test("an empty bank is made with a name and opens where memories are added", async () => {
    const { user, history, platform } = renderApp("/", first());
    await user.click(await screen.findByRole("button", { name: "Start an empty bank" }));
    await user.click(await screen.findByRole("button", { name: "Make the bank" }));
    expect(await screen.findByText("Give the bank a name.")).toBeVisible();
    await noViolations();
    await user.type(screen.getByRole("textbox", { name: "Name" }), "Garden{Enter}");
    await waitFor(() => expect(history.location.pathname).toBe("/b/garden/memories"));
    expect(platform.calls).toContainEqual(["openBank", "garden"]);
    await waitFor(() => expect(status.first_run_done).toBe(true));
  });

  test("a model on this computer is used with one press; Later is an answer", async () => {
    const { user, platform } = renderApp("/", first());
    await user.click(await screen.findByRole("button", { name: "Use it" }));
    expect(await screen.findByText(/Using gpt-oss-20b/)).toBeVisible();
    await waitFor(() => expect(platform.calls).toContainEqual(["chooseEndpoint", "e-new"]));
    await noViolations();
  });

  test("while the sample is made there are no figures yet, and then they come in place", async () => {
    status = { ...status, sample_ready: false };
    const { user, platform, history } = renderApp("/", first());
    expect(await screen.findByText(/Being laid out/)).toBeVisible();
    expect(screen.queryByText("61")).toBeNull();
    const review = screen.getByRole("button", { name: "Review the waiting change" });
    expect(review).toHaveAttribute("aria-disabled", "true");
    await user.click(review);
    expect(history.location.pathname).toBe("/");
    await noViolations();
    status = { ...status, sample_ready: true };
    act(() => platform.emit.changed({ bank: null, tags: ["settings"] }));
    expect(await screen.findByText("61")).toBeVisible();
    expect(await screen.findByText("A change that waits")).toBeVisible();
    expect(review).toHaveFocus();
  });

  test("that the page was left and could not be kept is told where one is by then", async () => {
    let fails = true;
    const { user } = renderApp("/", {
      ...first(),
      finishFirstRun: async () => {
        if (fails) throw refusal({ code: "io", message: "The disk is full.", retryable: false });
        return null;
      },
    });
    await user.click(await screen.findByRole("button", { name: "Review the waiting change" }));
    expect(await screen.findByText("The disk is full.")).toBeVisible();
    expect(screen.getByText(/the first page is shown again/)).toBeVisible();
    await noViolations();
    fails = false;
    await user.click(screen.getByRole("button", { name: "Try again" }));
    await waitFor(() => expect(screen.queryByText("The disk is full.")).toBeNull());
  });

  test("Later leaves it to the settings", async () => {
    const { user } = renderApp("/", { ...first(), discoverEndpoints: async () => [] });
    expect(await screen.findByText(/None runs on this computer/)).toBeVisible();
    await user.click(await screen.findByRole("button", { name: "Later" }));
    expect(await screen.findByText(/whenever you like/)).toBeVisible();
    await noViolations();
  });

  test("without the sample there is only the empty bank", async () => {
    status = { ...status, bank: null, sample_bank: null };
    renderApp("/", { ...first(), listBanks: async () => [] });
    expect(await screen.findByRole("button", { name: "Start an empty bank" })).toBeVisible();
    expect(screen.queryByRole("button", { name: "Review the waiting change" })).toBeNull();
    await noViolations();
  });
});

describe("the tour", () => {
  const start = async () => {
    const drawn = renderApp("/b/workshop/review");
    await screen.findAllByRole("article");
    await drawn.user.keyboard("{Control>}k{/Control}");
    await drawn.user.keyboard("tour again{Enter}");
    await screen.findByText("1 of 4");
    return drawn;
  };

  test("leads on by doing what it says, takes no focus, and ends with the approval", async () => {
    const { user } = await start();
    const tour = screen.getByRole("dialog", { name: "Tour" });
    expect(tour).not.toContainElement(document.activeElement as HTMLElement);
    await noViolations();
    await user.keyboard("j");
    await screen.findByText("2 of 4");
    await user.keyboard("y");
    await screen.findByText("3 of 4");
    await user.keyboard("5");
    await screen.findByText("4 of 4");
    await noViolations();
  });

  test("points at nothing in a bank of the person's own", async () => {
    const platform = memory();
    const { user } = renderApp("/b/workshop/review", {
      appStatus: async () => ({ ...platform.store.status, sample_bank: null }),
      look: async () => ({ ...platform.store.look, tour_done: false }),
    });
    await screen.findAllByRole("article");
    expect(screen.queryByText("1 of 4")).toBeNull();
    await user.keyboard("{Control>}k{/Control}");
    await user.keyboard("tour again");
    expect(await screen.findByRole("option", { name: /Show the tour again/ })).toHaveAttribute(
      "aria-disabled",
      "true",
    );
  });

  test("Esc ends it for good", async () => {
    const { user, platform } = await start();
    await user.keyboard("{Escape}");
    await waitFor(() => expect(screen.queryByText("1 of 4")).toBeNull());
    expect(platform.store.look.tour_done).toBe(true);
  });

  test("its button leads on too", async () => {
    const { user } = await start();
    await user.click(screen.getByRole("button", { name: "Next" }));
    expect(await screen.findByText("2 of 4")).toBeVisible();
  });
});

test("the bank menu makes a bank", async () => {
  const { user, history } = renderApp("/b/workshop/models");
  await user.click(await screen.findByRole("button", { name: /^Bank Foundry Lane/ }));
  await user.click(await screen.findByRole("menuitem", { name: "New bank…" }));
  await user.type(await screen.findByRole("textbox", { name: "Name" }), "Garden{Enter}");
  await waitFor(() => expect(history.location.pathname).toBe("/b/garden/memories"));
});
