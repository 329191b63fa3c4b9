import { type } from "arktype";
import * as v from "valibot";
import { expect, test } from "vitest";
import { z } from "zod";
import { node } from "../index.ts";
import { attributeReader } from "./csv-cells.ts";

const faultOf = async (schema: object, text: string): Promise<unknown> =>
  attributeReader(node({ key: "N#{id}", schema: schema as never }))("a", text);

test.each([
  ["zod", z.object({ id: z.string(), a: z.number().min(5) }), "3", />=5/],
  ["zod", z.object({ id: z.string(), a: z.number().min(5) }), "x", /expected number/],
  ["zod", z.object({ id: z.string(), a: z.string().max(2) }), "123", /<=2/],
  ["zod", z.object({ id: z.string(), a: z.union([z.number().min(5), z.string().max(2)]) }), "345x", /Invalid input|<=2/],
  ["zod", z.object({ id: z.string(), a: z.date().min(new Date("2024-01-01")) }), "2023-05-06", /expected date to be >=/],
  ["zod", z.object({ id: z.string(), a: z.date() }), "2023-05-06T07:08:09", /expected date/],
  ["valibot", v.object({ id: v.string(), a: v.pipe(v.number(), v.minValue(5)) }), "3", />=5/],
  ["valibot", v.object({ id: v.string(), a: v.pipe(v.string(), v.maxLength(2)) }), "123", /<=2/],
  ["arktype", type({ id: "string", a: "number >= 5" }), "3", /at least 5/],
])("the fault of a cell is that of its value in the type that the schema takes: %s %#", async (_, schema, text, fault) => {
  expect(await faultOf(schema, text)).toEqual({ fault: expect.stringMatching(fault) });
});

test("a cell that fits is read, whatever it was read as before", async () => {
  const read = attributeReader(node({ key: "N#{id}", schema: z.object({ id: z.string(), a: z.union([z.number(), z.boolean()]) }) }));
  expect(await read("a", "3")).toMatchObject({ value: 3 });
  expect(await read("a", "true")).toMatchObject({ value: true });
  const day = attributeReader(node({ key: "N#{id}", schema: z.object({ id: z.string(), a: z.date() }) }));
  for (const text of ["2023-05-06", "2023-05-06T07:08:09Z", "2023-05-06T07:08:09.123+02:00", "2023-05-06T07:08:09+0200"])
    expect(await day("a", text)).toMatchObject({ value: new Date(text) });
});
