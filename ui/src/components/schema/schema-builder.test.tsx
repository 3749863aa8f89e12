import { QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { describe, expect, test, vi } from "vitest";
import { PlatformProvider } from "~/platform";
import { makeQueryClient } from "~/platform/cache";
import { memory } from "~/platform/memory";
import { CodeEditor } from "./code-editor";
import { FieldTree } from "./field-tree";
import { useSchemaText } from "./use-schema-text";

const begin = JSON.stringify({
  type: "object",
  properties: {
    level: { type: "string", enum: ["low", "high"] },
    cost: { type: "number" },
    people: { type: "object", properties: { who: { type: "string" } } },
  },
});

function Builder({ onText }: { onText: (text: string) => void }) {
  const schema = useSchemaText(begin, onText);
  const [chosen, setChosen] = useState<number | null>(null);
  return <FieldTree schema={schema} chosen={chosen} onChosen={setChosen} />;
}

/** The rows of a schema, and what it says now. */
function draw() {
  let text = begin;
  const hear = (next: string) => {
    text = next;
  };
  render(
    <PlatformProvider value={memory()}>
      <QueryClientProvider client={makeQueryClient()}>
        <Builder onText={hear} />
      </QueryClientProvider>
    </PlatformProvider>,
  );
  return { user: userEvent.setup(), properties: () => JSON.parse(text).properties };
}

const names = () =>
  screen.getAllByRole("textbox", { name: "Name" }).map((box) => (box as HTMLInputElement).value);
const row = (name: string) => screen.getByRole("row", { name: new RegExp(`^${name},`) });
const box = (name: string) => screen.getByRole<HTMLInputElement>("textbox", { name });

test("Ctrl+Enter in the code is left to the screen", async () => {
  const hear = vi.fn();
  render(<CodeEditor label="Code" value="{}" line={null} broken={false} onChange={hear} />);
  const user = userEvent.setup();
  await user.click(screen.getByRole("textbox", { name: "Code" }));
  await user.keyboard("{Control>}{Enter}{/Control}");
  expect(hear).not.toHaveBeenCalled();
});

describe("the rows of a schema", () => {
  test("values that are being typed go with their field when it is moved", async () => {
    const { user, properties } = draw();
    await user.click(box("Allowed values, separated by commas, level"));
    await user.keyboard(", ");
    await user.keyboard("{Alt>}{ArrowDown}{/Alt}");
    expect(names()).toEqual(["cost", "level", "people", "who"]);
    const choices = box("Allowed values, separated by commas, level");
    expect(choices).toHaveValue("low, high, ");
    expect(choices).toHaveFocus();
    await user.keyboard("urgent");
    expect(properties().level.enum).toEqual(["low", "high", "urgent"]);
    expect(properties().cost).toEqual({ type: "number" });
  });

  test("values show what the schema says once the field is left", async () => {
    const { user } = draw();
    const choices = box("Allowed values, separated by commas, level");
    await user.type(choices, " ,, urgent");
    await user.tab();
    expect(choices).toHaveValue("low, high, urgent");
  });

  test.each([
    ["-5", -5],
    ["0.05", 0.05],
    ["-0.5", -0.5],
    ["1.50", 1.5],
    ["007", 7],
  ])("a limit of %s can be typed", async (typed, value) => {
    const { user, properties } = draw();
    await user.click(within(row("cost")).getByRole("textbox", { name: "Name" }));
    const least = box("Smallest, cost");
    await user.type(least, typed);
    expect(least).toHaveValue(typed);
    expect(properties().cost.minimum).toBe(value);
    await user.tab();
    expect(least).toHaveValue(String(value));
  });

  test("what is no number is marked and does not reach the schema", async () => {
    const { user, properties } = draw();
    await user.click(within(row("cost")).getByRole("textbox", { name: "Name" }));
    const least = box("Smallest, cost");
    await user.type(least, "few");
    expect(least).toBeInvalid();
    expect(properties().cost).toEqual({ type: "number" });
    await user.tab();
    expect(least).toHaveValue("");
  });

  test("a field with fields in it is folded, says how many, and unfolds for a new one", async () => {
    const { user } = draw();
    await user.click(screen.getByRole("button", { name: "Fold people" }));
    expect(names()).toEqual(["level", "cost", "people"]);
    expect(row("people")).toHaveAttribute("aria-expanded", "false");
    expect(row("people")).toHaveTextContent("1 field");
    await user.click(screen.getByRole("button", { name: "More about people" }));
    await user.click(await screen.findByRole("menuitem", { name: "Add a field inside" }));
    expect(names()).toEqual(["level", "cost", "people", "who", "field"]);
  });

  test("a row is dragged among its neighbours; Esc leaves it where it was", () => {
    const { properties } = draw();
    // Each row lies fifty pixels below the one before it.
    for (const [place, each] of screen.getAllByRole("row").entries()) {
      each.getBoundingClientRect = () => new DOMRect(0, place * 50, 300, 50);
    }
    const grip = (name: string) => {
      const found = row(name).querySelector("[data-grip]");
      if (!found) throw new Error("no grip");
      return found;
    };
    // jsdom knows no pointer events of its own; one of the mouse has what is looked at.
    const point = (type: string, clientY: number) =>
      fireEvent(grip("level"), new MouseEvent(type, { bubbles: true, clientY }));
    point("pointerdown", 25);
    point("pointermove", 140);
    fireEvent.keyDown(document.body, { key: "Escape" });
    point("pointerup", 140);
    expect(names()).toEqual(["level", "cost", "people", "who"]);
    point("pointerdown", 25);
    point("pointermove", 140);
    point("pointerup", 140);
    expect(names()).toEqual(["cost", "people", "who", "level"]);
    expect(properties().level.enum).toEqual(["low", "high"]);
  });

  test("the focus follows what an act has made, moved or left", async () => {
    const { user } = draw();
    const act = async (field: string, name: string) => {
      await user.click(screen.getByRole("button", { name: `More about ${field}` }));
      await user.click(await screen.findByRole("menuitem", { name }));
      await waitFor(() => expect(screen.queryByRole("menu")).toBeNull());
    };
    await act("level", "Duplicate");
    await waitFor(() => expect(document.activeElement).toHaveValue("level_copy"));
    await user.keyboard("grade");
    expect(names()).toEqual(["level", "grade", "cost", "people", "who"]);
    await act("people", "Add a field inside");
    await waitFor(() => expect(document.activeElement).toHaveValue("field"));
    await act("cost", "Move up");
    await waitFor(() =>
      expect(screen.getByRole("button", { name: "More about cost" })).toHaveFocus(),
    );
    await act("who", "Delete");
    await waitFor(() => expect(document.activeElement).toHaveValue("field"));
    await act("field", "Delete");
    await waitFor(() => expect(document.activeElement).toHaveValue("people"));
    for (const name of ["people", "grade", "level", "cost"]) await act(name, "Delete");
    expect(screen.queryAllByRole("row")).toHaveLength(0);
    await waitFor(() => expect(screen.getByRole("button", { name: "Add a field" })).toHaveFocus());
    await user.keyboard("{Enter}");
    await waitFor(() => expect(document.activeElement).toHaveValue("field"));
  });
});
