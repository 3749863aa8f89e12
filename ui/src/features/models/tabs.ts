const tabs = ["document", "evidence", "structured", "trace", "history", "settings"] as const;

export type ModelTab = (typeof tabs)[number];

export function isModelTab(value: unknown): value is ModelTab {
  return tabs.includes(value as ModelTab);
}
