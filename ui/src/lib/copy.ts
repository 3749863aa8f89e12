import { say } from "~/components/toast";

const words = { copied: "Copied.", refused: "The clipboard cannot be written to." } as const;

/** Puts a text into the clipboard and says so, or that it could not be. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(words.copied);
  } catch {
    say(words.refused);
  }
}
