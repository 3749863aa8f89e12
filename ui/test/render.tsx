import { createMemoryHistory, type RouterHistory } from "@tanstack/react-router";
import { render } from "@testing-library/react";
import userEvent, { type UserEvent } from "@testing-library/user-event";
import axe from "axe-core";
import { expect } from "vitest";
import { App } from "~/app";
import { type MemoryPlatform, memory, type Overrides } from "~/platform/memory";

export interface Drawn {
  platform: MemoryPlatform;
  user: UserEvent;
  history: RouterHistory;
}

/** The whole page at an address, over fixtures. */
export function renderApp(address: string, overrides: Overrides = {}): Drawn {
  const platform = memory(overrides);
  const history = createMemoryHistory({ initialEntries: [address] });
  render(<App platform={platform} history={history} />);
  return { platform, user: userEvent.setup(), history };
}

/** Nothing that axe knows to be wrong. Colours are left to the test of the tokens: jsdom paints nothing. */
export async function noViolations(): Promise<void> {
  const { violations } = await axe.run(document.body, {
    rules: { "color-contrast": { enabled: false } },
  });
  const told = violations.map(
    ({ id, help, nodes }) => `${id}: ${help}\n  ${nodes.map(({ html }) => html).join("\n  ")}`,
  );
  expect(told).toEqual([]);
}
