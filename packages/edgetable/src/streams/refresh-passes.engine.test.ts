import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { count, defineGraph, edge, node, sum, summarize } from "../index.ts";
import { verify } from "../verify/index.ts";
import { refreshFacts } from "./refresh-facts.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const id = z.string();
const onDelete = { from: "cascade", to: "cascade" } as const;

test.each([
  [{ orders: { gte: 2 } }],
  [{ or: [{ note: "x" }, { orders: { gte: 2 } }] }],
  [{ not: { orders: { lt: 2 } } }],
  [{ or: [{ note: "x" }, { not: { or: [{ orders: 1 }] } }] }],
])("one refresh computes what counts edges by their summary: where %j", async (where) => {
  const graph = defineGraph({
    table: engine.freshTableName("where"),
    nodes: {
      customer: node({
        key: "CUSTOMER#{id}",
        schema: z.object({ id }),
        derived: { regular: count({ out: "buys", where: where as never, freshness: "stream" }) },
      }),
      product: node({ key: "PRODUCT#{id}", schema: z.object({ id }) }),
    },
    edges: {
      ordered: edge({ from: "customer", to: "product", schema: z.object({ order: z.string() }), key: ["order"], onDelete }),
      buys: summarize(edge({ from: "customer", to: "product", schema: z.object({ note: id.optional() }), onDelete }), {
        orders: count({ along: "ordered" }),
      }),
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const [ann, tea] = [{ id: "ann" }, { id: "tea" }];
  await db.customer.create(ann).orThrow();
  await db.product.create(tea).orThrow();
  await db.buys.link(ann, tea).orThrow();
  for (const order of ["1", "2"]) await db.ordered.link(ann, tea, { order }).orThrow();
  expect((await refreshFacts(db)).failed).toEqual([]);
  expect(await db.customer.get(ann)).toMatchObject({ regular: 1 });
  expect((await verify(db, { settle: 0, staleAfter: 0 })).kinds).toEqual([]);
});

test("one refresh computes what adds up copies, or counts edges by them", async () => {
  const price = z.number();
  const graph = defineGraph({
    table: engine.freshTableName("copied"),
    nodes: {
      item: node({ key: "ITEM#{id}", schema: z.object({ id, price }) }),
      cart: node({
        key: "CART#{id}",
        schema: z.object({ id }),
        derived: {
          total: sum({ in: "lies", of: "price", freshness: "stream" }),
          dear: count({ in: "lies", where: { not: { price: { lt: 10 } } } as never, freshness: "stream" }),
        },
      }),
    },
    edges: { lies: edge({ from: "item", to: "cart", copies: { from: { price: { of: "price", freshness: "stream" } } } }) },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const [item, cart] = [{ id: "i" }, { id: "c" }];
  await db.item.create({ ...item, price: 1 }).orThrow();
  await db.cart.create(cart).orThrow();
  await db.lies.link(item, cart).orThrow();
  await db.item.update(item, { price: 20 }).orThrow();
  expect((await refreshFacts(db)).failed).toEqual([]);
  expect(await db.cart.get(cart)).toMatchObject({ total: 20, dear: 1 });
  expect((await verify(db, { settle: 0, staleAfter: 0 })).kinds).toEqual([]);
});
