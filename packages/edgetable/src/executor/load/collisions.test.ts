import { expect, test } from "vitest";
import { contentHash } from "./collisions.ts";

test("the content of an item is told from any other, whatever the order of its attributes", () => {
  expect(contentHash({ a: { S: "x" }, b: { N: "1" } })).toBe(contentHash({ b: { N: "1" }, a: { S: "x" } }));
  const items = [
    {},
    { a: { S: "x" } },
    { b: { S: "x" } },
    { a: { S: "y" } },
    { a: { N: "1" } },
    { a: { S: "1" } },
    { a: { S: "x" }, b: { S: "y" } },
    { a: { S: "y" }, b: { S: "x" } },
    { ab: { S: "c" } },
    { a: { S: "bc" } },
    { a: { L: [{ S: "x" }, { S: "y" }] } },
    { a: { L: [{ S: "y" }, { S: "x" }] } },
    { a: { M: {} } },
    { a: { NULL: true as const } },
    { a: { BOOL: true } },
    { a: { BOOL: false } },
  ];
  expect(new Set(items.map(contentHash)).size).toBe(items.length);
});
