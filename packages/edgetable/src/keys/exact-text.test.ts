import { expect, test } from "vitest";
import { exactText, readExactText, sameValue } from "./value-text.ts";

const dates = [new Date(0), new Date(1), new Date(1).toISOString()];
const numbers = [5, 5n, "5", "5n", 0, -0, 0n, 0.5, 1e21, 10n ** 21n, 2 ** 53, 2n ** 53n, 2n ** 53n + 1n, 10n ** 37n, 1e37, "p5215"];
const texts = ["true", "", "\0", "__proto__", "\u00e9", "e\u0301", '{"~date":1}'];
const values: readonly unknown[] = [...dates, ...numbers, true, ...texts];

test("two values share a text exactly when they are one value to a key", () => {
  for (const a of values) for (const b of values) expect([a, b, exactText(a) === exactText(b)]).toEqual([a, b, sameValue(a, b)]);
});

test("the values of an id come back as a key reads them", () => {
  const id = [new Date(1), 10n ** 37n + 1n, 0.5, "5", true, undefined];
  expect(readExactText(exactText([5n, ...id]))).toEqual([5, ...id]);
});

test("nested values differ by their types too", () => {
  const nested = [
    { a: 5 },
    { a: "5" },
    { a: [5] },
    { a: new Set([5]) },
    { a: { "~set": [5] } },
    { a: new Uint8Array([5]) },
    { a: null },
    {},
  ];
  expect(new Set(nested.map(exactText)).size).toBe(nested.length);
  expect(exactText({ a: undefined })).toBe(exactText({}));
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  expect(exactText(circle)).toContain("deeper");
});
