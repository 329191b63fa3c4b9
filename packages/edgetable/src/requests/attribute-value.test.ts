import { expect, test } from "vitest";
import { encodeDate, encodeValue } from "./attribute-value.ts";

test.each([
  [new Date(0), '"at" is a Date, which DynamoDB cannot store. Declare the attribute in `dates`, or store ISO 8601 text.'],
  [Number.NaN, '"at" is the number NaN, which DynamoDB cannot store. Convert it, or leave the attribute out.'],
  [1e126, '"at" is the number 1e+126, which DynamoDB cannot store. Convert it, or leave the attribute out.'],
  [-1e300, '"at" is the number -1e+300, which DynamoDB cannot store. Convert it, or leave the attribute out.'],
  [9e-131, '"at" is the number 9e-131, which DynamoDB cannot store. Convert it, or leave the attribute out.'],
  [new Set([1, 5e-324]), '"at" is the number 5e-324, which DynamoDB cannot store. Convert it, or leave the attribute out.'],
  [10n ** 38n + 1n, `"at" is the number 1${"0".repeat(37)}1, which DynamoDB cannot store. Convert it, or leave the attribute out.`],
  [10n ** 126n, `"at" is the number 1${"0".repeat(126)}, which DynamoDB cannot store. Convert it, or leave the attribute out.`],
  [new Set([1, Number.NaN]), '"at" is the number NaN, which DynamoDB cannot store. Convert it, or leave the attribute out.'],
  // oxlint-disable-next-line no-sparse-arrays -- what a deletion from a list leaves
  [[1, , 3], '"at[1]" is undefined, which DynamoDB cannot store. Convert it, or leave the attribute out.'],
  [new Set(), '"at" is an empty set, which DynamoDB cannot store. Leave the attribute out.'],
  [new Set([1, "a"]), '"at" is a set of mixed types, which DynamoDB cannot store. Store a list, or members of one type.'],
  [new Set([true]), '"at" is a set of something else than text, numbers or bytes, which DynamoDB cannot store. Store a list.'],
  [new Map(), '"at" is an instance of Map, which DynamoDB cannot store. Convert it, or leave the attribute out.'],
  [
    JSON.parse('{"__proto__":1}'),
    '"at.__proto__" is an object\'s prototype to JavaScript, which DynamoDB cannot store. Convert it, or leave the attribute out.',
  ],
  ["\ud800", '"at" is text with half of a surrogate pair, which DynamoDB cannot store. Repair it with its toWellFormed().'],
  [
    new Set(["a", "x\udc00"]),
    '"at" is text with half of a surrogate pair, which DynamoDB cannot store. Repair it with its toWellFormed().',
  ],
  [{ "\ud83d": 1 }, '"at" is text with half of a surrogate pair, which DynamoDB cannot store. Repair it with its toWellFormed().'],
  [() => 1, '"at" is a function, which DynamoDB cannot store. Convert it, or leave the attribute out.'],
])("%o is refused with what to do", (value, message) => {
  expect(() => encodeValue(value, "at")).toThrow(expect.objectContaining({ code: "request.unsupportedValue", message }));
});

const nested = (levels: number): unknown => (levels === 1 ? 1 : levels % 2 === 0 ? { in: nested(levels - 1) } : [nested(levels - 1)]);

test("32 levels are the most, the attribute itself being the first", () => {
  expect(() => encodeValue(nested(32), "at")).not.toThrow();
  expect(() => encodeValue(nested(33), "at")).toThrow(
    /^"at\[0\]\.in\[0\].* is nested more than 32 levels deep, .* Convert it, or leave the attribute out\.$/,
  );
});

test.each([
  [new Date(Number.NaN), '"at" is an invalid Date. Give a valid Date.'],
  [new Date(8.64e15), '"at" is outside the years 0000 to 9999. Give a Date within these years.'],
])("of declared dates %o is refused", (value, message) => {
  expect(() => encodeDate(value, "at")).toThrow(expect.objectContaining({ code: "request.unsupportedValue", message }));
});

test.each([
  [new Set([1, 2n ** 60n, 1n]), { NS: ["1", "1152921504606846976"] }],
  [new Set([Uint8Array.of(7), Uint8Array.of(7)]), { BS: ["Bw=="] }],
])("%o is written without what DynamoDB would find twice in it", (value, written) => {
  expect(encodeValue(value, "at")).toEqual(written);
});

test.each([0, -0, 1e-130, -1e-130, 9.9e125, 10n ** 38n - 1n, -(10n ** 125n), 123n * 10n ** 120n])(
  "the number %s is the last or the first that DynamoDB stores, or near",
  (value) => {
    expect(encodeValue(value, "at")).toEqual({ N: String(value) });
  },
);
