import { expect, test } from "vitest";
import { isEdgetableError } from "../errors/edgetable-error.ts";
import { parseTemplate } from "./parse-template.ts";

const own = { delimiter: "#", escapes: true };
const adopted = { delimiter: "#", escapes: false };

const complaint = (source: string, dialect = own): string => {
  try {
    parseTemplate(source, dialect);
  } catch (error) {
    if (isEdgetableError(error, "schema.invalidModel")) return error.message;
    throw error;
  }
  return "accepted";
};

test("a template becomes literals and fields", () => {
  const { parts, fields } = parseTemplate("TEACHER#{to.teacherId}#CLASS#{class}", own);
  expect(fields).toEqual(["to.teacherId", "class"]);
  expect(parts).toEqual([
    { kind: "literal", text: "TEACHER#" },
    { kind: "field", path: "to.teacherId", format: { kind: "text" }, steps: ["to", "teacherId"] },
    { kind: "literal", text: "#CLASS#" },
    { kind: "field", path: "class", format: { kind: "text" }, steps: ["class"] },
  ]);
});

test.each([
  ["{num:6}", { kind: "padded", width: 6 }],
  ["{n:number}", { kind: "number" }],
  ["{n:plain}", { kind: "plain" }],
  ["{n:digits}", { kind: "digits" }],
  ["{at:date}", { kind: "date" }],
  ["{flag:boolean}", { kind: "boolean" }],
  ["{personId:shard(16)}", { kind: "shard", sharding: { counts: [16] } }],
  ["{personId:shard(32|8)}", { kind: "shard", sharding: { counts: [32, 8] } }],
  ["{x:text}", { kind: "text" }],
  ["{x}", { kind: "text" }],
  ["{value:6|text}", { kind: "either", formats: [{ kind: "padded", width: 6 }, { kind: "text" }] }],
])("%s names its format", (source, format) => {
  expect(parseTemplate(source, own).parts[0]).toMatchObject({ kind: "field", format });
});

test("a template without fields is a fixed key", () => {
  expect(parseTemplate("METADATA", own)).toMatchObject({ fields: [], parts: [{ kind: "literal", text: "METADATA" }] });
});

test("one path in several places is one field", () => {
  expect(parseTemplate("{id:shard(4)}#{id}", own)).toMatchObject({ fields: ["id"], repeats: false });
  expect(parseTemplate("{id}#{id}", own)).toMatchObject({ fields: ["id"], repeats: true });
});

test("a parsed template is frozen", () => {
  const template = parseTemplate("A#{b:6|text}", own);
  expect([template, template.parts, template.fields, template.parts[1]].every(Object.isFrozen)).toBe(true);
});

test.each([
  ["STUDENT#{id", 'the brace before "id" is never closed'],
  ["STUDENT#{a{b}", 'the brace before "a" is never closed'],
  ["STUDENT#id}", 'the brace after "STUDENT#id" was never opened'],
  ["STUDENT#{}", "a field has no name; write {name}"],
  ["STUDENT#{:6}", "a field has no name; write {name}"],
  ["STUDENT#{to.}", "the field {to.} has an empty name beside a dot"],
  ["{a b}", '"a b" is not a field name'],
  ["{constructor}", '"constructor" cannot be a field name'],
  ["{__proto__.x}", '"__proto__" cannot be a field name'],
  ["{x:nubmer}", '"nubmer" is not a format. Did you mean "number"?'],
  ["{x:}", '"" is not a format'],
  ["{x:uuid}", "Known: text, digits, letters, number, plain, date, boolean, lower, upper, written, shard(16), 6."],
  ["{x:0}", "the width 0 is not between 1 and 16"],
  ["{x:17}", "the width 17 is not between 1 and 16"],
  ["{x:shard(0)}", "the shard count 0 is not between 1 and 65536"],
  ["{x:shard(16)|text}", "offers a shard as a choice"],
  ["{x:shard(hot)}", '"hot" is neither a count of shards nor a sharding of the layout'],
  ["{x:shard(8|)}", "the shard count  is not between"],
  ["{a}{b}", 'nothing stands between {a} and {b}; put "#" there'],
  ["{a}X#{b}", '"X#" follows {a} but does not begin with the delimiter "#"'],
  ["", "it is empty"],
  ["\ud800#{a}", "half of a surrogate pair"],
])("the source %j is refused with a sentence", (source, sentence) => {
  expect(complaint(source)).toContain(`key template ${JSON.stringify(source)}: `);
  expect(complaint(source)).toContain(sentence);
});

test.each(["#", "!", '"'])("with escapes the delimiter may be %s", (delimiter) => {
  expect(complaint(`A${delimiter}{b}`, { delimiter, escapes: true })).toBe("accepted");
});

test.each(["|", "-", "$", " ", ""])("with escapes the delimiter %j is refused", (delimiter) => {
  expect(complaint(`A${delimiter}{b}`, { delimiter, escapes: true })).toContain("cannot be escaped in order");
});

test.each(["#", "|", "-", "/", ".", ":", "\u0001", "§"])("without escapes the delimiter may be %j", (delimiter) => {
  expect(complaint(`A${delimiter}{b}`, { delimiter, escapes: false })).toBe("accepted");
});

test.each(["", "##", "x", "7", "é", "{", "\ud83d"])("without escapes the delimiter %j is refused", (delimiter) => {
  expect(complaint(`A${delimiter}`, { delimiter, escapes: false })).toContain("must be one character");
});

test("a date under a delimiter that every date contains is refused", () => {
  expect(complaint("D-{at:date}", { delimiter: "-", escapes: false })).toContain('{at} is a date, whose text contains the delimiter "-"');
  expect(complaint("D-{at:date|text}", { delimiter: "-", escapes: false })).toContain("{at} is a date");
  expect(complaint("D#{at:date}", adopted)).toBe("accepted");
});
