import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { count, defineGraph, edge, node, part, type SentRequest, type WriteExplanation } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const text = z.string();

/** What both kinds of call have that make writes. */
interface Explained {
  explain(): Promise<WriteExplanation>;
  run(): Promise<unknown>;
}

test("what a write reads first is explained as it is sent: one item, several, and the parts that copy from a node", async () => {
  const nodes = {
    shelf: node({
      key: "SHELF#{id}",
      schema: z.object({ id: text, room: text, label: text.optional() }),
      unique: ["label"],
      derived: { books: count({ in: "stands" }) },
    }),
    book: node({ key: "BOOK#{id}", schema: z.object({ id: text, title: text }) }),
  };
  const parts = { note: part({ of: "shelf", key: "NOTE#{at}", schema: z.object({ at: text }), copies: ["room"] }) };
  const stands = edge({ from: "book", to: "shelf", copies: { to: ["room"] }, onDelete: { from: "cascade", to: "cascade" } });
  const sent: SentRequest[] = [];
  const graph = defineGraph({ table: engine.freshTableName("explained-writes"), nodes, parts, edges: { stands } });
  const db = graph.connect({ transport: engine.transport, onRequest: (request) => void sent.push(request) });
  await db.table.create();
  const calls: readonly (readonly [string, () => Explained])[] = [
    ["Query", () => db.shelf.create({ id: "A", room: "east" })],
    ["Query,Query", () => db.transact([db.shelf.create({ id: "B", room: "east" }), db.shelf.create({ id: "C", room: "west" })])],
    ["GetItem", () => db.shelf.update({ id: "A" }, { label: "first" })],
    ["BatchGetItem", () => db.transact([db.shelf.update({ id: "A" }, { label: "1" }), db.shelf.update({ id: "B" }, { label: "2" })])],
    ["BatchGetItem", () => db.shelf.put({ id: "A", room: "north" })],
  ];
  for (const [operations, call] of calls) {
    sent.length = 0;
    const { requests, cost, notes } = await call().explain();
    expect(sent).toEqual([]);
    await call().run();
    const first = sent.slice(0, requests.length);
    expect(requests.map(({ operation }) => operation).join()).toBe(operations);
    expect(first.map(({ operation, input }) => ({ operation, input }))).toEqual(
      requests.map(({ operation, input }) => ({ operation, input })),
    );
    expect(cost.requests).toBe(requests.length);
    // DynamoDB Local does not count what is not there.
    if (engine.name === "dynoxide") expect(cost.readUnits).toBe(first.reduce((units, one) => units + one.readUnits, 0));
    if (operations === "Query")
      expect(notes[0]).toBe('reads each "note" of the "shelf" first: what was copied onto each "note" changes with it');
  }
});

test("a deletion of a node with parts is explained with what the node itself is read for: its key, its unique values", async () => {
  const nodes = {
    order: node({ key: "ORDER#{id}", schema: z.object({ id: text, at: text }) }),
    login: node({ key: "LOGIN#{id}", schema: z.object({ id: text, email: text }), unique: ["email"] }),
    plain: node({ key: "PLAIN#{id}", schema: z.object({ id: text }) }),
  };
  const parts = {
    line: part({ of: "order", key: "LINE#{n}", schema: z.object({ n: text }) }),
    session: part({ of: "login", key: "SESSION#{n}", schema: z.object({ n: text }) }),
    note: part({ of: "plain", key: "NOTE#{n}", schema: z.object({ n: text }) }),
  };
  const layout = { partitionKey: "PK", sortKey: "SK", nodes: { order: { keys: { SK: "AT#{at}" } } } };
  const sent: SentRequest[] = [];
  const graph = defineGraph({ table: engine.freshTableName("explained-deletions"), nodes, parts, layout });
  const db = graph.connect({ transport: engine.transport, onRequest: (request) => void sent.push(request) });
  await db.table.create();
  await db.order.create({ id: "1", at: "2026" }).orThrow();
  await db.line.create({ id: "1" }, { n: "1" }).orThrow();
  await db.login.create({ id: "1", email: "a" }).orThrow();
  await db.session.create({ id: "1" }, { n: "1" }).orThrow();
  await db.plain.create({ id: "1" }).orThrow();
  await db.note.create({ id: "1" }, { n: "1" }).orThrow();
  const calls: readonly (readonly [string, () => Explained])[] = [
    ["Query,Query", () => db.order.delete({ id: "1" })],
    ["Query,GetItem", () => db.login.delete({ id: "1" })],
    ["Query", () => db.plain.delete({ id: "1" })],
  ];
  for (const [operations, call] of calls) {
    sent.length = 0;
    const { requests, cost, notes } = await call().explain();
    await call().run();
    expect(sent.map(({ operation }) => operation).join()).toBe(`${operations},TransactWriteItems`);
    expect(requests.map(({ operation }) => operation).join()).toBe(operations);
    expect(cost.requests).toBe(requests.length);
    expect(notes.some((note) => note.startsWith("reads "))).toBe(operations.includes(","));
  }
});
