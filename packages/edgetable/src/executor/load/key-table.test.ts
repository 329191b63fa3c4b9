import { expect, test } from "vitest";
import { hashText } from "../../util/hash-text.ts";
import { KeyTable } from "./key-table.ts";

test("a key is known again, with the row and content that made it last", () => {
  const table = new KeyTable();
  expect(table.note("a", 0, 7)).toBeUndefined();
  expect(table.note("b", 1, 7)).toBeUndefined();
  expect(table.note("a", 2, 8)).toEqual({ row: 0, content: 7 });
  expect(table.note("a", 3, 9)).toEqual({ row: 2, content: 8 });
  expect(table.size).toBe(2);
});

test("a hundred thousand keys that differ in little are all told apart, through every growth", () => {
  const table = new KeyTable();
  const keys = Array.from({ length: 100_000 }, (_, at) => `[{"S":"STUDENT#${at}"},{"S":"#"}]`);
  const first = keys.filter((key, row) => table.note(key, row, 0) !== undefined);
  expect(first).toEqual([]);
  const wrong = keys.filter((key, row) => table.note(key, row, 0)?.row !== row);
  expect(wrong).toEqual([]);
  expect(table.size).toBe(100_000);
});

test("both halves of a hash depend on the whole text", () => {
  const texts = ["", "a", "b", "ab", "ba", "aa", "a ", " a", "ä", "😀"];
  for (const half of [0, 1]) expect(new Set(texts.map((text) => hashText(text)[half])).size).toBe(texts.length);
});
