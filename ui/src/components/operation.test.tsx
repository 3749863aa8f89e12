import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { running } from "~/platform/fixtures/work";
import { OperationState, progressWords } from "./operation";

test("fc_33 work behind a limit of its endpoint is shown as waiting, not as running or failed", () => {
  const progress = {
    stage: "waiting_for_llm",
    processed: null,
    total: null,
    detail: null,
    stored: null,
  };
  const { rerender } = render(<OperationState row={{ ...running, progress }} />);
  expect(screen.getByText("Waiting")).toBeVisible();
  expect(progressWords(progress)).toBe(
    "Waiting for the language model, which takes no more requests for now",
  );
  rerender(<OperationState row={{ ...running, progress: { ...progress, stage: "folding" } }} />);
  expect(screen.getByText("Running")).toBeVisible();
});
