import { type ChangeEvent, useState } from "react";

/**
 * What is being typed into a field whose value is not its text: a number, a list, a name that must be
 * free. The typed text stands, halves and detours included, until the field is left or the value
 * becomes another one by other means; each text that can be read is handed on at once.
 */
export function useTyped(
  value: string,
  /** What the value will show once this text is taken; null for a text that cannot be taken. */
  read: (text: string) => string | null,
  take: (text: string) => void,
) {
  const [typed, setTyped] = useState<{ text: string; shows: string } | null>(null);
  const text = typed !== null && typed.shows === value ? typed.text : value;
  return {
    refused: read(text) === null,
    props: {
      value: text,
      onChange: ({ target }: ChangeEvent<HTMLInputElement>) => {
        const shows = read(target.value);
        setTyped({ text: target.value, shows: shows ?? value });
        if (shows !== null) take(target.value);
      },
      onBlur: () => setTyped(null),
    },
  } as const;
}
