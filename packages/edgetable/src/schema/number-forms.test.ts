import { type } from "arktype";
import * as v from "valibot";
import { expect, test } from "vitest";
import { z } from "zod";
import { validateChanges, validateRow } from "./check-values.ts";
import type { AnySchema } from "./standard-schema.ts";

const BIG = 2n ** 53n + 1n;
const EXACT = 1152921504606847000n;

test.each<readonly [string, AnySchema]>([
  ["zod", z.object({ n: z.number(), b: z.bigint(), list: z.array(z.number()), within: z.object({ n: z.number() }) })],
  ["valibot", v.object({ n: v.number(), b: v.bigint(), list: v.array(v.number()), within: v.object({ n: v.number() }) })],
  ["arktype", type({ n: "number", b: "bigint", list: "number[]", within: { n: "number" } })],
])("%s takes numbers in the form in which reads return them, and keeps all digits", async (_vendor, schema) => {
  const row = { n: BIG, b: 5, list: [1, BIG], within: { n: -BIG } };
  expect(await validateRow(schema, row, "row")).toEqual(row);
  expect(await validateChanges(schema, { n: BIG }, "row")).toEqual({ n: BIG });
  expect(await validateChanges(schema, { n: BIG, list: [BIG, 2] }, "row")).toEqual({ n: BIG, list: [BIG, 2] });
  // What reads never return is refused as before.
  await expect(async () => validateRow(schema, { ...row, n: 5n }, "row")).rejects.toMatchObject({ code: "schema.invalidValue" });
  await expect(async () => validateRow(schema, { ...row, b: 2 ** 60 }, "row")).rejects.toMatchObject({ code: "schema.invalidValue" });
  await expect(async () => validateRow(schema, { ...row, within: { n: "1" } }, "row")).rejects.toMatchObject({
    code: "schema.invalidValue",
  });
});

test.each<readonly [string, z.ZodType, unknown, unknown]>([
  ["a set of numbers", z.set(z.number()), new Set([1, BIG, BIG - 1n]), new Set([1, BIG, BIG - 1n])],
  ["a set of bigints", z.set(z.bigint()), new Set([1, BIG]), new Set([1, BIG])],
  ["a pair", z.tuple([z.number(), z.bigint()]), [BIG, 3], [BIG, 3]],
  ["a union of objects", z.union([z.object({ n: z.number() }), z.string()]), { n: BIG }, { n: BIG }],
  [
    "a record beside a trimmed text",
    z.object({ of: z.record(z.string(), z.number()), t: z.string().trim() }),
    { of: { a: BIG }, t: " x " },
    { of: { a: BIG }, t: "x" },
  ],
  ["an asynchronous schema", z.number().refine(async (n) => n > 0), BIG, BIG],
  ["a change of an exact number", z.number().transform((n) => n / 2), EXACT, 2 ** 59],
  ["a change of an exact power of ten", z.number().transform((n) => n * 10), 10n ** 30n, 1e31],
  ["null or a number", z.number().nullable(), BIG, BIG],
])("%s: numbers beyond 2^53 keep their digits", async (_what, n, given, output) => {
  expect(await validateRow(z.object({ n }), { n: given }, "row")).toEqual({ n: output });
});

test.each<readonly [string, z.ZodType, unknown]>([
  ["a change of a number that had to be rounded", z.number().transform((n) => n / 2), BIG],
  ["a change of the whole around it", z.object({ a: z.number() }).transform(({ a }) => a), { a: BIG }],
  ["a safe integer", z.int(), BIG],
  ["a rule", z.number().max(10), BIG],
  ["a text", z.string(), BIG],
  ["a text, of a small number", z.string(), 5],
])("%s is refused, with the issues of the given value", async (_what, n, given) => {
  const schema = z.object({ n });
  const { issues } = await z.safeParseAsync(schema, { n: given }).then(({ error }) => error!);
  const findings = issues.map(({ path, message }) => ({ path: path.join("."), message }));
  await expect(async () => validateRow(schema, { n: given }, "row")).rejects.toMatchObject({
    code: "schema.invalidValue",
    details: { issues: findings },
  });
});
