import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part, type SentRequest } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();

/** Parts and edges of one owner whose sort keys have one form: only the type attribute tells them apart. */
const graphIn = (table: string, sharedIds = true) =>
  defineGraph({
    table,
    nodes: {
      account: node({ key: "ACCOUNT#{id}", schema: z.object({ id: text, name: text.optional() }) }),
      company: node({ key: "ACCOUNT#{id}", schema: z.object({ id: text, seats: z.number().optional() }) }),
    },
    parts: {
      invoice: part({ of: "account", key: "DOC#{number}", schema: z.object({ number: text, total: z.number() }) }),
      receipt: part({ of: "account", key: "DOC#{number}", schema: z.object({ number: text, paid: text }) }),
    },
    edges: {
      follows: edge({ from: "account", to: "account", ends: "unchecked", schema: z.object({ since: text.optional() }) }),
      blocks: edge({ from: "account", to: "account", ends: "unchecked", schema: z.object({ reason: text.optional() }) }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      typeAttribute: "type",
      sharedIds,
      indexes: { reverse: { partitionKey: "SK", sortKey: "PK" } },
      edges: { follows: { keys: { SK: "TO#{to}" } }, blocks: { keys: { SK: "TO#{to}" } } },
    },
  });

const ann = { id: "ann" };
const ben = { id: "ben" };

test("kinds that only the type attribute tells apart never meet each other's items", async () => {
  const sent: SentRequest[] = [];
  const db = graphIn(engine.freshTableName("typed")).connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
  await db.table.create();
  await db.account.create({ ...ann, name: "Ann" }).orThrow();
  await db.invoice.create(ann, { number: "1", total: 5 }).orThrow();
  await db.receipt.create(ann, { number: "2", paid: "cash" }).orThrow();
  await db.follows.link(ann, ben, { since: "2024" }).orThrow();

  // Reads of the other kind find nothing.
  expect(await db.company.get(ann)).toBeUndefined();
  expect(await db.receipt.get(ann, { number: "1" })).toBeUndefined();
  expect(await db.invoice.getMany(ann, [{ number: "1" }, { number: "2" }])).toEqual([{ ...ann, number: "1", total: 5 }, undefined]);
  expect(await db.blocks.get(ann, ben)).toBeUndefined();
  expect(await db.account(ann).parts("receipt").all()).toEqual([{ ...ann, number: "2", paid: "cash" }]);
  expect(await db.account(ann).out("blocks").edges()).toEqual([]);
  expect(await db.account(ben).in("follows").edges()).toEqual([{ from: ann, to: ben, since: "2024" }]);
  expect(await db.account(ben).in("blocks").edges()).toEqual([]);
  expect(await db.account(ann).collection()).toMatchObject({
    parts: { invoice: [{ number: "1" }], receipt: [{ number: "2" }] },
    edges: { follows: [{ since: "2024" }] },
  });

  // Writes of the other kind are refused, and change nothing.
  const exists = { ok: false, reason: "exists" };
  const notFound = { ok: false, reason: "notFound" };
  expect(await db.company.put({ ...ann, seats: 3 })).toMatchObject(exists);
  expect(await db.receipt.put(ann, { number: "1", paid: "card" })).toMatchObject(exists);
  expect(await db.receipt.create(ann, { number: "1", paid: "card" })).toMatchObject(exists);
  expect(await db.receipt.update(ann, { number: "1" }, { paid: "card" })).toMatchObject(notFound);
  expect(await db.receipt.delete(ann, { number: "1" })).toMatchObject(notFound);
  expect(await db.receipt.upsert(ann, { number: "1", paid: "card" }, { paid: "card" })).toMatchObject(exists);
  expect(await db.blocks.link(ann, ben, {})).toMatchObject(exists);
  expect(await db.blocks.put(ann, ben, { reason: "x" })).toMatchObject(exists);
  expect(await db.blocks.relink(ann, ben, { reason: "x" })).toMatchObject(notFound);
  expect(await db.blocks.unlink(ann, ben)).toMatchObject(notFound);
  expect(await db.transact([db.receipt.put(ann, { number: "1", paid: "card" }), db.company.put({ id: "new" })])).toMatchObject({
    ok: false,
  });
  await expect(db.batch([db.receipt.put(ann, { number: "1", paid: "card" })]).run()).rejects.toMatchObject({ code: "plan.unsupported" });
  expect((await db.load([{ part: "receipt", owner: ann, row: { number: "1", paid: "card" } }])).failures).toHaveLength(1);
  expect(await db.company.get({ id: "new" })).toBeUndefined();
  expect(await db.invoice.get(ann, { number: "1" })).toEqual({ ...ann, number: "1", total: 5 });
  expect(await db.follows.get(ann, ben)).toEqual({ from: ann, to: ben, since: "2024" });

  // Its own writes pass, on condition of the type.
  sent.length = 0;
  await db.invoice.update(ann, { number: "1" }, { total: 6 }).orThrow();
  expect(sent.at(-1)?.input).toMatchObject({ ConditionExpression: "attribute_exists(PK) AND (attribute_not_exists(#1) OR #1 = :1)" });
  await db.follows.relink(ann, ben, { since: "2025" }).orThrow();
  await db.follows.unlink(ann, ben).orThrow();
  await db.blocks.link(ann, ben, { reason: "spam" }).orThrow();
  await db.account.delete(ann, { indexLag: 0 }).orThrow();
  expect(await db.account(ann).parts("invoice").all()).toEqual([]);
});

test("without sharedIds such a model is refused, with the mend", () => {
  expect(() => graphIn("Typed", false)).toThrow(/"receipt".* can have the same key.*layout\.sharedIds as "type" tells them apart/s);
});
