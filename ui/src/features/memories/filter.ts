/**
 * The one field of the filter: words, and tokens such as `tag:kiln` or `entity:"Mill Street"`. Only
 * the names below make a token; everything else, `foo:bar` too, is words. Nothing typed is an error
 * of the search: a token with a value that cannot be is kept aside and told.
 */
import type { DocumentRow, FactType, MemoryFilter } from "~/platform/bindings";

export const tokenNames = ["kind", "tag", "entity", "after", "before", "doc", "state"] as const;
type TokenName = (typeof tokenNames)[number];

export interface Token {
  name: TokenName;
  value: string;
}

const pattern = new RegExp(`(?:^|(?<=\\s))(${tokenNames.join("|")}):("([^"]*)"|[^\\s"]+)`, "gi");

/** Tokens and words of a text. With `whole` false, one at the very end is still being typed. */
export function readTokens(text: string, whole: boolean): { tokens: Token[]; words: string } {
  const tokens: Token[] = [];
  const words = text.replaceAll(
    pattern,
    (all, name: string, raw: string, quoted: string | undefined, at: number) => {
      if (!whole && quoted === undefined && at + all.length === text.length) return all;
      tokens.push({ name: name.toLowerCase() as TokenName, value: quoted ?? raw });
      return "";
    },
  );
  return {
    tokens,
    words: tokens.length > 0 ? words.replaceAll(/\s{2,}/g, " ").trimStart() : words,
  };
}

export function writeToken({ name, value }: Token): string {
  return `${name}:${/\s/.test(value) || value === "" ? `"${value}"` : value}`;
}

export const writeAll = (tokens: readonly Token[], words: string): string =>
  [...tokens.map(writeToken), words.trim()].filter((part) => part !== "").join(" ");

const kinds: Record<string, FactType> = {
  world: "world",
  experience: "experience",
  observation: "observation",
  observations: "observation",
};

/** `2026`, `2026-02`, `2026-02-14`, or with a time, as a moment; null when it is none. */
export function instantOf(text: string): string | null {
  const found = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?:[T ](\d{2}):(\d{2})(?::(\d{2}))?Z?)?$/.exec(
    text.trim(),
  );
  if (!found) return null;
  const [, year, month = "01", day = "01", hour = "00", minute = "00", second = "00"] = found;
  const made = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
  const at = new Date(made);
  return Number.isNaN(at.getTime()) || at.getUTCDate() !== Number(day) ? null : made;
}

export interface ReadFilter {
  filter: MemoryFilter;
  /** Tokens that cannot be used as they are. */
  unusable: Token[];
}

/** What the engine is asked for. `segment` narrows the kinds further. */
export function filterOf(
  text: string,
  segment: FactType | null,
  documents: readonly DocumentRow[],
): ReadFilter {
  const { tokens, words } = readTokens(text, true);
  const filter: MemoryFilter = {};
  const unusable: Token[] = [];
  const asked = new Set<FactType>();
  const tags: string[] = [];
  for (const token of tokens) {
    const value = token.value.trim();
    const lower = value.toLowerCase();
    if (token.name === "kind") {
      const kind = kinds[lower];
      if (kind) asked.add(kind);
      else unusable.push(token);
    } else if (token.name === "tag") tags.push(value.replace(/^#/, ""));
    else if (token.name === "entity") filter.entity = value;
    else if (token.name === "doc") {
      const found =
        documents.find(({ id }) => id === value) ??
        documents.find(({ title }) => title.toLowerCase().includes(lower));
      filter.document = found?.id ?? value;
    } else if (token.name === "state") {
      if (lower === "valid" || lower === "invalidated") filter.state = lower;
      else unusable.push(token);
    } else {
      const at = instantOf(value);
      if (at) filter[token.name] = at;
      else unusable.push(token);
    }
  }
  if (segment) filter.fact_types = [segment];
  else if (asked.size > 0) filter.fact_types = [...asked];
  if (tags.length > 0) filter.tags = tags;
  if (words.trim() !== "") filter.words = words.trim();
  return { filter, unusable };
}
