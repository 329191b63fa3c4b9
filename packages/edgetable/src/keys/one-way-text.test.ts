import { expect, test } from "vitest";
import {
  decodeKeyField,
  encodeKeyPrefix,
  isOneWay,
  keepsOrder,
  parseTemplate,
  readTemplate,
  renderTemplate,
  templateMatches,
  templatesOverlap,
} from "./template.ts";

const index = (source: string) => parseTemplate(source, { delimiter: "#", escapes: false });
const tableKey = (source: string) => parseTemplate(source, { delimiter: "#", escapes: false, reserves: true });

test("a field in lower or upper case is written, and never read back", () => {
  const template = tableKey("$app#team_{team:lower}#ID#{id:upper}");
  expect(renderTemplate(template, { team: "Web Apps", id: "01hx" })).toBe("$app#team_web apps#ID#01HX");
  expect(template).toMatchObject({ fields: ["team", "id"], carried: [] });
  expect(readTemplate(template, "$app#team_web apps#ID#01HX")).toEqual({});
  // A text in another case is no key of the template.
  expect(templateMatches(template, "$app#team_Web#ID#01HX")).toBe(false);
  expect(templateMatches(template, "$app#team_web#ID#01hx")).toBe(false);
  expect(decodeKeyField(template, "team", "web")).toBe("web");
  expect(keepsOrder(index("{team:lower}"), "team")).toBe(false);
  expect(template.parts.filter((part) => part.kind === "field" && isOneWay(part.format))).toHaveLength(2);
});

test("numbers and booleans are written as JavaScript writes them", () => {
  const template = index("n_{n:written}#b_{b:lower}");
  expect(renderTemplate(template, { n: 7.5, b: true })).toBe("n_7.5#b_true");
  expect(renderTemplate(template, { n: -2n, b: "X" })).toBe("n_-2#b_x");
  expect(() => renderTemplate(template, { n: Number.NaN, b: true })).toThrow(expect.objectContaining({ code: "keys.wrongType" }));
  expect(() => renderTemplate(template, { n: new Date(0), b: true })).toThrow(expect.objectContaining({ code: "keys.wrongType" }));
});

test("an index key from which nothing is read takes the delimiter and empty texts; a key of the table does not", () => {
  const [loose, strict] = [index("a_{a:lower}#b_{b:written}"), tableKey("a_{a:lower}#b_{b:written}")];
  expect(renderTemplate(loose, { a: "X#b_y", b: "" })).toBe("a_x#b_y#b_");
  expect(() => renderTemplate(strict, { a: "X#Y", b: "1" })).toThrow(expect.objectContaining({ code: "keys.delimiter" }));
  expect(() => renderTemplate(strict, { a: "X", b: "" })).toThrow(expect.objectContaining({ code: "keys.empty" }));
  // Beside a field that is read back, it would end that field.
  expect(() => renderTemplate(index("a_{a:lower}#{b}"), { a: "X#Y", b: "1" })).toThrow(expect.objectContaining({ code: "keys.delimiter" }));
  // Alone it would be no key at all.
  expect(() => renderTemplate(index("{a:lower}"), { a: "" })).toThrow(expect.objectContaining({ code: "keys.empty" }));
  expect(templatesOverlap(loose, index("a_{a:lower}#b_{b:written}#c_{c}"))).toBe(true);
});

test("the prefix of a value is a prefix of its key in every case", () => {
  const template = index("a_{a:lower}");
  // The last sigma of a word has a form of its own in lower case.
  for (const value of ["ΑΣΑ", "ΑΣ", "ΣΣ", "İstanbul", "ẞx", "A.Σ"])
    for (let end = 0; end <= value.length; end++)
      expect(value.toLowerCase().startsWith(encodeKeyPrefix(template, "a", value.slice(0, end))), value.slice(0, end)).toBe(true);
});

test.each([
  ["{a:6|lower}", '"6|lower" offers "lower" as a choice, which cannot be read back to tell it from the others.'],
  ["{a:lowr}", '"lowr" is not a format. Did you mean "lower"?'],
])("%s is refused", (source, message) => {
  expect(() => index(source)).toThrow(message);
});

test("Edgetable's own layout takes no such format", () => {
  expect(() => parseTemplate("A#{a:lower}", { delimiter: "#", escapes: true })).toThrow(
    '"lower" is a format of a layout of your own: Edgetable\'s layout reads every value back from its key.',
  );
});

test("a number of fixed width may be written alone", () => {
  const template = index("ISSUE#{n:written(6)}");
  expect(renderTemplate(template, { n: 42 })).toBe("ISSUE#000042");
  expect(template).toMatchObject({ fields: ["n"], carried: [] });
  expect(readTemplate(template, "ISSUE#000042")).toEqual({});
  expect(templateMatches(template, "ISSUE#42")).toBe(false);
  expect(() => renderTemplate(template, { n: 1_000_000 })).toThrow("has more than 6 digits");
  expect(templatesOverlap(template, index("ISSUE#{n:8}"))).toBe(false);
  expect(() => index("{n:written(17)}")).toThrow("the width 17 is not between 1 and 16");
});
