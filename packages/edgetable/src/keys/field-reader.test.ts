import fc from "fast-check";
import { expect, test } from "vitest";
import { endingField, fieldReader } from "./key-pieces.ts";
import { readTemplate, renderTemplate } from "./render-template.ts";
import { parseTemplate } from "./parse-template.ts";

const own = { delimiter: "#", escapes: true } as const;
const adopted = { delimiter: "#", escapes: false } as const;
const text = fc.string({ unit: fc.oneof(fc.constantFrom("#", "$", "a", "1"), fc.string({ unit: "binary", minLength: 1, maxLength: 1 })) });

test.each([
  ["{to.id}", "to.id"],
  ["knows#{to.id}", "to.id"],
  ["knows#{at}#{to.id}", "to.id"],
  ["knows#{at:number}#{from.id}", "from.id"],
  ["knows#{to.id}#{role}", "to.id"],
])("reads of every key of %s what the whole template reads", (source, path) => {
  const template = parseTemplate(source, own);
  const read = fieldReader(template, path);
  const nested = fc.record({ to: fc.record({ id: text }), from: fc.record({ id: text }), role: text });
  fc.assert(
    fc.property(nested, text, fc.double({ noNaN: true }), (ends, at, number) => {
      const row = { ...ends, at: source.includes("number") ? number : at };
      let key: string | undefined;
      try {
        key = renderTemplate(template, row);
      } catch {
        return;
      }
      if (key !== undefined) expect(read(key)).toEqual(readTemplate(template, key)?.[path]);
    }),
  );
});

test("of another's key, nothing", () => {
  const read = fieldReader(parseTemplate("knows#{to.id}", own), "to.id");
  expect(["likes#1", "knows#", "knows#1#2", "knows", "", "knows#a b"].map(read)).toEqual(Array.from({ length: 6 }));
});

test("a field ends a template's keys where nothing follows it, and what is before it needs no reading", () => {
  const ends = (source: string, dialect: typeof own | typeof adopted): string | undefined =>
    endingField(parseTemplate(source, dialect), "to.id")?.beginning;
  expect(ends("knows#{to.id}", own)).toBe("knows#");
  expect(ends("{to.id}", own)).toBe("");
  expect(ends("knows#{at}#{to.id}", own)).toBe("knows#");
  expect(ends("knows#{at}#{to.id}", adopted)).toBeUndefined();
  expect(ends("knows#{at}#to#{to.id}", own)).toBeUndefined();
  expect(ends("knows#{to.id}#{at}", own)).toBeUndefined();
});
