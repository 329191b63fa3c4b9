import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { readWhere } from "../ir/condition.ts";
import { node } from "../schema/definition.ts";
import { openWriteLab, type WriteLab } from "../test-support/write-lab.ts";
import { Placeholders } from "./expression.ts";
import { filters } from "./filters.ts";

const { conditionExpression, holds } = filters;

const row = { id: "1", name: "Ann-Lee", place: "b", num: 7, "odd name-ß": "x", tags: ["a"], born: new Date("2020-01-01"), flag: true };
const item = node({
  key: "I|{id}",
  schema: z.object({
    id: z.string(),
    name: z.string(),
    place: z.string(),
    num: z.int(),
    "odd name-ß": z.string(),
    tags: z.array(z.string()),
    born: z.date(),
    flag: z.boolean(),
    other: z.string().optional(),
  }),
  dates: ["born"],
});

let lab: WriteLab;
beforeAll(async () => {
  lab = await openWriteLab({
    table: "Conditions",
    nodes: { item },
    layout: { partitionKey: "PK", sortKey: "SK", delimiter: "|", nodes: { item: { keys: { SK: "N|{name}", Data: "{place}|{num:4}" } } } },
  });
  await lab.node("item").create(row).orThrow();
});
afterAll(() => lab.stop());

const cases: readonly (readonly [string, Readonly<Record<string, NonNullable<unknown>>>])[] = [
  ["#0 = :0", { flag: true }],
  ["#0 <> :0 AND #0 >= :1", { born: { ne: new Date(0), gte: new Date("2019-01-01") } }],
  ["#0 BETWEEN :0 AND :1", { "odd name-ß": { between: ["w", "x"] } }],
  ["#0 IN (:0, :1)", { "odd name-ß": { in: ["q", "x"] } }],
  ["contains(#0, :0)", { tags: { contains: "a" } }],
  ["attribute_not_exists(#0)", { other: { exists: false } }],
  ["SK = :0", { name: "Ann-Lee" }],
  ["SK <> :0", { name: { ne: "Ann" } }],
  ["begins_with(SK, :0)", { name: { beginsWith: "Ann" } }],
  ["SK >= :0", { name: { gte: "Ann" } }],
  ["SK IN (:0, :1)", { name: { in: ["x", "Ann-Lee"] } }],
  ["begins_with(#0, :0)", { place: "b" }],
  ["NOT begins_with(#0, :0)", { place: { ne: "c" } }],
  ["begins_with(#0, :0)", { place: { beginsWith: "b" } }],
  ["attribute_exists(#0)", { num: { exists: true } }],
];

test.each(cases)("%s holds on the engine as it does in memory", async (text, where) => {
  const { conditions, values } = readWhere(where);
  expect(conditionExpression(lab.catalog.nodes["item"]!.shape, { conditions, values }, new Placeholders())).toBe(text);
  expect(conditions.every((condition) => holds(condition, row, values))).toBe(true);
  const outcome = await lab.node("item").update({ id: "1", name: "Ann-Lee" }, { flag: true }, { if: where });
  expect(outcome.ok).toBe(true);
});

test("a comparison that a computed attribute does not allow is refused", () => {
  for (const where of [{ num: 7 }, { place: { gt: "a" } }, { name: { contains: "n" } }]) {
    const conditions = readWhere(where);
    expect(() => conditionExpression(lab.catalog.nodes["item"]!.shape, conditions, new Placeholders())).toThrowError(/computed attribute/);
  }
});

test.each([
  ["(#0 >= :0 AND #0 <= :1)", { "odd name-ß": { between: ["y", "w"] } }],
  ["(NOT (#0 >= :0 AND #0 <= :1))", { not: { "odd name-ß": { between: ["y", "w"] } } }],
  ["(#0 >= :0 AND #0 <= :1)", { born: { between: [new Date("2021-01-01"), new Date("2019-01-01")] } }],
  ["(SK >= :0 AND SK <= :1)", { name: { between: ["B", "A"] } }],
])("no value is between bounds in the wrong order: %s", async (text, where) => {
  const { conditions, values } = readWhere(where);
  const isWithin = "not" in where;
  expect(conditionExpression(lab.catalog.nodes["item"]!.shape, { conditions, values }, new Placeholders())).toBe(text);
  expect(conditions.every((condition) => holds(condition, row, values))).toBe(isWithin);
  const outcome = await lab.node("item").update({ id: "1", name: "Ann-Lee" }, { flag: true }, { if: where });
  expect(outcome).toMatchObject(isWithin ? { ok: true } : { ok: false, reason: "conditionFailed" });
});
