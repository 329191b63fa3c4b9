import { expect, test } from "vitest";
import { keepsOrder } from "./compare-templates.ts";
import { parseTemplate } from "./parse-template.ts";

test.each([
  ["A#{x}#{y}", "x", true],
  ["A#{x:number}#{y}", "x", true],
  ["A#{x:6|text}#{y}", "x", true],
  ["A#{x:plain}", "x", false],
  ["{x:digits}#{y:letters}", "x", true],
  ["A#{x:plain|text}", "x", false],
  ["A#{x:shard(4)}#{y}", "x", false],
  ["A#{x}", "unknown", false],
])("with escapes, %s sorts by %s: %s", (source, path, kept) => {
  expect(keepsOrder(parseTemplate(source, { delimiter: "#", escapes: true }), path)).toBe(kept);
});

test.each([
  ["A|{x}", "x", true],
  ["A|{x}|{y}", "x", false],
  ["A|{x:number}|{y}", "x", false],
  ["A|{x:6}|{y}", "x", true],
  ["A|{x:date}|{y}", "x", true],
  ["A|{x:boolean}|{y}", "x", true],
  ["A|{x:6|text}|{y}", "x", false],
])("in an adopted layout, %s sorts by %s: %s", (source, path, kept) => {
  expect(keepsOrder(parseTemplate(source, { delimiter: "|", escapes: false }), path)).toBe(kept);
});
