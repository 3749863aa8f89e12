import { describe, expect, test } from "vitest";
import { commands } from "./bindings";
import { toReport } from "./errors";
import { knownCommands, memory, refusal } from "./memory";

describe("platform", () => {
  test("each command stands once in the table of tags", () => {
    expect([...knownCommands].sort()).toEqual(Object.keys(commands).sort());
  });

  test("a refusal of the shell becomes a report, a report stays itself", () => {
    const told = refusal();
    expect(toReport(told)).toBe(told);
    expect(toReport("command look not found")).toMatchObject({
      code: "internal",
      detail: "command look not found",
    });
    expect(toReport(new TypeError("bad argument")).detail).toBe("TypeError: bad argument");
  });

  test("fixtures hand out copies", async () => {
    const platform = memory();
    const look = await platform.commands.look();
    look.text_zoom = 300;
    expect((await platform.commands.look()).text_zoom).toBe(100);
  });
});
