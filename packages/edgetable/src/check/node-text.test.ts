import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, node } from "../index.ts";
import { nodeText, readNodeText } from "./index.ts";

const text = z.string();
const graph = defineGraph({
  table: "Places",
  nodes: {
    place: node({ key: "PLACE#{country}#{city}", schema: z.object({ country: text, city: text }) }),
    term: node({ key: "TERM#{year:4}", schema: z.object({ year: z.int() }) }),
  },
});
const seed = process.env["EDGETABLE_SEED"];

test("a node's text is read back, whatever its id holds", () => {
  const value = fc.oneof(
    fc.string(),
    fc.constantFrom("\ud800", "a/b", "=1", "100 %", "école", "\u0000"),
    fc.integer(),
    fc.bigInt({ min: 2n ** 60n }),
    fc.boolean(),
    fc.date({ noInvalidDate: true }),
  );
  fc.assert(
    fc.property(value, value, (country, city) => {
      const id = { country, city };
      expect(readNodeText(graph, nodeText("place", ["country", "city"], id))).toEqual({ type: "place", id });
    }),
    { numRuns: 100, ...(seed === undefined ? {} : { seed: Number(seed) }) },
  );
});

test("what names no node of the model is none, and does not throw", () => {
  const texts = [
    "",
    "place",
    "place:PT",
    "place:PT/Porto/1",
    "town:PT/Porto",
    "__proto__:1",
    "constructor:1",
    "term:%",
    'term:="',
    "Place:PT/Porto",
  ];
  expect(texts.map((one) => readNodeText(graph.catalog, one))).toEqual(texts.map(() => undefined));
});
