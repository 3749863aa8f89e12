import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import type { NewModel, ScopeReach, TagsMatch } from "~/platform/bindings";
import { noViolations, renderApp } from "../../../test/render";

/** What 300 memories give for a scope that all of the tags together never meet. */
const reach = async (_: string, { trigger }: NewModel): Promise<ScopeReach> => {
  const by_match = Object.entries({ any: 200, all: 0, any_strict: 150, all_strict: 0, exact: 0 });
  const tags_match = ((trigger as { tags_match?: TagsMatch } | null)?.tags_match ??
    "all_strict") as TagsMatch;
  const memories = Object.fromEntries(by_match)[tags_match] ?? 0;
  return {
    memories,
    of: 300,
    tags_match,
    by_match: by_match.map(([way, n]) => ({ tags_match: way as TagsMatch, memories: n })),
    written_otherwise: [{ tag: "projects", other: "Projects" }],
  };
};

describe("fc_19 a scope that reaches nothing", { timeout: 60_000 }, () => {
  test("is told before it is saved, with what would reach something, one press away", async () => {
    const { user, platform } = renderApp("/b/workshop/models/new", { scopeReach: reach });
    await user.type(await screen.findByRole("textbox", { name: "Name" }), "Plan");
    await user.type(screen.getByRole("textbox", { name: "Question" }), "What is planned?");
    await user.type(screen.getByRole("textbox", { name: "Tags" }), "projects, overview");
    expect(await screen.findAllByText("This scope reads 0 of 300 memories now.")).toHaveLength(2);
    expect(screen.getByRole("radio", { name: /^all of the tags as usual 0$/ })).toBeChecked();
    expect(screen.getByText(/The memories say “Projects”, not “projects”/)).toBeVisible();
    await noViolations();
    const [make] = screen.getAllByRole("button", { name: /^Make the model/ });
    if (make) await user.click(make);
    const asked = await screen.findByRole("alertdialog", {
      name: "Save a scope that reads nothing?",
    });
    expect(
      within(asked).getByText(/Of 300 memories in this bank none lies in this scope/),
    ).toBeVisible();
    await noViolations();
    expect(platform.calls.some(([name]) => name === "createModel")).toBe(false);
    await user.click(within(asked).getByRole("button", { name: "Change the scope" }));
    await user.click(screen.getByRole("button", { name: /^one of the tags: reads 150 memories/ }));
    expect(await screen.findAllByText("This scope reads 150 memories now.")).toHaveLength(2);
    if (make) await user.click(make);
    await waitFor(() => {
      const call = platform.calls.find(([name]) => name === "createModel");
      expect(call?.[2]).toMatchObject({ trigger: { tags_match: "any_strict" } });
    });
  });

  test("is saved as it is once that is confirmed", async () => {
    const { user, platform } = renderApp("/b/workshop/models/new", { scopeReach: reach });
    await user.type(await screen.findByRole("textbox", { name: "Name" }), "Plan");
    await user.type(screen.getByRole("textbox", { name: "Question" }), "What is planned?");
    await user.type(screen.getByRole("textbox", { name: "Tags" }), "projects, overview");
    const [make] = screen.getAllByRole("button", { name: /^Make the model/ });
    if (make) await user.click(make);
    await user.click(await screen.findByRole("button", { name: "Save it as it is" }));
    await waitFor(() => expect(platform.calls.some(([name]) => name === "createModel")).toBe(true));
  });
});
