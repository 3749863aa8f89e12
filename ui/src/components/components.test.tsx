import { act, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { describe, expect, test } from "vitest";
import { shown, shownSpans } from "~/lib/markers";
import { PlatformProvider } from "~/platform";
import { memory, refusal } from "~/platform/memory";
import { noViolations } from "../../test/render";
import { Line, Words } from "./diff";
import { List } from "./list";
import { Markdown } from "./markdown";
import { ReportCard } from "./report";
import { say, Toaster } from "./toast";

const items = Array.from({ length: 10_000 }, (_, number) => ({ id: `i${number}` }));

function LongList() {
  const [active, setActive] = useState("i0");
  return (
    <List
      label="Things"
      items={items}
      idOf={({ id }) => id}
      active={active}
      onActive={({ id }) => setActive(id)}
      rowHeight={3.25}
    >
      {({ id }) => <p>{id}</p>}
    </List>
  );
}

describe("list", () => {
  test("keeps few of ten thousand rows in the page and tells the active one", async () => {
    const user = userEvent.setup();
    render(
      <main>
        <LongList />
      </main>,
    );
    expect(screen.getAllByRole("option").length).toBeLessThan(60);
    const list = screen.getByRole("listbox", { name: "Things" });
    list.focus();
    await user.keyboard("{ArrowDown}j");
    const chosen = screen.getByRole("option", { selected: true });
    expect(chosen).toHaveTextContent("i2");
    expect(chosen).toHaveAttribute("aria-setsize", "10000");
    expect(list).toHaveAttribute("aria-activedescendant", chosen.id);
    await user.keyboard("{End}");
    expect(screen.getByRole("option", { selected: true })).toHaveTextContent("i9999");
    await noViolations();
  });
});

describe("markdown", () => {
  const draw = (text: string) => {
    const platform = memory();
    const { container } = render(
      <PlatformProvider value={platform}>
        <Markdown>{text}</Markdown>
      </PlatformProvider>,
    );
    return { platform, container };
  };

  test("takes no HTML, no images and no scripts", () => {
    const { container } = draw(
      'A <b onclick="x()">bold</b> <script>x()</script> ![p](https://example.org/p.png) [j](javascript:x())',
    );
    expect(container.querySelector("img, script, b, [onclick]")).toBeNull();
    expect(screen.queryByRole("link")).toBeNull();
  });

  test("opens links outside and says where they lead", async () => {
    const { platform } = draw("[notes](https://example.org/notes)");
    const link = screen.getByRole("link", { name: "notes" });
    expect(link).toHaveAttribute("title", "Opens https://example.org/notes in your browser");
    await userEvent.click(link);
    expect(platform.calls).toContainEqual(["openOutside", "https://example.org/notes"]);
  });
});

describe("difference", () => {
  test("is told without colours", () => {
    render(
      <Line change="ins">
        <Words
          side="ins"
          spans={[
            { kind: "same", text: "opens on " },
            { kind: "removed", text: "Monday" },
            { kind: "added", text: "Tuesday" },
          ]}
        />
      </Line>,
    );
    expect(screen.getByText("Inserted:")).toBeInTheDocument();
    expect(screen.getByRole("insertion")).toHaveTextContent("Tuesday");
    expect(screen.queryByText("Monday")).toBeNull();
  });

  test("list markers read as bullets, minus signs inside a line stay", () => {
    expect(shown("- one\n  - two - three")).toBe("• one\n  • two - three");
    const spans = shownSpans([
      { kind: "same", text: "- a " },
      { kind: "added", text: "- b\n- c" },
    ]);
    expect(spans.map(({ text }) => text)).toEqual(["• a ", "- b\n• c"]);
  });
});

describe("report", () => {
  test("says what happened, what to do, and keeps the rest behind a disclosure", async () => {
    const user = userEvent.setup();
    render(<ReportCard report={refusal()} onRetry={() => {}} />);
    expect(screen.getByRole("alert")).toHaveTextContent("could not be reached");
    expect(screen.getByRole("button", { name: "Try again" })).toBeVisible();
    expect(screen.queryByText("llm_unreachable")).toBeNull();
    await user.click(screen.getByRole("button", { name: "Details" }));
    expect(screen.getByText("llm_unreachable")).toBeVisible();
    await noViolations();
  });

  test("offers no second try where it cannot help", () => {
    render(<ReportCard report={refusal({ retryable: false })} onRetry={() => {}} />);
    expect(screen.queryByRole("button", { name: "Try again" })).toBeNull();
  });
});

describe("a notice", () => {
  test("stands in the bar, where it covers no action, and can be sent away", async () => {
    render(<Toaster />);
    act(() => say("Refresh of House rules is queued"));
    const notice = (await screen.findByText("Refresh of House rules is queued")).closest("li");
    expect(notice).toHaveAttribute("data-x-position", "center");
    expect(notice).toHaveAttribute("data-y-position", "top");
    const list = notice?.closest("ol");
    expect(list?.style.getPropertyValue("--offset-top")).toBe("0.25rem");
    expect(list?.style.getPropertyValue("--width")).toBe("30rem");
    await userEvent.click(screen.getByRole("button", { name: "Dismiss" }));
    await waitFor(() => expect(notice).toHaveAttribute("data-removed", "true"));
  });
});
