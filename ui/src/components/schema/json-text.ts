/**
 * JSON with its places: what a text says and where it says it, and edits that change the text at one
 * place and leave every other byte as it was written. The text is the truth; nothing is printed anew.
 */

export type JsonNode = { from: number; to: number } & (
  | { kind: "object"; members: JsonMember[] }
  | { kind: "array"; items: JsonNode[] }
  | { kind: "string"; value: string }
  | { kind: "other"; value: number | boolean | null }
);

export type JsonObject = Extract<JsonNode, { kind: "object" }>;

export interface JsonMember {
  /** Where the name begins. */
  from: number;
  /** Where the name ends. */
  nameTo: number;
  name: string;
  value: JsonNode;
}

/** Why a text is no JSON; line and column count from 1. */
export interface JsonFault {
  line: number;
  column: number;
  message: string;
}

export type JsonRead = { node: JsonNode; fault: null } | { node: null; fault: JsonFault };

/** Deeper nesting than any schema that can be used. */
const maxDepth = 64;

class Refused extends Error {
  constructor(
    readonly at: number,
    message: string,
  ) {
    super(message);
  }
}

export function readJson(text: string): JsonRead {
  try {
    const reader = new Reader(text);
    return { node: reader.document(), fault: null };
  } catch (refused) {
    if (!(refused instanceof Refused)) throw refused;
    return { node: null, fault: { ...placeOf(text, refused.at), message: refused.message } };
  }
}

/** Line and column of an offset, from 1. */
export function placeOf(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at);
  const line = before.split("\n").length;
  return { line, column: at - before.lastIndexOf("\n") };
}

class Reader {
  #at = 0;
  constructor(readonly text: string) {}

  document(): JsonNode {
    this.#space();
    const node = this.#value(0);
    this.#space();
    if (this.#at < this.text.length) throw new Refused(this.#at, "Nothing may follow the end.");
    return node;
  }

  #space(): void {
    while (" \t\n\r".includes(this.text[this.#at] ?? "x")) this.#at += 1;
  }

  #take(sign: string): boolean {
    if (this.text[this.#at] !== sign) return false;
    this.#at += 1;
    return true;
  }

  #value(depth: number): JsonNode {
    if (depth > maxDepth) throw new Refused(this.#at, "This is nested too deeply.");
    const next = this.text[this.#at];
    if (next === "{") return this.#object(depth);
    if (next === "[") return this.#array(depth);
    const from = this.#at;
    if (next === '"') {
      const value = this.#string();
      return { kind: "string", from, to: this.#at, value };
    }
    const plain = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/.exec(
      this.text.slice(from, from + 64),
    )?.[0];
    if (plain === undefined)
      throw new Refused(
        from,
        next === undefined ? "The text ends too early." : "A value is missing.",
      );
    this.#at += plain.length;
    return { kind: "other", from, to: this.#at, value: JSON.parse(plain) };
  }

  #object(depth: number): JsonNode {
    const from = this.#at;
    this.#at += 1;
    const members: JsonMember[] = [];
    this.#space();
    if (this.#take("}")) return { kind: "object", from, to: this.#at, members };
    for (;;) {
      this.#space();
      const begin = this.#at;
      if (this.text[begin] !== '"') throw new Refused(begin, "A name in quotes is missing.");
      const name = this.#string();
      if (members.some((member) => member.name === name))
        throw new Refused(begin, `The name "${name}" stands here twice.`);
      const nameTo = this.#at;
      this.#space();
      if (!this.#take(":")) throw new Refused(this.#at, "A colon is missing after the name.");
      this.#space();
      members.push({ from: begin, nameTo, name, value: this.#value(depth + 1) });
      this.#space();
      if (this.#take("}")) return { kind: "object", from, to: this.#at, members };
      if (!this.#take(",")) throw new Refused(this.#at, "A comma or a closing brace is missing.");
    }
  }

  #array(depth: number): JsonNode {
    const from = this.#at;
    this.#at += 1;
    const items: JsonNode[] = [];
    this.#space();
    if (this.#take("]")) return { kind: "array", from, to: this.#at, items };
    for (;;) {
      this.#space();
      items.push(this.#value(depth + 1));
      this.#space();
      if (this.#take("]")) return { kind: "array", from, to: this.#at, items };
      if (!this.#take(",")) throw new Refused(this.#at, "A comma or a closing bracket is missing.");
    }
  }

  #string(): string {
    const from = this.#at;
    for (let at = from + 1; ; at++) {
      const sign = this.text[at];
      if (sign === undefined || sign === "\n")
        throw new Refused(from, "The closing quote of this text is missing.");
      if (sign === "\\") at += 1;
      else if (sign === '"') {
        this.#at = at + 1;
        try {
          return JSON.parse(this.text.slice(from, this.#at)) as string;
        } catch {
          throw new Refused(from, "A sign in this text must be written with a backslash.");
        }
      }
    }
  }
}

export function memberOf(node: JsonNode | undefined, name: string): JsonMember | undefined {
  return node?.kind === "object" ? node.members.find((member) => member.name === name) : undefined;
}

/** The node under a path of names and places. */
export function nodeAt(
  node: JsonNode | undefined,
  path: readonly (string | number)[],
): JsonNode | undefined {
  let at = node;
  for (const step of path) {
    if (typeof step === "number") at = at?.kind === "array" ? at.items[step] : undefined;
    else at = memberOf(at, step)?.value;
  }
  return at;
}

/** What a node says, as a plain value. */
export function plainOf(text: string, node: JsonNode): unknown {
  return JSON.parse(text.slice(node.from, node.to));
}

export function replaceNode(text: string, node: JsonNode, by: string): string {
  return text.slice(0, node.from) + by + text.slice(node.to);
}

export function renameMember(text: string, member: JsonMember, name: string): string {
  return text.slice(0, member.from) + JSON.stringify(name) + text.slice(member.nameTo);
}

/** States a value under a name: in its place when it is there, else behind the last one. */
export function setMember(text: string, object: JsonObject, name: string, value: unknown): string {
  const known = memberOf(object, name);
  if (known) return replaceNode(text, known.value, print(text, object, value));
  return insertMember(text, object, object.members.length, name, print(text, object, value));
}

/** Puts a member, whose value is given as text, before the member that stands at a place. */
export function insertMember(
  text: string,
  object: JsonObject,
  place: number,
  name: string,
  value: string,
): string {
  const made = `${JSON.stringify(name)}: ${value}`;
  const { members } = object;
  const next = members[place];
  if (next) {
    const between = gapBefore(text, object, place) || " ";
    return `${text.slice(0, next.from)}${made},${between}${text.slice(next.from)}`;
  }
  const last = members.at(-1);
  if (last) {
    const between = gapBefore(text, object, members.length - 1);
    return `${text.slice(0, last.value.to)},${between || " "}${made}${text.slice(last.value.to)}`;
  }
  const inner = lineBreak(text) && `\n${indentOf(text, object.from)}  `;
  const outer = lineBreak(text) && `\n${indentOf(text, object.from)}`;
  return `${text.slice(0, object.from)}{${inner || " "}${made}${outer || " "}}${text.slice(object.to)}`;
}

export function removeMember(text: string, object: JsonObject, place: number): string {
  const { members } = object;
  const gone = members[place];
  if (!gone) return text;
  const next = members[place + 1];
  if (next) return text.slice(0, gone.from) + text.slice(next.from);
  const before = members[place - 1];
  if (before) return text.slice(0, before.value.to) + text.slice(gone.value.to);
  return `${text.slice(0, object.from)}{}${text.slice(object.to)}`;
}

/** Exchanges a member with its next neighbour; what stands between them stays. */
export function swapWithNext(text: string, object: JsonObject, place: number): string {
  const first = object.members[place];
  const second = object.members[place + 1];
  if (!first || !second) return text;
  return (
    text.slice(0, first.from) +
    text.slice(second.from, second.value.to) +
    text.slice(first.value.to, second.from) +
    text.slice(first.from, first.value.to) +
    text.slice(second.value.to)
  );
}

/** A value as it is printed inside an object of the text: on lines of its own where the text has lines. */
export function print(text: string, object: JsonNode, value: unknown): string {
  const flat = JSON.stringify(value);
  if (typeof value !== "object" || value === null || flat.length < 60 || !lineBreak(text)) {
    return Array.isArray(value) ? flat.replaceAll(",", ", ") : flat;
  }
  const indent = `${indentOf(text, object.from)}  `;
  return JSON.stringify(value, null, 2).replaceAll("\n", `\n${indent}`);
}

const lineBreak = (text: string) => text.includes("\n");

/** Blanks at the beginning of the line that a place stands on. */
function indentOf(text: string, at: number): string {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, at))?.[0] ?? "";
}

/** What stands between a member and the comma or brace before it. */
function gapBefore(text: string, object: JsonObject, place: number): string {
  const member = object.members[place];
  const before = object.members[place - 1];
  if (!member) return "";
  const between = text.slice(before ? before.value.to : object.from + 1, member.from);
  return between.replace(",", "");
}

/** The text on lines of its own, two blanks deeper at each level; every value as it was written. */
export function tidied(text: string, root: JsonNode): string {
  const draw = (node: JsonNode, pad: string): string => {
    const deeper = `${pad}  `;
    if (node.kind === "object" && node.members.length > 0) {
      const members = node.members.map(
        ({ from, nameTo, value }) => `${deeper}${text.slice(from, nameTo)}: ${draw(value, deeper)}`,
      );
      return `{\n${members.join(",\n")}\n${pad}}`;
    }
    if (node.kind !== "array" || node.items.length === 0) return text.slice(node.from, node.to);
    const items = node.items.map((item) => draw(item, deeper));
    const line = `[${items.join(", ")}]`;
    const short = !line.includes("\n") && pad.length + line.length <= tidyWidth;
    return short ? line : `[\n${items.map((item) => deeper + item).join(",\n")}\n${pad}]`;
  };
  return `${draw(root, "")}\n`;
}

/** A list that fits into this many letters stays on its line. */
const tidyWidth = 72;
