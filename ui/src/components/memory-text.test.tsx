import { render } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { PlatformProvider } from "~/platform";
import { memory } from "~/platform/memory";
import { MemoryText } from "./memory-text";

function shown(text: string, rest: { mark?: string; links?: boolean } = {}): HTMLElement {
  const { container } = render(
    <PlatformProvider value={memory()}>
      <p>
        <MemoryText text={text} {...rest} />
      </p>
    </PlatformProvider>,
  );
  return container.querySelector("p") as HTMLElement;
}

describe("what a memory says", () => {
  test("stands without the signs it was written with, each block on a line", () => {
    const passage = shown(
      "## The *Debian* project\n\nLed by **Ian Murdock**\nuntil `1996`.\n\n- first\n- second [see](https://debian.org)\n\n3. third\n\n> quoted\n\n---\n\n| a | b |\n|---|---|\n| 1 | 2 |",
    );
    expect(passage.textContent).toBe(
      "The Debian project\nLed by Ian Murdock until 1996.\n• first\n• second see\n3. third\nquoted\na · b\n1 · 2",
    );
    expect(passage.querySelector("strong")).toHaveTextContent("The Debian project");
    expect(passage.querySelectorAll("h2, ul, table, a")).toHaveLength(0);
  });

  test("loses nothing of a plain sentence", () => {
    for (const text of [
      "12. März ist der Termin.",
      "2 * 3 * 4 is 24, and snake_case_name stays.",
      "The bill is < 5 % & due.",
      "- 5 degrees at night",
    ]) {
      expect(shown(text).textContent).toBe(text.replace(/^- /, "• "));
    }
  });

  test("is data: no markup of its own, no picture, no script", () => {
    const text = shown(
      'A <img src=x onerror="alert(1)"> ![x](https://far.example/a.png) <script>alert(1)</script> [go](javascript:alert(1)) end',
      { links: true },
    );
    expect(text.querySelectorAll("img, script, a")).toHaveLength(0);
    expect(text).toHaveTextContent(/^A/);
    expect(text).toHaveTextContent(/end$/);
  });

  test("can be pressed where links are wanted, and only there", () => {
    const text = "See [the notes](https://debian.org/x).";
    expect(shown(text).querySelector("a")).toBeNull();
    expect(shown(text, { links: true }).querySelector("a")).toHaveAttribute(
      "href",
      "https://debian.org/x",
    );
  });

  test("marks the piece a claim rests on, across bold and plain", () => {
    const text = shown("Led by **Ian** Murdock since 1993.", { mark: "ian murdock" });
    const marks = [...text.querySelectorAll("mark")].map(({ textContent }) => textContent);
    expect(marks.join("")).toBe("Ian Murdock");
    expect(text.textContent).toBe("Led by Ian Murdock since 1993.");
    expect(shown("Nothing of it.", { mark: "kiln" }).querySelector("mark")).toBeNull();
  });
});
