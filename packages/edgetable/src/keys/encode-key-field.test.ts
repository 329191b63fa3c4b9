import { expect, test } from "vitest";
import { isEdgetableError } from "../errors/edgetable-error.ts";
import { decodeKeyField, encodeKeyField, encodeKeyPrefix } from "./render-template.ts";
import { parseTemplate } from "./parse-template.ts";

const template = parseTemplate("P#{parent}#{value:number|text}", { delimiter: "#", escapes: true });

test("the bound of a range is the field's own text", () => {
  expect(encodeKeyField(template, "value", 42)).toBe("p50142");
  expect(encodeKeyField(template, "parent", "a#b")).toBe("a$Sb");
});

test("the beginning of a text is the beginning of its key text", () => {
  expect(encodeKeyField(template, "parent", "a# b").startsWith(encodeKeyField(template, "parent", "a#"))).toBe(true);
});

test("a text that reads as a number begins others as the text that it is", () => {
  expect(encodeKeyField(template, "value", "o")).toBe("o$-");
  expect(encodeKeyPrefix(template, "value", "o")).toBe("o");
  expect(encodeKeyPrefix(template, "parent", "a#")).toBe("a$S");
});

test("an empty text is a bound below every other", () => {
  expect(encodeKeyField(template, "parent", "")).toBe("");
  expect(decodeKeyField(template, "parent", "")).toBe("");
});

test("a field's text never holds the delimiter", () => {
  expect(decodeKeyField(template, "parent", "a#b")).toBeUndefined();
});

test("a field that the template does not have is our own fault", () => {
  let caught: unknown;
  try {
    encodeKeyField(template, "elsewhere", 1);
  } catch (error) {
    caught = error;
  }
  expect(isEdgetableError(caught, "invariant")).toBe(true);
});

test("a long value is shown in part", () => {
  const number = parseTemplate("{n:number}", { delimiter: "#", escapes: true });
  expect(() => encodeKeyField(number, "n", "x".repeat(5000))).toThrow(`"${"x".repeat(80)}…"`);
});

test("a text of digits or of letters is no other text", () => {
  const ids = parseTemplate("{order:digits}#{customer:letters}", { delimiter: "#", escapes: false });
  expect(encodeKeyField(ids, "order", "007")).toBe("007");
  expect(decodeKeyField(ids, "order", "007")).toBe("007");
  expect(decodeKeyField(ids, "order", "A7")).toBeUndefined();
  expect(() => encodeKeyField(ids, "order", "٣")).toThrow("does not consist of digits, 0 to 9");
  expect(() => encodeKeyField(ids, "customer", "Å")).toThrow("does not consist of letters, A to Z and a to z");
  expect(() => encodeKeyField(ids, "order", 7)).toThrow("is not a text");
});
