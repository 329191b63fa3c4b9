import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { isEdgetableError } from "../errors/edgetable-error.ts";
import { defineGraph, node, part, type SentRequest } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();
const sent: SentRequest[] = [];
const asked = (): readonly unknown[] =>
  sent.map(({ operation, index, input }) => [
    operation,
    index,
    (input as { readonly KeyConditionExpression?: string }).KeyConditionExpression,
  ]);

const codeOf = async (call: () => Promise<unknown>): Promise<string> => {
  try {
    await call();
    return "none";
  } catch (error) {
    return isEdgetableError(error) ? `${error.code}: ${error.message}` : String(error);
  }
};

/** Orders in their customers' partitions, their items each in one of its own, together in an index; and their events by year. */
const openShop = async () => {
  const graph = defineGraph({
    table: engine.freshTableName(),
    nodes: {
      order: node({ key: "ORDER#{customer}#{orderId}", schema: z.object({ customer: text, orderId: text, status: text.optional() }) }),
    },
    parts: {
      item: part({ of: "order", key: "ITEM#{number:3}", schema: z.object({ number: z.int() }) }),
      event: part({ of: "order", key: "EVENT#{at}", schema: z.object({ at: text }) }),
    },
    edges: {},
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      nodes: { order: { keys: { PK: "CUSTOMER#{customer}", SK: "ORDER#{orderId}", GSI1PK: "{key}", GSI1SK: "{key}" } } },
      parts: {
        item: { keys: { PK: "{owner}#ITEM#{number:3}", SK: "{owner}#ITEM#{number:3}", GSI1PK: "{owner}", GSI1SK: "{key}" } },
        event: { keys: { PK: "EVENTS#{customer}", SK: "{orderId}#{at}" } },
      },
    },
  });
  const db = graph.connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
  await db.table.create();
  const of = async (customer: string, orderId: string): Promise<void> => {
    await db.order.create({ customer, orderId }).orThrow();
    for (const number of [1, 2, 3]) await db.item.create({ customer, orderId }, { number }).orThrow();
    await db.event.create({ customer, orderId }, { at: "2024" }).orThrow();
  };
  await of("ann", "7");
  await of("ann", "8");
  sent.length = 0;
  return db;
};

test("parts in partitions of their own are found by the index that has them together, in a range of its keys too", async () => {
  const db = await openShop();
  const mine = { customer: "ann", orderId: "7" };
  const items = db.order(mine).parts("item");
  expect(await items.where({ number: { gte: 2 } }).all()).toEqual([2, 3].map((number) => ({ ...mine, number })));
  expect(await items.count()).toBe(3);
  expect(await db.order(mine).parts("event").consistent().all()).toEqual([{ ...mine, at: "2024" }]);
  expect(asked()).toEqual([
    ["Query", "GSI1", "GSI1PK = :p AND GSI1SK BETWEEN :s AND :t"],
    ["Query", "GSI1", "GSI1PK = :p AND begins_with(GSI1SK, :s)"],
    ["Query", undefined, "PK = :p AND begins_with(SK, :s)"],
  ]);
  expect(await codeOf(async () => items.consistent().explain())).toBe(
    'plan.notConsistent: parts("item") of "order" is answered by an index, and an index cannot be read consistently. Leave out consistent().',
  );
});

test("they go with their node, wherever they lie", async () => {
  const db = await openShop();
  await db.order.delete({ customer: "ann", orderId: "7" }, { indexLag: 0 }).orThrow();
  const rows: unknown[] = [];
  for await (const one of db.scan()) rows.push(one);
  expect(rows).toHaveLength(5);
  expect(rows).not.toContainEqual(expect.objectContaining({ orderId: "7" }));
  expect(JSON.stringify(rows)).not.toContain('"7"');
});

test("what no key finds is refused with what would", async () => {
  const owner = node({ key: "ORDER#{orderId}", schema: z.object({ orderId: text, customer: text, paid: z.boolean().optional() }) });
  const line = part({ of: "order", key: "LINE#{number:3}", schema: z.object({ number: z.int() }) });
  const graph = defineGraph({
    table: engine.freshTableName(),
    nodes: { order: owner },
    parts: { line },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      nodes: { order: { keys: { PK: "CUSTOMER#{customer}", SK: "{key}" } } },
      parts: { line: { keys: { PK: "{owner}#{number:3}", SK: "{key}" } } },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  const one = { orderId: "7" };
  expect(await codeOf(async () => db.order(one).parts("line").explain())).toBe(
    'plan.noIndex: No table or index key can answer parts("line") of "order": none begins with orderId alone, and the table\'s are ORDER#{orderId}#{number:3} / LINE#{number:3}. Give the layout an index that does, or declare "line" as a node.',
  );
  const refused =
    'plan.noIndex: The partition of "order" (CUSTOMER#{customer}) does not follow from its id: it takes {customer} too. Make that part of the node\'s key, give it to get() by { given }, or find the node by an index with db.find("order").';
  for (const call of [() => db.order(one).get(), () => db.order(one).collection()])
    expect(await codeOf(async () => call().explain())).toBe(refused);
  await db.table.create();
  await db.order.create({ ...one, customer: "ann" }).orThrow();
  await expect(db.order.update(one, { paid: true })).rejects.toThrow(refused.slice("plan.noIndex: ".length));
  expect(await db.order(one).get({ given: { customer: "ann" } })).toEqual({ ...one, customer: "ann" });
});
