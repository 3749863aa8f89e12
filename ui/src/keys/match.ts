/**
 * From a key press to the stroke that the registry writes, and from there to how it is shown. Reads
 * the produced character, not the place of the key, so that bindings follow the keyboard layout.
 */

const isMac = /mac/i.test(navigator.platform);

const named: Record<string, string> = { " ": "space", esc: "escape" };

/** `mod+shift+y`, `?`, `f6`; empty for a modifier alone or while a character is being composed. */
export function strokeOf(event: KeyboardEvent): string {
  const { key } = event;
  if (event.isComposing || ["Control", "Shift", "Alt", "Meta", "AltGraph", "Dead"].includes(key)) {
    return "";
  }
  const name = named[key.toLowerCase()] ?? key.toLowerCase();
  const parts: string[] = [];
  if (isMac ? event.metaKey : event.ctrlKey) parts.push("mod");
  if (isMac ? event.ctrlKey : event.metaKey) parts.push("super");
  // AltGraph produces characters; those are signs of the layout, not commands with Alt.
  if (event.altKey && !event.getModifierState("AltGraph")) parts.push("alt");
  // A sign already tells that Shift was held; a letter or a named key does not.
  const shiftTells = name.length > 1 || name.toUpperCase() !== name;
  if (event.shiftKey && shiftTells) parts.push("shift");
  return [...parts, name].join("+");
}

/** Whether a stroke is a plain character, which typing must win against. */
export function isSingle(stroke: string): boolean {
  return !/^(mod|alt|super)\+/.test(stroke) && !/^(shift\+)?(f\d+|escape)$/.test(stroke);
}

/** Whether keys of this element belong to what is being typed there. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest("[contenteditable=true]")) return true;
  if (target instanceof HTMLInputElement) {
    return !["checkbox", "radio", "button", "submit", "range"].includes(target.type);
  }
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

const caps: Record<string, string> = {
  mod: isMac ? "⌘" : "Ctrl",
  shift: "Shift",
  alt: isMac ? "⌥" : "Alt",
  enter: "↵",
  backspace: "⌫",
  escape: "Esc",
  arrowup: "↑",
  arrowdown: "↓",
  arrowleft: "←",
  arrowright: "→",
};

/** What stands on the key caps: `["Ctrl", "↵"]`. */
export function capsOf(keys: string): string[] {
  return keys
    .split(" ")
    .flatMap((stroke) => (stroke === "+" ? ["+"] : stroke.split(/\+(?!$)/)))
    .map((cap) => caps[cap] ?? (cap.length === 1 ? cap.toUpperCase() : cap.toUpperCase()));
}

/** The same in words, for `aria-keyshortcuts`: `Control+Enter`. */
export function ariaKeys(keys: string): string {
  const words: Record<string, string> = {
    mod: isMac ? "Meta" : "Control",
    shift: "Shift",
    alt: "Alt",
  };
  return keys
    .split(" ")
    .map((stroke) =>
      stroke
        .split(/\+(?!$)/)
        .map((part) => words[part] ?? part.charAt(0).toUpperCase() + part.slice(1))
        .join("+"),
    )
    .join(" ");
}
