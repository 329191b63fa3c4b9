import { expect, test } from "vitest";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { parseTemplate } from "./parse-template.ts";
import { readTemplate, templateMatches, renderPrefix, renderTemplate } from "./render-template.ts";

const own = (source: string) => parseTemplate(source, { delimiter: "#", escapes: true });
const adopted = (source: string, delimiter = "#") => parseTemplate(source, { delimiter, escapes: false });

const failure = (run: () => unknown): EdgetableError => {
  try {
    run();
  } catch (error) {
    if (error instanceof EdgetableError) return error;
    throw error;
  }
  throw new Error("did not throw");
};

const bornAt = new Date("2023-05-01T10:00:00.000Z");

test.each([
  [adopted("issue-{id}", "-"), { id: "020e" }, "issue-020e"],
  [adopted("{value}#{num:6}"), { value: "2023-05-01", num: 1 }, "2023-05-01#000001"],
  [adopted("{value:6|text}#{num:6}"), { value: 42, num: 3 }, "000042#000003"],
  [adopted("{value:6|text}#{num:6}"), { value: "Approved", num: 3 }, "Approved#000003"],
  [adopted("{country}|{state}|{city}", "|"), { country: "USA", state: "Texas", city: "Austin" }, "USA|Texas|Austin"],
  [adopted("{type}|{id:plain}|FRIEND", "|"), { type: "PERSON", id: 5 }, "PERSON|5|FRIEND"],
  [own("TEACHER#{teacher}#CLASS#{class}"), { teacher: "SIMON", class: "MATH" }, "TEACHER#SIMON#CLASS#MATH"],
  [own("COURSE#{courseId}"), { courseId: "C1" }, "COURSE#C1"],
  [own("{n:number}#{flag:boolean}"), { n: -42, flag: false }, "n49857z#false"],
  [own("AT#{at:date}"), { at: bornAt }, "AT#2023-05-01T10:00:00.000Z"],
  [own("{name}"), { name: "a b#c$" }, "a$Pb$Sc$T"],
  [own("root"), {}, "root"],
])("%o of %o is %s, and reads back", (template, row, key) => {
  expect(renderTemplate(template, row)).toBe(key);
  expect(readTemplate(template, key)).toEqual(row);
  expect(templateMatches(template, key)).toBe(true);
});

test("a dotted path reads a nested row and reads back flat", () => {
  const template = own("COURSE#{to.courseId}");
  expect(renderTemplate(template, { to: { courseId: "C1" } })).toBe("COURSE#C1");
  expect(renderTemplate(template, { to: undefined })).toBeUndefined();
  expect(renderTemplate(template, { to: "C1" })).toBeUndefined();
  expect(readTemplate(template, "COURSE#C1")).toEqual({ "to.courseId": "C1" });
});

test("a tenant that holds the delimiter never meets another tenant's user", () => {
  const template = own("TENANT#{tenant}#{user}");
  const forged = renderTemplate(own("TENANT#{tenant}"), { tenant: "acme#user_bob" });
  expect(forged).toBe("TENANT#acme$Suser_bob");
  expect(forged).not.toBe(renderTemplate(template, { tenant: "acme", user: "user_bob" }));
  const refused = failure(() => renderTemplate(adopted("TENANT#{tenant}"), { tenant: "acme#user_bob" }));
  expect(refused.code).toBe("keys.delimiter");
  expect(refused.message).toBe(
    'the value "acme#user_bob" of {tenant} in the key template "TENANT#{tenant}" contains the delimiter "#". ' +
      "This layout has no escapes: give a value without the delimiter, or choose a layout with another delimiter.",
  );
  expect(refused.details).toEqual({ template: "TENANT#{tenant}", field: "tenant", value: "acme#user_bob" });
});

test("a missing field makes no key at all", () => {
  const template = own("TEACHER#{teacher}#CLASS#{class}");
  expect(renderTemplate(template, { teacher: "SIMON" })).toBeUndefined();
  expect(renderTemplate(template, { teacher: "SIMON", class: null })).toBeUndefined();
});

test.each([
  ["{id}", { id: "" }, "keys.empty", "Give at least one character: no key holds an empty text. In an index, leave the attribute out"],
  ["{id:shard(4)}", { id: "" }, "keys.empty", "is empty"],
  ["{id}", { id: 7 }, "keys.wrongType", 'the value 7 of {id} in the key template "{id}" is not a text. Write {id:number}'],
  ["{id}", { id: true }, "keys.wrongType", "Write {id:boolean}"],
  ["{id}", { id: bornAt }, "keys.wrongType", "Write {id:date}"],
  ["{id}", { id: {} }, "keys.wrongType", "the value of type object of {id}"],
  ["{id}", { id: "\ud800" }, "keys.notEncodable", "half of a surrogate pair"],
  ["{id}", { id: "a\udc00 b" }, "keys.notEncodable", "half of a surrogate pair"],
  ["{n:number}", { n: "7" }, "keys.wrongType", "is not a number"],
  ["{n:number}", { n: Number.NaN }, "keys.notEncodable", "is not a finite number"],
  ["{n:number}", { n: -Infinity }, "keys.notEncodable", "is not a finite number"],
  ["{n:number}", { n: 10n ** 38n + 1n }, "keys.notEncodable", "has more than 38 significant digits"],
  ["{n:plain}", { n: 1.5 }, "keys.notEncodable", "is not a safe integer"],
  ["{n:plain}", { n: "1" }, "keys.wrongType", "is not an integer"],
  ["{n:plain}", { n: 10n ** 38n + 1n }, "keys.notEncodable", "has more than 38 significant digits"],
  ["{n:6}", { n: 1_000_000 }, "keys.notEncodable", "has more than 6 digits. Widen the padding, or write {n:number}."],
  ["{n:6}", { n: -1 }, "keys.notEncodable", "is negative"],
  ["{n:6}", { n: 2 ** 53 }, "keys.notEncodable", "is not a safe integer"],
  ["{n:6}", { n: "000001" }, "keys.wrongType", "is not an integer"],
  ["{at:date}", { at: "2023-05-01" }, "keys.wrongType", "write {at:text} for dates kept as text"],
  ["{at:date}", { at: new Date(Number.NaN) }, "keys.notEncodable", "Invalid Date"],
  ["{at:date}", { at: new Date("+010000-01-01T00:00:00Z") }, "keys.notEncodable", "outside the years 0000 to 9999"],
  ["{flag:boolean}", { flag: "true" }, "keys.wrongType", "is not a boolean"],
  ["{id:shard(4)}", { id: {} }, "keys.wrongType", "has no text to take a shard from"],
  ["{v:6|text}", { v: 1_000_000 }, "keys.notEncodable", "has more than 6 digits"],
  ["{v:6|text}", { v: true }, "keys.wrongType", "is not a text. Write {v:boolean}, or give a text"],
] as const)("%s refuses %o with %s", (source, row, code, sentence) => {
  const refused = failure(() => renderTemplate(own(source), row));
  expect(refused.code).toBe(code);
  expect(refused.message).toContain(sentence);
});

test.each([
  ["{v:6|text}", "000042", "reads back as the number 42"],
  ["{v:boolean|text}", "true", "reads back as the boolean true"],
])("%s refuses the text %s where nothing is escaped, else marks it", (source, v, sentence) => {
  const refused = failure(() => renderTemplate(adopted(source), { v }));
  expect(refused.code).toBe("keys.notEncodable");
  expect(refused.message).toContain(sentence);
  expect(renderTemplate(own(source), { v })).toBe(`${v}$-`);
  expect(readTemplate(own(source), `${v}$-`)).toEqual({ v });
  expect(readTemplate(own(source), "mark$-")).toBeUndefined();
  expect(readTemplate(own(source), `${v}$-$-`)).toBeUndefined();
});

test("an unescaped negative number meets its delimiter", () => {
  expect(failure(() => renderTemplate(adopted("N-{n:plain}", "-"), { n: -5 })).code).toBe("keys.delimiter");
});

test("a choice of formats takes a safe bigint as the number it reads back as", () => {
  expect(renderTemplate(own("{v:6|text}"), { v: 42n })).toBe("000042");
  expect(renderTemplate(own("{v:number|text}"), { v: 10n ** 20n })).toBe(renderTemplate(own("{v:number|text}"), { v: 1e20 }));
});

test("a prefix ends behind the delimiter and names the first unknown field", () => {
  const template = own("TEACHER#{teacher}#CLASS#{class}");
  const simon = renderPrefix(template, { teacher: "SIMON" });
  expect(simon).toEqual({ text: "TEACHER#SIMON#CLASS#", complete: false, next: "class", used: ["teacher"] });
  expect(renderTemplate(template, { teacher: "SIMONE", class: "MATH" })?.startsWith(simon.text)).toBe(false);
  expect(renderPrefix(own("TEACHER#{teacher}#{class}"), { teacher: "SIMON" }).text).toBe("TEACHER#SIMON#");
});

test("a prefix of nothing is the leading literal", () => {
  const nothing = { text: "TEACHER#", complete: false, next: "teacher", used: [] };
  expect(renderPrefix(own("TEACHER#{teacher}#CLASS#{class}"), {})).toEqual(nothing);
  expect(renderPrefix(own("TEACHER#{teacher}#CLASS#{class}"), { class: "MATH" })).toEqual(nothing);
});

test("a prefix of everything is the key", () => {
  const whole = { text: "HOME#USA#CA", complete: true, next: undefined, used: ["country", "state"] };
  expect(renderPrefix(own("HOME#{country}#{state}"), { country: "USA", state: "CA" })).toEqual(whole);
});

test("a prefix refuses what a key refuses", () => {
  expect(failure(() => renderPrefix(own("A#{a}#{b}"), { a: "" })).code).toBe("keys.empty");
});
