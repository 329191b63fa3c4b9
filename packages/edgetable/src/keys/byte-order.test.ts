import { expect, test } from "vitest";
import { comparePrimary, keyBytes } from "./value-text.ts";

const samples = [
  "",
  "\0",
  "A",
  "a",
  "a#",
  "aa",
  "B#1",
  "root",
  "METADATA",
  "\u007f",
  "é",
  "\u07ff",
  "\u0800",
  "\ud7ff",
  "\ue000",
  "\uffff",
  "😀",
  "\u{10ffff}",
  "a😀",
  "a\uffff",
];

test("keys compare as the bytes of their UTF-8 do", () => {
  for (const a of samples) {
    for (const b of samples) expect(Math.sign(comparePrimary(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
  }
});

test("an emoji sorts above U+FFFF, unlike in UTF-16", () => {
  expect(["\uffff", "😀"].toSorted()).toEqual(["😀", "\uffff"]);
  expect(comparePrimary("😀", "\uffff")).toBeGreaterThan(0);
});

test("the length of a key is its length in UTF-8", () => {
  for (const sample of samples) expect(keyBytes(sample)).toBe(Buffer.byteLength(sample));
});
