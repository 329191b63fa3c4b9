import { expect, test } from "vitest";
import { comparePrimary, parseTemplate, readTemplate, renderTemplate } from "./template.ts";

const total = Number(process.env["EDGETABLE_IDS"] ?? 1_000_000);
const alphabet = ["\0", " ", "!", '"', "#", "$", "%", "0", "A", "S", "T", "a", "|", "\u007f", "é", "\uffff", "😀", "\u{10ffff}"];

// mulberry32: a few nanoseconds a draw, where fast-check takes microseconds.
const drawer = (seed: number) => (): number => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return (mixed ^ (mixed >>> 14)) >>> 0;
};

test("a million hostile pairs of ids stay apart, in order and readable", { timeout: 600_000 }, () => {
  const draw = drawer(Number(process.env["EDGETABLE_SEED"] ?? 20_240_331));
  const template = parseTemplate("A#{a}#{b}", { delimiter: "#", escapes: true });
  const id = (): string => {
    let result = "";
    for (let left = 2 + (draw() % 5); left > 0; left--) result += alphabet[draw() % alphabet.length];
    return result;
  };
  const keys = new Set<string>();
  const tuples = new Set<string>();
  let faults = 0;
  let last = { a: "a", b: "a" };
  let lastKey = renderTemplate(template, last) ?? "";
  for (let count = 0; count < total; count++) {
    const row = { a: draw() % 4 === 0 ? last.a : id(), b: id() };
    const key = renderTemplate(template, row) ?? "";
    const read = readTemplate(template, key);
    const order = comparePrimary(row.a, last.a) || comparePrimary(row.b, last.b);
    if (read?.["a"] !== row.a || read["b"] !== row.b || Math.sign(comparePrimary(key, lastKey)) !== Math.sign(order)) faults++;
    keys.add(key);
    tuples.add(`${row.a.length}:${row.a}${row.b}`);
    last = row;
    lastKey = key;
  }
  expect(faults).toBe(0);
  expect(keys.size).toBe(tuples.size);
  expect(keys.size).toBeGreaterThan(total * 0.9);
});
