import { type } from "arktype";
import * as v from "valibot";
import { expect, test } from "vitest";
import { z } from "zod";
import * as mini from "zod/mini";
import { attributeSchemas, type AnySchema } from "./standard-schema.ts";

test.each<[string, AnySchema]>([
  ["zod", z.object({ a: z.string(), b: z.number().optional() })],
  ["zod/mini", mini.object({ a: mini.string(), b: mini.optional(mini.number()) })],
  ["valibot", v.object({ a: v.string(), b: v.optional(v.number()) })],
  ["arktype", type({ a: "string", "b?": "number" })],
])("%s tells the schema of each attribute", (_, schema) => {
  const each = attributeSchemas(schema)?.each ?? {};
  expect(Object.keys(each).toSorted()).toEqual(["a", "b"]);
  expect(each["a"]?.["~standard"].validate("text")).toEqual(expect.objectContaining({ value: "text" }));
});

test.each<[string, AnySchema]>([
  ["zod's refine", z.object({ a: z.string() }).refine(({ a }) => a !== "")],
  ["zod/mini's check", mini.object({ a: mini.string() }).check(mini.refine(() => true))],
  [
    "valibot's pipe",
    v.pipe(
      v.object({ a: v.string() }),
      v.check(({ a }) => a !== ""),
    ),
  ],
  ["arktype", type({ a: "string" })],
])("%s has the row checked as a whole", (_, schema) => {
  expect(attributeSchemas(schema)?.ofRow).toBe(true);
});

test("a transform of the row tells no attribute's schema", () => {
  expect(attributeSchemas(z.object({ a: z.string() }).transform(({ a }) => ({ a })))).toBeUndefined();
});
