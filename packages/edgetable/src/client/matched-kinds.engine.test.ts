import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { exampleItems, rewriteItem } from "../check/index.ts";
import { defineGraph, node, part, type ItemLayout, type Layout, type SentRequest } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { type Finding, verify } from "../verify/index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();
const layoutOf = (more: Partial<Layout>): Layout => ({
  partitionKey: "PK",
  sortKey: "SK",
  indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
  ...more,
});

/** Invoices and notes lie under keys of one form, without a type attribute: their numbers tell them apart. */
const graphIn = (table: string, match: Readonly<Record<"invoice" | "note" | "draft", ItemLayout["match"]>> = MATCH) =>
  defineGraph({
    table,
    nodes: { account: node({ key: "ACCOUNT#{id}", schema: z.object({ id: text }) }) },
    parts: {
      invoice: part({ of: "account", key: "DOC#{at}", schema: z.object({ at: text, number: text, total: z.number() }) }),
      note: part({ of: "account", key: "DOC#{at}", schema: z.object({ at: text, number: text, reason: text }) }),
      draft: part({ of: "account", key: "DOC#{at}", schema: z.object({ at: text, number: text.optional() }) }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { byDay: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      parts: {
        invoice: {
          keys: { GSI1PK: "DOCS#{id}", GSI1SK: "{number}" },
          attributes: { number: "No" },
          verbatim: ["number"],
          match: match.invoice!,
        },
        note: { attributes: { number: "No" }, match: match.note! },
        draft: { attributes: { number: "No" }, match: match.draft! },
      },
    },
  });
const MATCH = {
  invoice: { number: { beginsWith: "INV-" } },
  note: { number: { beginsWith: "NOTE-" } },
  draft: { number: { exists: false } },
} as const;

const ann = { id: "ann" };

test("kinds that an attribute tells apart never meet each other's items", async () => {
  const table = engine.freshTableName("matched");
  const sent: SentRequest[] = [];
  const graph = graphIn(table);
  const db = graph.connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
  await db.table.create();
  await db.account.create(ann).orThrow();
  await db.invoice.create(ann, { at: "1", number: "INV-1", total: 5 }).orThrow();
  await db.note.create(ann, { at: "2", number: "NOTE-1", reason: "late" }).orThrow();
  await db.draft.create(ann, { at: "3" }).orThrow();

  // Reads.
  const invoice = { ...ann, at: "1", number: "INV-1", total: 5 };
  expect(await db.note.get(ann, { at: "1" })).toBeUndefined();
  expect(await db.invoice.getMany(ann, [{ at: "1" }, { at: "2" }, { at: "3" }])).toEqual([invoice, undefined, undefined]);
  expect(await db.invoice.getMany(ann, [{ at: "1" }, { at: "2" }], { select: ["total"] })).toEqual([{ total: 5 }, undefined]);
  expect(await db.account(ann).parts("invoice").all()).toEqual([invoice]);
  expect(await db.account(ann).parts("draft").count()).toBe(1);
  expect(await db.account(ann).collection()).toMatchObject({
    parts: { invoice: [{ at: "1" }], note: [{ at: "2" }], draft: [{ at: "3" }] },
  });
  expect(await db.find("invoice").where(ann).rows()).toEqual([invoice]);

  // Writes of another kind are refused, and change nothing.
  const exists = { ok: false, reason: "exists" };
  const notFound = { ok: false, reason: "notFound" };
  expect(await db.note.put(ann, { at: "1", number: "NOTE-9", reason: "x" })).toMatchObject(exists);
  expect(await db.note.upsert(ann, { at: "1", number: "NOTE-9", reason: "x" }, { reason: "x" })).toMatchObject(exists);
  expect(await db.note.update(ann, { at: "1" }, { reason: "x" })).toMatchObject(notFound);
  expect(await db.draft.delete(ann, { at: "1" })).toMatchObject(notFound);
  expect(await db.draft.put(ann, { at: "2" })).toMatchObject(exists);
  await expect(db.batch([db.note.put(ann, { at: "4", number: "NOTE-2", reason: "x" })]).run()).rejects.toMatchObject({
    code: "plan.unsupported",
  });
  expect(await db.account(ann).parts("invoice").all()).toEqual([invoice]);

  // Rows and changes by which an item would be of another kind.
  const refused = { code: "schema.invalidValue" };
  await expect(db.invoice.create(ann, { at: "5", number: "NOTE-1", total: 1 }).run()).rejects.toMatchObject(refused);
  await expect(db.invoice.update(ann, { at: "1" }, { number: "NOTE-1" }).run()).rejects.toThrow(
    '"number" of "invoice" has to begin with "INV-", and is "NOTE-1"',
  );
  await expect(db.draft.update(ann, { at: "3" }, { number: "INV-3" }).run()).rejects.toThrow('"number" of "draft" must not be there');

  // Its own writes pass, on condition of the attribute.
  sent.length = 0;
  await db.note.update(ann, { at: "2" }, { number: "NOTE-2" }).orThrow();
  expect(sent.at(-1)?.input).toMatchObject({
    ConditionExpression: "attribute_exists(PK) AND (attribute_not_exists(PK) OR begins_with(#0, :1))",
    ExpressionAttributeValues: { ":1": { S: "NOTE-" } },
  });
  await db.draft.put(ann, { at: "6" }).orThrow();
  expect(sent.at(-1)?.input).toMatchObject({ ConditionExpression: "(attribute_not_exists(PK) OR attribute_not_exists(#0))" });
  await db.invoice.put(ann, { at: "1", number: "INV-2", total: 6 }).orThrow();

  // An item of no kind is a stray, and verify says what fails.
  await engine.transport.send("PutItem", { TableName: table, Item: { PK: { S: "ACCOUNT#ann" }, SK: { S: "DOC#7" }, No: { S: "X-1" } } });
  const found: Finding[] = [];
  await verify(db, { onFinding: (finding) => void found.push(finding) });
  expect(found).toMatchObject([{ kind: "unclaimed", reason: expect.stringMatching(/"No" is "X-1"/) }]);
  for (const item of exampleItems(graph)) expect(rewriteItem(graph, item)).toMatchObject({ differing: [], problem: undefined });
  await engine.transport.send("DeleteItem", { TableName: table, Key: { PK: { S: "ACCOUNT#ann" }, SK: { S: "DOC#7" } } });
  await db.account.delete(ann, { indexLag: 0 }).orThrow();
  expect(await db.account(ann).collection()).toMatchObject({ node: undefined });
});

test("a model whose kinds are not told apart is refused, and so is a match that no item could say", () => {
  const model = (match: Readonly<Record<string, unknown>>) => () => graphIn("Matched", { ...MATCH, ...match } as never);
  expect(model({ note: { number: { beginsWith: "INV-9" } } })).toThrow(/"invoice".*and "note".*can have the same key/s);
  expect(model({ note: { number: ["CN-1", "CN-2"] } })).not.toThrow();
  expect(model({ note: { number: ["INV-1"] } })).toThrow(/can have the same key/);
  expect(model({ note: { numbr: "x" } })).toThrow(/"numbr" is not an attribute of "note".*number/s);
  expect(model({ note: { at: "x" } })).toThrow(/"at" is read from a key.*\{at:digits\}/s);
  expect(model({ note: { number: { like: "x" } } })).toThrow(/give a value, a list of values/);
});

test("ids of digits and ids of letters are of two kinds, without a condition", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("alphabets"),
    nodes: {
      order: node({ key: "{orderId:digits}", schema: z.object({ orderId: text, day: text }) }),
      customer: node({ key: "{customerId:letters}", schema: z.object({ customerId: text, name: text }) }),
    },
    layout: { partitionKey: "PK", sortKey: "SK", nodes: { order: { keys: { SK: "{day}" } }, customer: { keys: { SK: "{name}" } } } },
  });
  const sent: SentRequest[] = [];
  const db = graph.connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
  await db.table.create();
  await db.order.put({ orderId: "10248", day: "1996" }).orThrow();
  await db.customer.put({ customerId: "ALFKI", name: "Ann" }).orThrow();
  expect(sent.at(-1)?.input).not.toHaveProperty("ConditionExpression");
  expect(await db.customer.get({ customerId: "ALFKI" }, { given: { name: "Ann" } })).toEqual({ customerId: "ALFKI", name: "Ann" });
  await expect(db.customer.put({ customerId: "10248", name: "Ben" }).run()).rejects.toThrow("does not consist of letters");
  const rows = [];
  for await (const row of db.scan()) rows.push(row);
  expect(rows).toHaveLength(2);
  expect(await verify(db)).toMatchObject({ clean: true });
});

test("a type attribute may be a set, and a kind may have none", async () => {
  const table = engine.freshTableName("typeset");
  const graph = defineGraph({
    table,
    nodes: {
      user: node({ key: "ACCOUNT#{id}", schema: z.object({ id: text }) }),
      team: node({ key: "ACCOUNT#{id}", schema: z.object({ id: text }) }),
      page: node({ key: "PAGE", schema: z.object({ title: text }) }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      typeAttribute: "kinds",
      types: { kinds: "SS" },
      sharedIds: true,
      nodes: { page: { type: false } },
    },
  });
  const sent: SentRequest[] = [];
  const db = graph.connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
  await db.table.create();
  await db.user.put({ id: "a" }).orThrow();
  expect(sent.at(-1)?.input).toMatchObject({
    Item: { kinds: { SS: ["user"] } },
    ConditionExpression: "(attribute_not_exists(#0) OR #0 = :0)",
    ExpressionAttributeValues: { ":0": { SS: ["user"] } },
  });
  await db.page.put({ title: "Home" }).orThrow();
  expect(sent.at(-1)?.input).toMatchObject({ Item: { PK: { S: "PAGE" }, SK: { S: "PAGE" }, title: { S: "Home" } } });
  expect(await db.team.put({ id: "a" })).toMatchObject({ ok: false, reason: "exists" });
  expect(await db.team.get({ id: "a" })).toBeUndefined();
  expect(await db.user.get({ id: "a" })).toEqual({ id: "a" });
  expect(await db.page.get({})).toEqual({ title: "Home" });
  const both = { PK: { S: "ACCOUNT#b" }, SK: { S: "ACCOUNT#b" }, kinds: { SS: ["user", "team"] } };
  await engine.transport.send("PutItem", { TableName: table, Item: both });
  expect(await verify(db)).toMatchObject({ kinds: [{ kind: "unclaimed", count: 1 }] });
});

test("null is a value to what tells kinds apart, in every read and write", async () => {
  const number = text.nullable().optional();
  const graph = defineGraph({
    table: engine.freshTableName("nullKinds"),
    nodes: { account: node({ key: "ACCOUNT#{id}", schema: z.object({ id: text }) }) },
    parts: {
      invoice: part({ of: "account", key: "DOC#{at}", schema: z.object({ at: text, number, total: z.number().optional() }) }),
      draft: part({ of: "account", key: "DOC#{at}", schema: z.object({ at: text, number, total: z.number().optional() }) }),
    },
    layout: layoutOf({ parts: { invoice: { match: { number: { exists: true } } }, draft: { match: { number: { exists: false } } } } }),
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const ann = { id: "ann" };
  await db.account.create(ann).orThrow();
  await expect(db.draft.create(ann, { at: "1", number: null }).run()).rejects.toMatchObject({ code: "schema.invalidValue" });
  await db.invoice.create(ann, { at: "1", number: null }).orThrow();
  expect(await db.invoice.get(ann, { at: "1" })).toEqual({ ...ann, at: "1", number: null });
  expect(await db.draft.get(ann, { at: "1" })).toBeUndefined();
  expect(await db.draft.put(ann, { at: "1" })).toMatchObject({ ok: false, reason: "exists" });
  expect(await db.draft.update(ann, { at: "1" }, { total: 1 })).toMatchObject({ ok: false, reason: "notFound" });
  expect(await db.invoice.update(ann, { at: "1" }, { total: 1 })).toMatchObject({ ok: true });
  expect(await db.invoice.delete(ann, { at: "1" })).toMatchObject({ ok: true });
});
