import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, node, type SentRequest } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

// A number is read as `number` or, beyond 2^53, as `bigint`.
const number = z.union([z.number(), z.bigint()]);

const open = async () => {
  const sent: SentRequest[] = [];
  const graph = defineGraph({
    table: engine.freshTableName("numbers"),
    nodes: {
      box: node({
        key: "BOX#{id}",
        schema: z.object({ id: z.string(), sorted: number.optional(), plain: number.optional(), sizes: z.set(number).optional() }),
      }),
    },
    indexes: { bySorted: { entries: { box: { by: "sorted:number", sparse: true } } } },
  });
  const db = graph.connect({ transport: engine.transport, onRequest: (request) => sent.push(request) });
  await db.table.create();
  return { db, sent };
};

const expressionOf = ({ input }: SentRequest): unknown => (input as { readonly UpdateExpression: string }).UpdateExpression;

test.each([
  [0.1, 0.2, 0.3],
  [2 ** 53 - 1, 2, 2n ** 53n + 1n],
  [undefined, 10n ** 20n + 1n, 10n ** 20n + 1n],
])("%s and %s are %s, whether an index sorts by the attribute or not", async (before, delta, sum) => {
  const { db, sent } = await open();
  await db.box.create({ id: "a", sorted: before, plain: before }).orThrow();
  sent.length = 0;
  await db.box.update({ id: "a" }, { add: { sorted: delta } }).orThrow();
  await db.box.update({ id: "a" }, { add: { plain: delta } }).orThrow();
  expect(sent.map(({ operation }) => operation)).toEqual(["GetItem", "UpdateItem", "UpdateItem"]);
  // A key is computed from the sum, which takes a read; where no key holds it, DynamoDB adds.
  expect(sent.slice(1).map(expressionOf)).toEqual([expect.stringMatching(/^SET /), expect.stringMatching(/^ADD /)]);
  expect(await db.box.get({ id: "a" })).toEqual({ id: "a", sorted: sum, plain: sum });
  expect(await db.find("box").where({ sorted: sum }).count()).toBe(1);
});

test("a set may hold small and large numbers, as they are read, and go into another table", async () => {
  const [{ db, sent }, other] = [await open(), await open()];
  const sizes = new Set([1, 1n, 2n ** 60n, 0.5]);
  await db.box.put({ id: "a", sizes }).orThrow();
  const item = (sent.at(-1)!.input as { Item: { sizes: unknown } }).Item;
  expect(item.sizes).toEqual({ NS: ["1", "1152921504606846976", "0.5"] });
  await db.box.update({ id: "a" }, { add: { sizes: new Set([7n, 2n ** 61n, 0.25]) } }).orThrow();
  const all = new Set([1, 2n ** 60n, 0.5, 7, 2n ** 61n, 0.25]);
  expect(await db.box.get({ id: "a" })).toEqual({ id: "a", sizes: all });
  expect(await other.db.load(db.scan())).toMatchObject({ failed: 0 });
  expect(await other.db.box.get({ id: "a" })).toEqual({ id: "a", sizes: all });
});

test.each([Number.NaN, Number.POSITIVE_INFINITY])("%s is nothing to add, whether an index sorts by the attribute or not", async (delta) => {
  const { db, sent } = await open();
  sent.length = 0;
  for (const add of [{ sorted: delta }, { plain: delta }]) {
    await expect(async () => db.box.update({ id: "a" }, { add })).rejects.toMatchObject({
      code: "plan.invalidOption",
      message: expect.stringContaining(`\`add\` takes a number or a Set for "${Object.keys(add)[0]}"`),
    });
  }
  expect(sent).toEqual([]);
});
