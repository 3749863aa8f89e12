import { describe, expect, test } from "vitest";
import * as acts from "./fields";
import { fieldsOf } from "./fields";
import { readJson, tidied } from "./json-text";

const read = (text: string) => {
  const { node, fault } = readJson(text);
  if (!node) throw new Error(fault.message);
  return { text, root: node };
};
const field = (text: string, name: string) => {
  const { root } = read(text);
  const found = fieldsOf(text, root).find((each) => each.name === name);
  if (!found) throw new Error(`no field ${name}`);
  return found;
};

/** A schema as people paste them: words the fields do not draw, odd blanks, a number in its own style. */
const pasted = `{
  "$schema" : "https://json-schema.org/draft/2020-12/schema",
  "title": "Move",   "type": "object",
  "additionalProperties": false,
  "$defs": {"day": {"type":"string","pattern":"^\\\\d{4}"}},
  "properties": {
    "risk_level": { "type": "string", "enum": ["low","high"], "description": "How bad it is", "x-note": [1.0, 2e3] },
    "cost": {"type":"number","minimum":0.50,"exclusiveMaximum": 1E6},
    "people": {
      "type": "array",
      "minItems": 1,
      "items": {
        "type": "object",
        "description": "One of them",
        "properties": { "name": {"type": "string", "description": "As written"}, "since": {"type": ["string", "null"]} },
        "required": ["name"]
      }
    }
  },
  "required": [ "risk_level",
    "people" ]
}
`;

describe("fc_47 the schema builder loses nothing", () => {
  test("ten times to and fro and one description: only that description differs", () => {
    let text = pasted;
    for (let times = 0; times < 10; times++) {
      const at = read(text);
      expect(fieldsOf(text, at.root)).toHaveLength(5);
      // Back to code: the text is the truth, so nothing is written anew.
      text = at.text;
    }
    const changed = acts.setWord(read(text), field(text, "name"), "description", "Full name");
    expect(changed).toBe(pasted.replace("As written", "Full name"));
  });

  test("what is not drawn is kept and named", () => {
    expect(field(pasted, "risk_level").kept).toEqual(["x-note"]);
    expect(field(pasted, "cost").kept).toEqual(["exclusiveMaximum"]);
    expect(field(pasted, "people").kept).toEqual(["minItems", "items.description"]);
    expect(field(pasted, "since")).toMatchObject({ type: null, kept: ["type"] });
    expect(acts.keptText(read(pasted), field(pasted, "people"), "items.description")).toBe(
      '"One of them"',
    );
  });

  test("putting the code in order keeps each value as it was written", () => {
    const { text, root } = read(pasted);
    const neat = tidied(text, root);
    expect(JSON.parse(neat)).toEqual(JSON.parse(pasted));
    expect(neat).toContain('"minimum": 0.50,\n      "exclusiveMaximum": 1E6');
    expect(neat).toContain('"required": ["risk_level", "people"]');
    expect(tidied(neat, read(neat).root)).toBe(neat);
  });

  test("each act changes the bytes of its own place", () => {
    const same = (act: (at: ReturnType<typeof read>) => string) => act(read(pasted));
    expect(same((at) => acts.rename(at, field(pasted, "risk_level"), "risk"))).toBe(
      pasted.replaceAll('"risk_level"', '"risk"'),
    );
    expect(same((at) => acts.setWord(at, field(pasted, "cost"), "minimum", 2))).toBe(
      pasted.replace("0.50", "2"),
    );
    expect(same((at) => acts.setType(at, field(pasted, "cost"), "integer"))).toBe(
      pasted.replace('"type":"number"', '"type":"integer"'),
    );
    const moved = same((at) => acts.moveTo(at, field(pasted, "cost"), 0));
    expect(Object.keys(JSON.parse(moved).properties)).toEqual(["cost", "risk_level", "people"]);
    expect(acts.moveTo(read(moved), field(moved, "cost"), 1)).toBe(pasted);
    expect(moved).toContain("1E6");
    const last = same((at) => acts.moveTo(at, field(pasted, "risk_level"), 2));
    expect(Object.keys(JSON.parse(last).properties)).toEqual(["cost", "people", "risk_level"]);
    expect(acts.moveTo(read(last), field(last, "risk_level"), 0)).toBe(pasted);
    const gone = same((at) => acts.remove(at, field(pasted, "people")));
    expect(JSON.parse(gone)).toEqual({
      ...JSON.parse(pasted),
      properties: {
        risk_level: JSON.parse(pasted).properties.risk_level,
        cost: JSON.parse(pasted).properties.cost,
      },
      required: ["risk_level"],
    });
    const two = same((at) => acts.duplicate(at, field(pasted, "cost")));
    expect(JSON.parse(two).properties.cost_copy).toEqual(JSON.parse(pasted).properties.cost);
  });

  test("fields go into an object and out of it with what they require", () => {
    const path = field(pasted, "people").path;
    const inside = acts.moveInto(read(pasted), field(pasted, "risk_level"), [...path, "items"], 2);
    const schema = JSON.parse(inside);
    expect(Object.keys(schema.properties)).toEqual(["cost", "people"]);
    expect(schema.properties.people.items.required).toEqual(["name", "risk_level"]);
    expect(schema.properties.people.items.properties.risk_level).toEqual(
      JSON.parse(pasted).properties.risk_level,
    );
    expect(schema.required).toEqual(["people"]);
  });

  test("a new field gets a name that is free, on a line of its own", () => {
    const one = acts.addAfter(read(pasted), field(pasted, "cost"));
    const two = acts.addAfter(read(one), field(one, "cost"));
    expect(Object.keys(JSON.parse(two).properties)).toEqual([
      "risk_level",
      "cost",
      "field_2",
      "field",
      "people",
    ]);
    expect(two.split("\n").length).toBe(pasted.split("\n").length + 2);
    const none = '{"type":"object"}';
    const first = acts.addAfter(read(none), null);
    expect(JSON.parse(first)).toEqual({
      type: "object",
      properties: { field: { type: "string" } },
    });
  });

  test.each([
    ['{\n  "a": tru\n}', 2, 8, "A value is missing."],
    ['{"a": 1,, "b": 2}', 1, 9, "A name in quotes is missing."],
    ['{"a": 1, "a": 2}', 1, 10, 'The name "a" stands here twice.'],
    ['{"a": [1, 2}', 1, 12, "A comma or a closing bracket is missing."],
    ['{"a": "x', 1, 7, "The closing quote of this text is missing."],
    ["", 1, 1, "The text ends too early."],
  ])("%j is refused with its place", (text, line, column, message) => {
    expect(readJson(text).fault).toEqual({ line, column, message });
  });
});

test("a sample shows the types of its values", () => {
  expect(
    acts.inferred({ name: "Ife", age: 41, half: 0.5, in: true, tags: [], days: [{ n: 1 }] }),
  ).toEqual({
    type: "object",
    properties: {
      name: { type: "string" },
      age: { type: "integer" },
      half: { type: "number" },
      in: { type: "boolean" },
      tags: { type: "array", items: { type: "string" } },
      days: {
        type: "array",
        items: { type: "object", properties: { n: { type: "integer" } } },
      },
    },
  });
});
