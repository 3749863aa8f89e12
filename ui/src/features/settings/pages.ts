export const settingsPages = ["models", "work", "look", "data", "about"] as const;
export type SettingsPage = (typeof settingsPages)[number];
export const isSettingsPage = (value: unknown): value is SettingsPage =>
  settingsPages.some((page) => page === value);
