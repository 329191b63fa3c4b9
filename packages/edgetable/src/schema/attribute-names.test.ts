import { type } from "arktype";
import * as v from "valibot";
import { expect, test } from "vitest";
import { z } from "zod";
import { attributeNames, type AnySchema } from "./standard-schema.ts";

test.each<[string, AnySchema]>([
  ["zod", z.object({ a: z.string(), b: z.number().optional() })],
  ["zod strict", z.strictObject({ a: z.string(), b: z.number() })],
  ["valibot", v.object({ a: v.string(), b: v.optional(v.number()) })],
  ["arktype", type({ a: "string", "b?": "number" })],
])("%s tells its attributes", (_, schema) => {
  expect(attributeNames(schema)?.toSorted()).toEqual(["a", "b"]);
});

test.each<[string, AnySchema]>([
  ["zod's looseObject", z.looseObject({ a: z.string() })],
  ["zod's catchall", z.object({ a: z.string() }).catchall(z.number())],
  ["valibot's looseObject", v.looseObject({ a: v.string() })],
  ["valibot's objectWithRest", v.objectWithRest({ a: v.string() }, v.number())],
  ["a union", z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])],
])("%s keeps unknown attributes, so its list stays open", (_, schema) => {
  expect(attributeNames(schema)).toBeUndefined();
});
