/** Names as typed, separated by commas, each once. */
export const namesIn = (text: string): string[] => each(text, (name) => name);

/** `a, #b` as tags, each once. */
export const tagsIn = (text: string): string[] => each(text, (tag) => tag.replace(/^#/, ""));

const each = (text: string, read: (part: string) => string): string[] => [
  ...new Set(
    text
      .split(",")
      .map((part) => read(part.trim()))
      .filter((part) => part !== ""),
  ),
];
