import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { attributeKind } from "./attribute-kind.ts";
import { misfit, type PathChange, validatePaths } from "./check-operands.ts";
import { type AnySchema, attributeSchemas } from "./standard-schema.ts";

const { each: ofArktype = {} } = attributeSchemas(type({ a: "unknown[] | string", c: "object", d: "Date", e: "string.trim" })) ?? {};

test("a tuple tells no schema of its elements", () => {
  const schema = attributeSchemas(type({ a: ["string", "number"] }))?.each["a"] as AnySchema;
  expect(attributeKind(schema)).toEqual({ type: "array", whole: false, element: undefined });
});

describe("operands of `add` and `append`", () => {
  test.each<[string, AnySchema]>([
    ["zod's union", z.union([z.string(), z.number(), z.array(z.string())])],
    ["zod's transform", z.string().transform(Number)],
    ["zod's catch", z.string().catch("")],
    ["zod's tuple", z.tuple([z.string()]).rest(z.string())],
    ["zod's any", z.any()],
    ["valibot's union", v.union([v.string(), v.number()])],
    ["valibot's transform", v.pipe(v.string(), v.transform(Number))],
    ["valibot's transform within", v.optional(v.pipe(v.string(), v.transform(Number)))],
    ["valibot's tuple", v.tuple([v.string()])],
    ...Object.entries(ofArktype).map(([name, schema]): [string, AnySchema] => [`arktype's ${name}`, schema]),
  ])("may fit where the type is not known: %s", (_, schema) => {
    const kind = attributeKind(schema) ?? { type: "unknown", whole: false, element: undefined };
    for (const operand of [1.5, 1n, new Set(["a"]), ["a", 1]]) expect(misfit(kind, operand)).toBeUndefined();
    expect(kind.element).toBeUndefined();
  });

  test.each<[string, AnySchema, boolean]>([
    ["zod's int", z.int(), true],
    ["zod's number().int()", z.number().int().min(3), true],
    ["zod's int32", z.int32(), true],
    ["zod's float32", z.float32(), false],
    ["zod's multiple of 2", z.number().multipleOf(2), true],
    ["zod's multiple of a half", z.number().multipleOf(0.5), false],
    ["zod's default", z.int().default(1).readonly(), true],
    ["valibot's safe integer", v.pipe(v.number(), v.safeInteger()), true],
    ["valibot's brand", v.pipe(v.number(), v.integer(), v.brand("Points")), true],
    ["valibot's number", v.number(), false],
  ])("are whole where the schema says so: %s", (_, schema, whole) => {
    const kind = attributeKind(schema);
    expect(kind).toMatchObject({ type: "number", whole });
    expect(misfit(kind!, 0.25) === undefined).toBe(!whole);
    expect(misfit(kind!, -1000)).toBeUndefined();
  });
});

describe("a change of an entry of a record", () => {
  const schemas: readonly (readonly [string, AnySchema])[] = [
    ["zod", z.object({ r: z.record(z.string(), z.number()).optional(), o: z.object({ a: z.number().optional(), b: z.number() }) })],
    ["valibot", v.object({ r: v.optional(v.record(v.string(), v.number())), o: v.object({ a: v.optional(v.number()), b: v.number() }) })],
    ["arktype", type({ "r?": { "[string]": "number" }, o: { "a?": "number", b: "number" } })],
  ];
  const change = async (schema: AnySchema, verb: PathChange["verb"], path: string, value?: unknown): Promise<unknown> =>
    validatePaths(schema, [{ verb, path, steps: path.split(".") as [string, ...string[]], ...(value !== undefined && { value }) }], '"x"');

  test.each(schemas)("%s: any entry can be set, added to and removed", async (_library, schema) => {
    expect(await change(schema, "remove", "r.a")).toMatchObject([{ verb: "remove", path: "r.a" }]);
    expect(await change(schema, "set", "r.a", 1)).toMatchObject([{ verb: "set", value: 1 }]);
    expect(await change(schema, "add", "r.a", 1)).toMatchObject([{ verb: "add", value: 1 }]);
    await expect(change(schema, "set", "r.a", "1")).rejects.toThrow('"r.a"');
  });

  test.each(schemas)("%s: of an object, only what is optional can be removed", async (_library, schema) => {
    expect(await change(schema, "remove", "o.a")).toMatchObject([{ verb: "remove", path: "o.a" }]);
    await expect(change(schema, "remove", "o.b")).rejects.toThrow('"o.b"');
    await expect(change(schema, "remove", "o.c")).rejects.toThrow("there is no such member");
  });

  test("an entry that a record requires stays", async () => {
    const keys = z.enum(["a", "b"]);
    await expect(change(z.object({ r: z.record(keys, z.number()) }), "remove", "r.a")).rejects.toThrow('"r.a"');
    expect(await change(z.object({ r: z.partialRecord(keys, z.number()) }), "remove", "r.a")).toMatchObject([{ verb: "remove" }]);
  });
});
