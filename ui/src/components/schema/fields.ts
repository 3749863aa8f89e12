/**
 * The fields of a schema, read from its text, and the acts on them. What a field has beyond the words
 * drawn here is kept as it is written and named, so that nothing is lost by looking at it as fields.
 */
import {
  insertMember,
  type JsonNode,
  type JsonObject,
  memberOf,
  nodeAt,
  plainOf,
  print,
  readJson,
  removeMember,
  renameMember,
  replaceNode,
  setMember,
  swapWithNext,
} from "./json-text";

export const fieldTypes = ["string", "number", "integer", "boolean", "array", "object"] as const;
export type FieldType = (typeof fieldTypes)[number];

export interface Field {
  /** Places from the top, for example `1.0`. */
  id: string;
  level: number;
  /** Where its schema stands: names from the top of the text. */
  path: string[];
  /** Where it stands among its neighbours, and how many they are. */
  place: number;
  of: number;
  name: string;
  /** Null when its type is written in a way that is not drawn (a list of types, a reference). */
  type: FieldType | null;
  /** Type of a list's items; null when there is none or it is not drawn. */
  itemType: FieldType | null;
  required: boolean;
  description: string;
  /** Allowed values; null when they are not a plain list of texts and numbers. */
  choices: string[];
  format: string;
  minimum: string;
  maximum: string;
  /** Words of JSON Schema that are kept as they are written. */
  kept: string[];
  /** Whether it can have fields of its own. */
  holds: boolean;
}

/** All fields in the order of the text, those of an object or of a list's items below it. */
export function fieldsOf(text: string, root: JsonNode): Field[] {
  return below(text, root, [], "", 0);
}

function below(text: string, schema: JsonNode, path: string[], id: string, level: number): Field[] {
  const properties = memberOf(schema, "properties")?.value;
  if (properties?.kind !== "object") return [];
  const required = requiredOf(schema);
  return properties.members.flatMap(({ name, value }, place) => {
    const own = [...path, "properties", name];
    const field: Field = {
      ...read(text, value),
      id: id === "" ? String(place) : `${id}.${place}`,
      level,
      path: own,
      place,
      of: properties.members.length,
      name,
      required: required.includes(name),
    };
    const inside = holder(value, own);
    return [field, ...(inside ? below(text, inside.node, inside.path, field.id, level + 1) : [])];
  });
}

/** The object schema that holds a field's own fields: itself, or its items. */
function holder(node: JsonNode, path: string[]): { node: JsonNode; path: string[] } | undefined {
  const items = memberOf(node, "items")?.value;
  if (typeOf(node) === "array" && items) {
    return typeOf(items) === "object" ? { node: items, path: [...path, "items"] } : undefined;
  }
  return typeOf(node) === "object" ? { node, path } : undefined;
}

type Read = Omit<Field, "id" | "level" | "path" | "place" | "of" | "name" | "required">;

function read(text: string, node: JsonNode): Read {
  const type = typeOf(node);
  const items = memberOf(node, "items")?.value;
  const itemType = type === "array" && items ? typeOf(items) : null;
  const choices = choicesOf(node);
  const drawn = new Set(["description"]);
  if (type !== null) drawn.add("type");
  if (choices !== null) drawn.add("enum");
  if (type === "string") drawn.add("format");
  if (type === "number" || type === "integer") drawn.add("minimum").add("maximum");
  if (type === "object") drawn.add("properties").add("required");
  const itemsKept = itemType === null ? [] : itemWords(items, itemType);
  if (type === "array" && (itemType !== null || !items)) drawn.add("items");
  const words = node.kind === "object" ? node.members.map(({ name }) => name) : [];
  return {
    type,
    itemType,
    description: textOf(node, "description"),
    choices: choices ?? [],
    format: type === "string" ? textOf(node, "format") : "",
    minimum: numberOf(text, node, "minimum"),
    maximum: numberOf(text, node, "maximum"),
    kept: [...words.filter((word) => !drawn.has(word)), ...itemsKept],
    holds: type === "object" || itemType === "object",
  };
}

function itemWords(items: JsonNode | undefined, type: FieldType): string[] {
  if (items?.kind !== "object") return [];
  const drawn = type === "object" ? ["type", "properties", "required"] : ["type"];
  return items.members
    .map(({ name }) => name)
    .filter((name) => !drawn.includes(name))
    .map((name) => `items.${name}`);
}

/** A type that is drawn; one that is left out counts as text, unless other words decide it. */
function typeOf(node: JsonNode): FieldType | null {
  if (node.kind !== "object") return null;
  const stated = memberOf(node, "type")?.value;
  if (stated === undefined) {
    if (memberOf(node, "properties")) return "object";
    const decided = ["$ref", "anyOf", "oneOf", "allOf", "not", "const"];
    return decided.some((word) => memberOf(node, word)) ? null : "string";
  }
  if (stated.kind !== "string") return null;
  return fieldTypes.find((type) => type === stated.value) ?? null;
}

function requiredOf(schema: JsonNode): string[] {
  const list = memberOf(schema, "required")?.value;
  if (list?.kind !== "array") return [];
  return list.items.flatMap((item) => (item.kind === "string" ? [item.value] : []));
}

function choicesOf(node: JsonNode): string[] | null {
  const list = memberOf(node, "enum")?.value;
  if (list === undefined) return [];
  if (list.kind !== "array") return null;
  const texts = list.items.map((item) =>
    item.kind === "string" ? item.value : item.kind === "other" ? String(item.value) : null,
  );
  return texts.includes(null) ? null : (texts as string[]);
}

function textOf(node: JsonNode, word: string): string {
  const value = memberOf(node, word)?.value;
  return value?.kind === "string" ? value.value : "";
}

function numberOf(text: string, node: JsonNode, word: string): string {
  const value = memberOf(node, word)?.value;
  return value?.kind === "other" ? text.slice(value.from, value.to) : "";
}

/** A text with the nodes that an act needs; acts are pure, from text to text. */
interface At {
  text: string;
  root: JsonNode;
}

const objectAt = ({ root }: At, path: readonly string[]): JsonObject | undefined => {
  const node = nodeAt(root, path);
  return node?.kind === "object" ? node : undefined;
};

/** Path of the object schema that a field belongs to. */
const ownerOf = (field: Field) => field.path.slice(0, -2);

/** Sets or, with null, takes away one word of a field's schema. */
export function setWord(at: At, field: Field, word: string, value: unknown): string {
  const object = objectAt(at, field.path);
  if (!object) return at.text;
  if (value !== null) return setMember(at.text, object, word, value);
  const place = object.members.findIndex(({ name }) => name === word);
  return place < 0 ? at.text : removeMember(at.text, object, place);
}

/** The values of a list as it is typed: between commas; numbers where the field is one. */
function choicesIn(field: Field, typed: string): (string | number)[] {
  const numeric = field.type === "number" || field.type === "integer";
  return typed
    .split(",")
    .map((value) => value.trim())
    .filter((value) => value !== "")
    .map((value) => (numeric && Number.isFinite(Number(value)) ? Number(value) : value));
}

/** Allowed values as they are shown once they are set. */
export function choicesText(field: Field, typed: string): string {
  return choicesIn(field, typed).join(", ");
}

export function setChoices(at: At, field: Field, typed: string): string {
  const values = choicesIn(field, typed);
  return setWord(at, field, "enum", values.length === 0 ? null : values);
}

/** A limit as it is shown once it is set; null while what is typed is no number. */
export function limitText(typed: string): string | null {
  const text = typed.trim();
  if (text === "") return "";
  const number = Number(text);
  return /^[-+]?[\d.]/.test(text) && Number.isFinite(number) ? JSON.stringify(number) : null;
}

export function setLimit(at: At, field: Field, word: "minimum" | "maximum", typed: string): string {
  const text = limitText(typed);
  return text === null ? at.text : setWord(at, field, word, text === "" ? null : Number(text));
}

export function setType(at: At, field: Field, type: FieldType): string {
  return setWord(at, field, "type", type);
}

export function setItemType(at: At, field: Field, type: FieldType): string {
  const items = objectAt(at, [...field.path, "items"]);
  if (items) return setMember(at.text, items, "type", type);
  return setWord(at, field, "items", { type });
}

export function rename(at: At, field: Field, name: string): string {
  const owner = objectAt(at, ownerOf(field));
  const properties = objectAt(at, field.path.slice(0, -1));
  const member = properties?.members[field.place];
  if (!owner || !member || name === field.name) return at.text;
  if (properties.members.some((other) => other.name === name)) return at.text;
  // From the back to the front, so that the places read before still hold.
  const list = memberOf(owner, "required")?.value;
  const entry =
    list?.kind === "array"
      ? list.items.find((item) => item.kind === "string" && item.value === field.name)
      : undefined;
  if (!entry) return renameMember(at.text, member, name);
  const quoted = JSON.stringify(name);
  return entry.from > member.from
    ? renameMember(replaceNode(at.text, entry, quoted), member, name)
    : replaceNode(renameMember(at.text, member, name), entry, quoted);
}

export function setRequired(at: At, field: Field, required: boolean): string {
  const owner = objectAt(at, ownerOf(field));
  if (!owner) return at.text;
  const names = requiredOf(owner).filter((name) => name !== field.name);
  if (required) names.push(field.name);
  const known = memberOf(owner, "required");
  if (!known && !required) return at.text;
  return setMember(at.text, owner, "required", names);
}

/** A name that no neighbour has. */
function freeName(properties: JsonObject | undefined, wanted = "field"): string {
  const taken = new Set(properties?.members.map(({ name }) => name));
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}_${number}`;
    if (!taken.has(name)) return name;
  }
}

const fresh = '{ "type": "string" }';

/** A new field behind another; without one, as the last of the top. */
export function addAfter(at: At, field: Field | null): string {
  if (field === null) return addInside(at, []);
  const properties = objectAt(at, field.path.slice(0, -1));
  if (!properties) return at.text;
  return insertMember(at.text, properties, field.place + 1, freeName(properties), fresh);
}

/** A new field inside an object or inside the items of a list. */
export function addChild(at: At, field: Field): string {
  return addInside(at, field.type === "array" ? [...field.path, "items"] : field.path);
}

function addInside(at: At, path: readonly string[]): string {
  const object = objectAt(at, path);
  if (!object) return at.text;
  const properties = objectAt(at, [...path, "properties"]);
  if (!properties) {
    return setMember(at.text, object, "properties", { [freeName(undefined)]: { type: "string" } });
  }
  return insertMember(at.text, properties, properties.members.length, freeName(properties), fresh);
}

export function duplicate(at: At, field: Field): string {
  const properties = objectAt(at, field.path.slice(0, -1));
  const member = properties?.members[field.place];
  if (!properties || !member) return at.text;
  const copy = at.text.slice(member.value.from, member.value.to);
  return insertMember(
    at.text,
    properties,
    field.place + 1,
    freeName(properties, `${field.name}_copy`),
    copy,
  );
}

export function remove(at: At, field: Field): string {
  const without = setRequired(at, field, false);
  const again = { text: without, root: reread(without) ?? at.root };
  const properties = objectAt(again, field.path.slice(0, -1));
  return properties ? removeMember(without, properties, field.place) : at.text;
}

/** To another place among its neighbours. Each step exchanges two, so that the rest stays as written. */
export function moveTo(at: At, field: Field, to: number): string {
  const step = Math.sign(to - field.place);
  let now = at;
  for (let place = field.place; place !== to; place += step) {
    const properties = objectAt(now, field.path.slice(0, -1));
    if (!properties) return now.text;
    const text = swapWithNext(now.text, properties, step > 0 ? place : place - 1);
    const root = reread(text);
    if (root === null) return now.text;
    now = { text, root };
  }
  return now.text;
}

/** Into another object, as its last field; what it requires goes with it. */
export function moveInto(at: At, field: Field, path: readonly string[], place: number): string {
  const properties = objectAt(at, field.path.slice(0, -1));
  const member = properties?.members[field.place];
  if (!member) return at.text;
  const schema = at.text.slice(member.value.from, member.value.to);
  const gone = remove(at, field);
  const root = reread(gone);
  if (!root) return at.text;
  const after = { text: gone, root };
  const target = objectAt(after, path);
  if (!target) return at.text;
  const list = objectAt(after, [...path, "properties"]);
  const name = freeName(list, field.name);
  const made = list
    ? insertMember(gone, list, Math.min(place, list.members.length), name, schema)
    : setMember(gone, target, "properties", { [name]: JSON.parse(schema) });
  const madeRoot = field.required ? reread(made) : null;
  const owner = madeRoot ? objectAt({ text: made, root: madeRoot }, path) : undefined;
  return owner ? setMember(made, owner, "required", [...requiredOf(owner), name]) : made;
}

function reread(text: string): JsonNode | null {
  return readJson(text).node;
}

/** A schema with the fields of a sample: types as its values show them. */
export function inferred(sample: unknown): unknown {
  if (Array.isArray(sample)) {
    return { type: "array", items: sample.length > 0 ? inferred(sample[0]) : { type: "string" } };
  }
  if (typeof sample === "object" && sample !== null) {
    const fields = Object.entries(sample).map(([name, value]) => [name, inferred(value)]);
    return { type: "object", properties: Object.fromEntries(fields) };
  }
  if (typeof sample === "number") return { type: Number.isInteger(sample) ? "integer" : "number" };
  return { type: typeof sample === "boolean" ? "boolean" : "string" };
}

/** The plain value of a kept word, for showing it. */
export function keptText({ text, root }: At, field: Field, word: string): string {
  const node = nodeAt(root, [...field.path, ...word.split(".")]);
  return node ? print("", node, plainOf(text, node)) : "";
}
