import { fireEvent, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, test, vi } from "vitest";
import { capsOf, isSingle, strokeOf } from "./match";
import { COMMANDS } from "./registry";
import { type Acts, CommandsProvider, useCommands } from "./use-commands";

function Screen({ acts }: { acts: Acts }) {
  useCommands(acts);
  return <input aria-label="field" />;
}

function draw(acts: Acts, singleKeys = true) {
  render(
    <CommandsProvider singleKeys={singleKeys}>
      <Screen acts={acts} />
    </CommandsProvider>,
  );
  return userEvent.setup();
}

describe("keys", () => {
  test("strokes follow the character, not the place of the key", () => {
    const stroke = (key: string, rest: KeyboardEventInit = {}) =>
      strokeOf(new KeyboardEvent("keydown", { key, ...rest }));
    expect(stroke("?", { shiftKey: true })).toBe("?");
    expect(stroke("Y", { shiftKey: true })).toBe("shift+y");
    expect(stroke("y")).toBe("y");
    expect(stroke("Enter", { ctrlKey: true })).toBe("mod+enter");
    expect(stroke("F6", { shiftKey: true })).toBe("shift+f6");
    expect(stroke("Shift", { shiftKey: true })).toBe("");
    expect(stroke("+", { ctrlKey: true, shiftKey: true })).toBe("mod++");
  });

  test("a plain character is single, a combination is not", () => {
    expect(isSingle("y")).toBe(true);
    expect(isSingle("shift+y")).toBe(true);
    expect(isSingle("mod+y")).toBe(false);
    expect(isSingle("f6")).toBe(false);
  });

  test("caps", () => {
    expect(capsOf("mod+enter")).toEqual(["Ctrl", "↵"]);
    expect(capsOf("g r")).toEqual(["G", "R"]);
    expect(capsOf("mod++")).toEqual(["Ctrl", "+"]);
  });

  test("letters run commands, and belong to a field while it is typed in", async () => {
    const accept = vi.fn();
    const user = draw({ "review.accept": accept });
    await user.keyboard("y");
    expect(accept).toHaveBeenCalledTimes(1);
    await user.type(screen.getByRole("textbox"), "yes");
    expect(accept).toHaveBeenCalledTimes(1);
    expect(screen.getByRole("textbox")).toHaveValue("yes");
  });

  test("a sequence waits for its second stroke", async () => {
    const go = vi.fn();
    const next = vi.fn();
    const user = draw({ "go.review": go, "model.refresh": next });
    await user.keyboard("gr");
    expect(go).toHaveBeenCalledTimes(1);
    expect(next).not.toHaveBeenCalled();
    await user.keyboard("r");
    expect(next).toHaveBeenCalledTimes(1);
  });

  test("a key held down runs a command once, and goes on only where that moves", () => {
    const accept = vi.fn();
    const next = vi.fn();
    draw({ "review.accept": accept, "review.next": next });
    for (const key of ["y", "j"]) {
      fireEvent.keyDown(document.body, { key });
      expect(fireEvent.keyDown(document.body, { key, repeat: true })).toBe(false);
      fireEvent.keyDown(document.body, { key, repeat: true });
    }
    expect(accept).toHaveBeenCalledTimes(1);
    expect(next).toHaveBeenCalledTimes(3);
  });

  test("single keys can be switched off; those with Ctrl stay", async () => {
    const accept = vi.fn();
    const palette = vi.fn();
    const user = draw({ "review.accept": accept, "app.palette": palette }, false);
    await user.keyboard("y{Control>}k{/Control}");
    expect(accept).not.toHaveBeenCalled();
    expect(palette).toHaveBeenCalledTimes(1);
  });

  test("a command that cannot be done now takes its key and does nothing", async () => {
    const user = draw({ "review.undo": "No decision to take back" });
    await expect(user.keyboard("z")).resolves.toBeUndefined();
  });

  test("no two commands of one group share a key", () => {
    const taken = new Map<string, string>();
    for (const [id, { group, keys }] of Object.entries(COMMANDS)) {
      for (const key of keys) {
        const place = `${group} ${key}`;
        expect(taken.get(place), `${place}: ${id}`).toBeUndefined();
        taken.set(place, id);
      }
    }
  });
});
