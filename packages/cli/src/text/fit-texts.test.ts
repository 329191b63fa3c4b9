import { type } from "arktype";
import * as v from "valibot";
import { expect, test } from "vitest";
import { z } from "zod";
import { createFitter, isoDate } from "./fit-texts.ts";

const texts = { name: "12", age: "12", big: "12", active: "TRUE", at: "2024-01-01", tags: '["a"]', none: "null", odd: "x" };
const fitted = { name: "12", age: 12, big: 12n, active: true, at: new Date("2024-01-01"), tags: ["a"], none: null, odd: "x" };

test.each([
  [
    "zod",
    z.object({
      name: z.string(),
      age: z.number(),
      big: z.bigint(),
      active: z.boolean(),
      at: z.date(),
      tags: z.array(z.string()),
      none: z.null(),
      odd: z.number(),
    }),
  ],
  [
    "valibot",
    v.object({
      name: v.string(),
      age: v.number(),
      big: v.bigint(),
      active: v.boolean(),
      at: v.date(),
      tags: v.array(v.string()),
      none: v.null(),
      odd: v.number(),
    }),
  ],
  [
    "arktype",
    type({ name: "string", age: "number", big: "bigint", active: "boolean", at: "Date", tags: "string[]", none: "null", odd: "number" }),
  ],
])("texts take the types that a %s schema wants, the second row as the first", async (_, schema) => {
  const fit = createFitter(schema);
  expect(await fit(texts, "all")).toEqual(fitted);
  expect(await fit(texts, "all")).toEqual(fitted);
});

test("the type of a column in the first row does not bind later rows", async () => {
  const fit = createFitter(z.object({ value: z.union([z.number(), z.boolean()]) }));
  expect(await fit({ value: "1" }, "all")).toEqual({ value: 1 });
  expect(await fit({ value: "true" }, "all")).toEqual({ value: true });
  expect(await fit({ value: "x" }, "all")).toEqual({ value: "x" });
});

test("in JSON only dates are texts", async () => {
  const fit = createFitter(z.object({ age: z.number(), at: z.date() }));
  expect(await fit({ age: "12", at: "2024-01-01" }, "dates")).toEqual({ age: "12", at: new Date("2024-01-01") });
});

test("missing attributes and given values are left alone", async () => {
  expect(await createFitter(z.object({ a: z.number(), b: z.number() }))({ a: "1", c: "2" }, new Set(["c"]))).toEqual({ a: "1", c: "2" });
});

test("a bigint becomes a number if the schema wants a number, which is stored with the same digits", async () => {
  const fit = createFitter(
    z.object({
      number: z.number(),
      bigint: z.bigint(),
      inexact: z.number(),
      shorter: z.number(),
      deep: z.object({ of: z.array(z.number()) }),
    }),
  );
  const row = { number: 10n ** 21n, bigint: 10n ** 21n, inexact: 2n ** 60n + 1n, shorter: 2n ** 60n, deep: { of: [10n ** 21n, 1] } };
  expect(await fit(row, "dates")).toEqual({ ...row, number: 1e21, deep: { of: [1e21, 1] } });
});

test("an impossible day is not a date, in any file format", async () => {
  const fit = createFitter(z.object({ at: z.date() }));
  for (const at of ["2024-02-30", "2023-02-29T10:00:00Z", "2024-04-31", "2024-13-01", "2024-00-10"])
    for (const texts of ["all", "dates"] as const) expect(await fit({ at }, texts)).toEqual({ at });
  for (const at of ["2024-02-29", "2024-02-29T23:30:00-05:00", "0001-01-01"])
    expect(await fit({ at }, "all")).toEqual({ at: new Date(at) });
});

test.each([
  ["2024-02-29", "2024-02-29T00:00:00.000Z"],
  ["2024-05-06T07:08:09Z", "2024-05-06T07:08:09.000Z"],
  ["2024-05-06T23:00:00-05:00", "2024-05-07T04:00:00.000Z"],
])("%s is a date", (text, date) => {
  expect(isoDate(text)?.toISOString()).toBe(date);
});

// A time without its zone would be another moment on another machine.
const zoneless = ["2024-05-06T07:08", "2024-05-06T07:08:09", "2024-05-06T07:08:09.123"];

test.each([
  ...zoneless,
  "",
  "6",
  "sometime",
  "2024",
  "2024-02-30",
  "2023-02-29",
  "2024-13-01",
  "2024-00-10",
  "2024-05-06T25:00",
  "06/05/2024",
])("%j is not a date", (text) => {
  expect(isoDate(text)).toBeUndefined();
});

test("whole numbers keep all their digits, also where the schema takes numbers", async () => {
  const schema = z.object({ n: z.number(), big: z.bigint(), list: z.array(z.number()), any: z.any() });
  const fit = createFitter(schema);
  const digits = "9007199254740993";
  const expected = { n: BigInt(digits), big: BigInt(digits), list: [1, BigInt(digits)], any: digits };
  for (const _ of ["first row", "second row"])
    expect(await fit({ n: digits, big: digits, list: `[1,${digits}]`, any: digits }, "all")).toEqual(expected);
  expect(await fit({ n: "9007199254740992", big: "5", list: "[]", any: "" }, "all")).toMatchObject({ n: 2 ** 53, big: 5n, list: [] });
  expect(await fit({ n: "9".repeat(400) }, "all")).toEqual({ n: "9".repeat(400) });
});

test("a list stands for a set where the schema takes sets, and the forms of a dump are read", async () => {
  const fit = createFitter(z.object({ tags: z.set(z.string()), ids: z.set(z.bigint()), bytes: z.instanceof(Uint8Array) }));
  const expected = { tags: new Set(["a", "b"]), ids: new Set([5n]), bytes: new Uint8Array([0, 255]) };
  const cells = { tags: '["a","b"]', ids: '{"$set":[{"$bigint":"5"}]}', bytes: '{"$bytes":"AP8="}' };
  for (const _ of ["first row", "second row"]) expect(await fit(cells, "all")).toEqual(expected);
  expect(await fit({ ...expected, tags: ["a", "b", "a"] }, "dates")).toEqual(expected);
});
