import { expect, test } from "vitest";
import { comparePrimary, decodeNumber, decodeShard, encodeNumber, encodeShard } from "./value-text.ts";

const textOf = (value: number | bigint): string => encodeNumber(value) as string;

const ascending = [
  -Number.MAX_VALUE,
  -1e300,
  -(10n ** 38n - 1n),
  -(2n ** 64n),
  -(2 ** 53),
  -1e10,
  -42.001,
  -42,
  -41.9,
  -10,
  -9,
  -4.2,
  -4,
  -1,
  -0.5,
  -1e-10,
  -Number.MIN_VALUE,
  0,
  Number.MIN_VALUE,
  2.2250738585072014e-308,
  1e-10,
  0.1,
  0.3,
  0.1 + 0.2,
  0.5,
  1,
  4,
  4.2,
  9,
  10,
  41.9,
  42,
  42.001,
  420,
  Number.MAX_SAFE_INTEGER,
  2 ** 53,
  9007199254740993n,
  2n ** 64n,
  10n ** 38n - 1n,
  1e300,
  Number.MAX_VALUE,
];

test("numbers and bigints sort by value", () => {
  const texts = ascending.map((value) => textOf(value));
  expect(texts.toSorted(comparePrimary)).toEqual(texts);
  expect(new Set(texts).size).toBe(texts.length);
});

test.each(ascending)("%s reads back", (value) => {
  expect(decodeNumber(textOf(value))).toBe(value);
});

test("the text is of letters and digits only, which no dialect escapes", () => {
  for (const value of ascending) expect(encodeNumber(value)).toMatch(/^[a-z0-9]+$/);
});

test.each([
  [0, "o"],
  [-0, "o"],
  [0n, "o"],
  [42, "p50142"],
  [42n, "p50142"],
  [-42, "n49857z"],
  [0.5, "p4995"],
  [5e-324, "p1765"],
  [1.7976931348623157e308, "p80817976931348623157"],
])("%s is written as %s, for good", (value, text) => {
  expect(encodeNumber(value)).toBe(text);
});

test("one decimal has one text, whichever type it comes in", () => {
  expect(encodeNumber(2 ** 60)).toBe(encodeNumber(1152921504606847000n));
  expect(encodeNumber(2 ** 60)).not.toBe(encodeNumber(2n ** 60n));
  expect(decodeNumber(textOf(2n ** 60n))).toBe(2n ** 60n);
});

// What DynamoDB holds: 38 significant digits, magnitudes from 1e-130 to 9.99e125. Whole numbers beyond 2^53 are read as bigint.
const digits = 12345678901234567890123456789012345678n;
const storable = [
  -(digits * 10n ** 88n),
  -(10n ** 125n),
  -(10n ** 38n),
  -1e-130,
  1e-130,
  10n ** 21n,
  10n ** 37n,
  digits,
  10n ** 38n,
  10n ** 38n + 10n ** 10n,
  digits * 10n,
  10n ** 100n,
  10n ** 125n,
  digits * 10n ** 88n,
];

test("every number that DynamoDB holds has a text of its own, in order, and reads back", () => {
  const texts = storable.map(textOf);
  expect(texts.toSorted(comparePrimary)).toEqual(texts);
  expect(new Set(texts).size).toBe(texts.length);
  for (const value of storable) {
    const back = decodeNumber(textOf(value))!;
    expect(textOf(back)).toBe(textOf(value));
    expect(typeof value === "bigint" ? Number(back) : back).toBe(Number(value));
  }
  expect(decodeNumber(textOf(digits * 10n))).toBe(digits * 10n);
});

test.each([10n ** 38n + 1n, 10n ** 126n, digits * 10n ** 89n])("%s is refused: DynamoDB does not hold it", (value) => {
  expect(encodeNumber(value)).toMatchObject({ code: "keys.notEncodable" });
  expect(decodeNumber(`p${500 + String(value).length - 1}${String(value).replace(/0+$/, "")}`)).not.toBe(value);
});

// Stored keys depend on these: a change here is a change of every sharded table.
test.each([
  ["John Doe", 16, "15"],
  ["1", 16, "15"],
  ["é", 1000, "943"],
  ["語", 1000, "243"],
  ["😀", 1000, "642"],
  [7, 10, "8"],
  [true, 10, "7"],
  [new Date(0), 10, "3"],
])("the shard of %o among %i is %s, for good", (value, count, shard) => {
  expect(encodeShard(value, count)).toBe(shard);
});

test("equal numbers share a shard, whatever their type", () => {
  expect(encodeShard(5n, 64)).toBe(encodeShard(5, 64));
});

test("one shard holds everything", () => {
  expect(encodeShard("anything", 1)).toBe("0");
});

test("a shard's text is its plain number, so that it is the same among more", () => {
  expect(decodeShard("7", 101)).toBe(7);
  expect(decodeShard("007", 101)).toBeUndefined();
  expect(decodeShard("101", 101)).toBeUndefined();
});

test.each([7, 10, 16, 64])("sequential ids spread evenly over %i shards", (count) => {
  const sizes = new Map<unknown, number>();
  const each = 1000;
  for (let id = 0; id < count * each; id++) {
    const shard = encodeShard(`S${id}`, count);
    sizes.set(shard, (sizes.get(shard) ?? 0) + 1);
  }
  expect(sizes.size).toBe(count);
  // Five standard deviations of a fair draw.
  for (const size of sizes.values()) expect(Math.abs(size - each)).toBeLessThan(5 * Math.sqrt(each));
});
