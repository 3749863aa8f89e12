import { screen, waitFor, within } from "@testing-library/react";
import type { UserEvent } from "@testing-library/user-event";
import { describe, expect, test } from "vitest";
import type { ImportedPages, Report } from "~/platform/bindings";
import { refusal } from "~/platform/memory";
import { noViolations, renderApp } from "../../../test/render";
import { strings } from "./strings";

const words = strings.import;
const folders = "/b/workshop/models?layout=folders";
const opener = () => screen.findByRole("button", { name: words.open });
const act = () => screen.getByRole("button", { name: words.act });
const path = () => screen.findByRole("textbox", { name: words.path });
const result = async (title: string = words.done) =>
  within(await screen.findByRole("dialog", { name: title }));

/** An answer that the test gives when it is time. */
function later() {
  let resolve: (done: ImportedPages) => void = () => {};
  let reject: (refused: Report) => void = () => {};
  const promise = new Promise<ImportedPages>((done, refused) => {
    [resolve, reject] = [done, refused];
  });
  return { promise, resolve, reject };
}

async function open(user: UserEvent): Promise<HTMLElement> {
  await user.click(await opener());
  return path();
}

describe("Markdown read in", { timeout: 60_000 }, () => {
  test("is put into the chosen folder; each file says what became of it", async () => {
    const { user, platform } = renderApp(`${folders}&node=kf-house`);
    platform.chooseFiles = async ({ folders: asked }) =>
      asked ? ["/home/ada/notes"] : ["/home/ada/a.md", "/home/ada/b.md"];
    expect(await open(user)).toHaveValue("");
    expect(screen.getByText(/^Put into The house\./)).toBeVisible();
    await noViolations();
    await user.click(screen.getByRole("button", { name: words.chooseFiles }));
    await waitFor(async () => expect(await path()).toHaveValue("/home/ada/a.md, /home/ada/b.md"));
    await user.click(act());
    const shown = await result();
    expect(shown.getByRole("status")).toHaveTextContent("2 pages made, 1 left out.");
    expect(shown.getByText("The file is not text in UTF-8.")).toBeVisible();
    expect(shown.getByText("It is called Kiln rota.")).toBeVisible();
    await noViolations();
    expect(platform.calls).toContainEqual([
      "importPages",
      "workshop",
      {
        paths: ["/home/ada/a.md", "/home/ada/b.md"],
        as_pages: true,
        parent_id: "kf-house",
        on_conflict: "skip",
        review: "manual",
      },
    ]);
    await user.click(shown.getByRole("button", { name: words.finish }));
    expect(await screen.findByText("In The house")).toBeVisible();
    expect(await opener()).toHaveFocus();
  });

  test("replaces what is there or makes another one, as asked", async () => {
    const { user, platform } = renderApp(folders);
    await user.type(await open(user), " /notes ");
    await user.click(screen.getByRole("radio", { name: words.replace }));
    await user.click(act());
    let shown = await result();
    expect(shown.getByRole("status")).toHaveTextContent("1 page made, 1 replaced, 1 left out.");
    expect(shown.getByRole("button", { name: words.finish })).toHaveFocus();
    await user.click(shown.getByRole("button", { name: words.another }));
    expect(await path()).toHaveFocus();
    await user.type(await path(), "/notes");
    await user.click(screen.getByRole("radio", { name: words.twin }));
    await user.click(screen.getByRole("radio", { name: strings.form.auto }));
    await user.click(act());
    shown = await result();
    expect(shown.getByText("It is called Welcome (2).")).toBeVisible();
    const asked = platform.calls.filter(([name]) => name === "importPages");
    expect(asked.map(([, , input]) => input)).toEqual([
      expect.objectContaining({ paths: ["/notes"], on_conflict: "replace", review: "manual" }),
      expect.objectContaining({ paths: ["/notes"], on_conflict: "new_id", review: "auto" }),
    ]);
  });

  test("as models it says where they are, and puts them into no folder", async () => {
    const { user, platform } = renderApp(`${folders}&node=kf-house`);
    await user.type(await open(user), "/notes");
    await user.click(screen.getByRole("radio", { name: words.models }));
    expect(screen.getByRole("group", { name: words.conflict.models })).toBeVisible();
    await user.click(act());
    const shown = await result();
    expect(shown.getByRole("status")).toHaveTextContent("2 models made, 1 left out.");
    expect(shown.getByText(words.inTheList)).toBeVisible();
    const [, , input] = platform.calls.findLast(([name]) => name === "importPages") ?? [];
    expect(input).toMatchObject({ as_pages: false, parent_id: null });
  });

  test("with nothing named, or a refused path, is told at the field", async () => {
    const message = "Choose a path on this computer.";
    const { user } = renderApp(folders, {
      importPages: async () => {
        throw refusal({ fields: [{ field: "paths", code: "invalid", message }] });
      },
    });
    const field = await open(user);
    await user.click(act());
    expect(await screen.findByText(words.blank)).toBeVisible();
    expect(field).toBeInvalid();
    expect(field).toHaveFocus();
    await user.type(field, "x{Enter}");
    expect(await screen.findByText(message)).toBeVisible();
    expect(field).toBeInvalid();
    expect(screen.queryByRole("alert")).toBeNull();
    await noViolations();
    await user.type(field, "y");
    expect(field).toBeValid();
    await user.keyboard("{Escape}");
    await user.click(await screen.findByRole("button", { name: "Throw it away" }));
    expect(await opener()).toHaveFocus();
  });

  test("that is refused says why and what to do, and can be sent again", async () => {
    let refuses = true;
    const { user } = renderApp(folders, {
      importPages: async () => {
        if (refuses) throw refusal({ message: "It is no folder.", hint: "Choose a folder." });
        return { imported: [], skipped: [] };
      },
    });
    await user.type(await open(user), "/notes");
    await user.click(act());
    const told = within(await screen.findByRole("alert"));
    expect(told.getByText("It is no folder.")).toBeVisible();
    expect(told.getByText("Choose a folder.")).toBeVisible();
    refuses = false;
    await user.click(act());
    const shown = await result(words.nothing);
    expect(shown.getByText("Nothing was read in.")).toBeVisible();
    expect(shown.getByText(words.noneFound)).toBeVisible();
  });

  test("cannot be sent twice; left alone, it goes on and tells what came of it", async () => {
    const { promise, resolve } = later();
    const { user, platform } = renderApp(folders, { importPages: () => promise });
    const field = await open(user);
    await user.type(field, "/notes");
    await user.click(act());
    expect(await screen.findByRole("button", { name: words.reading })).toBeDisabled();
    await user.type(field, "{Enter}");
    await noViolations();
    await user.click(screen.getByRole("button", { name: words.close }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    resolve({
      imported: [],
      skipped: [{ file: "a.md", line: null, reason: "It is there already." }],
    });
    expect(await screen.findByText("1 left out.")).toBeVisible();
    expect(platform.calls.filter(([name]) => name === "importPages")).toHaveLength(1);
  });

  test("left alone and refused, it is told above the screen", async () => {
    const { promise, reject } = later();
    const { user } = renderApp(folders, { importPages: () => promise });
    await user.type(await open(user), "/notes");
    await user.click(act());
    await user.click(await screen.findByRole("button", { name: words.close }));
    reject(refusal({ message: "The disk is full." }));
    expect(await screen.findByText(words.notRead)).toBeVisible();
    expect(screen.getByText("The disk is full.")).toBeVisible();
  });

  test("is begun from the palette and where there is no page yet", async () => {
    const { user } = renderApp("/b/notes/models?layout=folders");
    expect(await screen.findByText("No pages yet")).toBeVisible();
    expect(await opener()).toBeVisible();
    await user.keyboard("{Control>}k{/Control}");
    const palette = await screen.findByRole("dialog", { name: "Command palette" });
    await user.type(within(palette).getByRole("combobox"), "import markdown{Enter}");
    expect(await screen.findByRole("dialog", { name: words.title })).toBeVisible();
    expect(screen.getByText(/^Put at the top level\./)).toBeVisible();
  });
});
