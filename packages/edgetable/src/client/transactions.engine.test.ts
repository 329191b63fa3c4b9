import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, isEdgetableError, node, part, type SentRequest } from "../index.ts";

const user = node({ key: "USER#{id}", schema: z.object({ id: z.string(), state: z.string(), limit: z.int().optional() }), version: true });
const order = node({ key: "ORDER#{id}", schema: z.object({ id: z.string(), total: z.int() }) });
const line = part({ of: "order", key: "LINE#{n:4}", schema: z.object({ n: z.int(), sku: z.string() }) });
const placed = edge({ from: "user", to: "order" });

let engine: TestEngine;
const sent: SentRequest[] = [];
const open = async () => {
  const table = engine.freshTableName("transactions");
  const graph = defineGraph({ table, nodes: { user, order }, edges: { placed }, parts: { line } });
  const db = graph.connect({ transport: engine.transport, onRequest: (request) => void sent.push(request) });
  await db.table.create();
  return { db, table };
};
let lab: Awaited<ReturnType<typeof open>>;
beforeAll(async () => {
  engine = await openEngine();
  lab = await open();
  await lab.db.user.create({ id: "ann", state: "active", limit: 100 }).orThrow();
});
afterAll(() => engine.close());
beforeEach(() => void (sent.length = 0));

const inputs = () =>
  sent.map(({ operation, input }) => ({ operation, input: JSON.parse(JSON.stringify(input)) as Record<string, unknown> }));

test("a check in a transaction writes nothing and decides over the rest", async () => {
  const { db, table } = lab;
  const make = (state: string, id: string) =>
    db.transact([db.user.check({ id: "ann" }, { if: { state } }), db.order.create({ id, total: 5 })], { token: `order-${id}` });
  const explained = await make("active", "o1").explain();
  const outcome = await make("active", "o1");
  expect(inputs()).toEqual([
    {
      operation: "TransactWriteItems",
      input: {
        TransactItems: [
          {
            ConditionCheck: {
              TableName: table,
              Key: { pk: { S: "USER#ann" }, sk: { S: "#" } },
              ConditionExpression: "attribute_exists(pk) AND #0 = :0",
              ExpressionAttributeNames: { "#0": "state" },
              ExpressionAttributeValues: { ":0": { S: "active" } },
              ReturnValuesOnConditionCheckFailure: "ALL_OLD",
            },
          },
          {
            Put: {
              TableName: table,
              Item: { pk: { S: "ORDER#o1" }, sk: { S: "#" }, type: { S: "order" }, total: { N: "5" } },
              ConditionExpression: "attribute_not_exists(pk)",
              ReturnValuesOnConditionCheckFailure: "ALL_OLD",
            },
          },
        ],
        ClientRequestToken: "order-o1",
        ReturnConsumedCapacity: "TOTAL",
      },
    },
  ]);
  expect(JSON.parse(JSON.stringify(explained.requests[0]?.input))).toEqual(inputs()[0]?.input);
  expect(explained.cost).toEqual({ requests: 1, readUnits: 0, writeUnits: 4 });
  expect(outcome).toMatchObject({ ok: true, outcomes: [{ ok: true }, { ok: true, row: { id: "o1", total: 5 } }] });

  const refused = await make("blocked", "o2");
  expect(refused).toMatchObject({
    ok: false,
    outcomes: [
      { ok: false, reason: "conditionFailed", current: { id: "ann", state: "active" } },
      { ok: false, reason: "rolledBack" },
    ],
  });
  expect(await db.order({ id: "o2" }).get()).toBeUndefined();
  expect(await db.user({ id: "ann" }).get()).toMatchObject({ version: 1 });
});

test("checks of what is not there, of a version and of parts", async () => {
  const { db } = lab;
  await db.order.create({ id: "parts", total: 1 }).orThrow();
  await db.line.create({ id: "parts" }, { n: 1, sku: "a" }).orThrow();
  const put = (id: string) => db.order.put({ id, total: 1 });
  const reasonOf = async (check: ReturnType<typeof db.user.check> | ReturnType<typeof db.line.check>, id: string) =>
    (await db.transact([check, put(id)])).outcomes[0].reason;
  expect(await reasonOf(db.user.check({ id: "nobody" }), "x1")).toBe("notFound");
  expect(await reasonOf(db.user.check({ id: "ann" }), "x2")).toBeUndefined();
  expect(await reasonOf(db.user.check({ id: "ann" }, { exists: false }), "x3")).toBe("exists");
  expect(await reasonOf(db.user.check({ id: "nobody" }, { exists: false }), "x4")).toBeUndefined();
  expect(await reasonOf(db.user.check({ id: "ann" }, { ifVersion: 7 }), "x5")).toBe("versionConflict");
  expect(await reasonOf(db.user.check({ id: "ann" }, { ifVersion: 1 }), "x6")).toBeUndefined();
  expect(await reasonOf(db.line.check({ id: "parts" }, { n: 1 }, { if: { sku: "b" } }), "x7")).toBe("conditionFailed");
  expect(await reasonOf(db.line.check({ id: "parts" }, { n: 1 }, { if: { sku: "a" } }), "x8")).toBeUndefined();
  const there = await db.order.getMany(["x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8"].map((id) => ({ id })));
  expect(there.map((row) => row?.id)).toEqual([undefined, "x2", undefined, "x4", undefined, "x6", undefined, "x8"]);
});

test("a check alone is a transaction of one, and one beside a link of the same node joins its check", async () => {
  const { db } = lab;
  expect(await db.user.check({ id: "ann" }, { if: { limit: { gte: 50 } } })).toMatchObject({
    ok: true,
    atomic: { kind: "transaction", items: 1 },
  });
  expect((await db.user.check({ id: "ann" }).explain()).notes).toEqual([
    "a check alone is a transaction of one, for twice the write units",
  ]);
  await expect(db.user.check({ id: "ann" }, { if: { limit: 1 } }).orThrow()).rejects.toThrow(
    'The check of "user" {"id":"ann"} did not happen: conditionFailed.',
  );
  sent.length = 0;
  await db.order.create({ id: "linked", total: 1 }).orThrow();
  const link = db.transact([db.user.check({ id: "ann" }, { if: { state: "active" } }), db.placed.link({ id: "ann" }, { id: "linked" })]);
  expect(await link).toMatchObject({ ok: true, atomic: { items: 3 } });
});

test("misuse is refused", async () => {
  const { db } = lab;
  const check = db.user.check as (id: unknown, options?: unknown) => never;
  expect(() => check({ id: "ann" }, { exists: false, if: { state: "a" } })).toThrow("A check that there is none takes no `if`");
  expect(() => check({ id: "ann" }, { idempotent: true })).toThrow('There is no option "idempotent"');
  expect(() => check({ id: "ann" }, { if: { sate: "a" } })).toThrow('Did you mean "state"?');
  await expect(db.transact([db.user.check({ id: "ann" }), db.user.update({ id: "ann" }, { limit: 1 })])).rejects.toThrow(
    "calls 1 and 2 both write USER#ann",
  );
  await expect(db.batch([db.user.check({ id: "ann" }) as never])).rejects.toThrow("writes nothing, and a batch checks nothing");
  for (const token of ["", "x".repeat(37), 5])
    expect(() => db.transact([db.order.put({ id: "t", total: 1 })], { token: token as string })).toThrow("1 to 36 characters");
});

test("the same transaction with one token takes effect once, and another one with it is refused", async () => {
  const { db } = lab;
  const add = (total: number) => db.transact([db.order.update({ id: "counted" }, { add: { total } })], { token: "add-to-counted" });
  await db.order.create({ id: "counted", total: 0 }).orThrow();
  expect(await add(3)).toMatchObject({ ok: true });
  expect(await add(3)).toMatchObject({ ok: true });
  expect(await db.order({ id: "counted" }).get({ consistent: true })).toMatchObject({ total: 3 });
  await expect(add(4)).rejects.toMatchObject({ code: "execute.rejected", retryable: false });
  expect(await db.order({ id: "counted" }).get({ consistent: true })).toMatchObject({ total: 3 });
});

test("orThrow gives what was written, and names the calls that failed", async () => {
  const { db } = lab;
  const written = await db.transact([db.order.create({ id: "w1", total: 1 }), db.order.create({ id: "w2", total: 2 })]).orThrow();
  expect(written.outcomes.map(({ row }) => row)).toEqual([
    { id: "w1", total: 1 },
    { id: "w2", total: 2 },
  ]);
  const again = db.transact([
    db.order.create({ id: "w3", total: 1 }),
    db.order.create({ id: "w1", total: 1 }),
    db.order.update({ id: "no" }, { total: 1 }),
  ]);
  const error: unknown = await again.orThrow().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(isEdgetableError(error, "execute.notWritten") && error.message).toBe(
    'The transaction did not happen: call 2, the create of "order" {"id":"w1"}: exists; call 3, the update of "order" {"id":"no"}: notFound.',
  );
  expect(isEdgetableError(error) && error.details["outcomes"]).toMatchObject([
    { reason: "rolledBack" },
    { reason: "exists", current: { id: "w1" } },
    { reason: "notFound" },
  ]);
});

test("two writes of one item that is not there are refused, also where one of them reads the item first", async () => {
  const schema = z.object({ id: z.string(), mail: z.string(), at: z.string().optional() });
  const since = z.object({ since: z.string() });
  const graph = defineGraph({
    table: engine.freshTableName("twice"),
    nodes: {
      plain: node({ key: "PLAIN#{id}", schema }),
      unique: node({ key: "UNIQUE#{id}", schema, unique: ["mail"] }),
      whole: node({ key: "WHOLE#{id}", schema, validate: "row" }),
      held: node({ key: "HELD#{id}", schema }),
    },
    parts: { line: part({ of: "held", key: "LINE#{n:4}", schema: z.object({ n: z.int(), sku: z.string() }), validate: "row" }) },
    edges: {
      knows: edge({ from: "held", to: "held", symmetric: true, schema: since, validate: "row", ends: "unchecked" }),
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const row = { id: "x", mail: "m" };
  const [x, y] = [{ id: "x" }, { id: "y" }];
  const pairs = () =>
    (["plain", "unique", "whole"] as const)
      .flatMap((name) => [
        [db[name].create(row), db[name].update(x, { mail: "n" })],
        [db[name].create(row), db[name].delete(x)],
        [db[name].put(row), db[name].update(x, { mail: "n" })],
        [db[name].upsert(row, { mail: "n" }), db[name].update(x, { mail: "n" })],
      ])
      .concat([
        [db.line.create(x, { n: 1, sku: "s" }), db.line.update(x, { n: 1 }, { sku: "t" })],
        [db.knows.link(x, y, { since: "1" }), db.knows.relink(x, y, { since: "2" })],
        [db.knows.link(x, y, { since: "1" }), db.knows.relink(y, x, { since: "2" })],
      ] as never);
  for (const at of pairs().keys()) {
    for (const turned of [false, true]) {
      const pair = pairs()[at]!;
      const calls = [db.plain.create({ id: "other", mail: "o" }), ...(turned ? pair.toReversed() : pair)];
      const refused = await db.transact(calls).catch((error: unknown) => error);
      expect([at, turned, isEdgetableError(refused, "plan.unsupported") && refused.message]).toEqual([
        at,
        turned,
        expect.stringMatching(/^A transaction writes an item once: calls 2 and 3 both write /),
      ]);
    }
  }
  const other = await db.transact([db.unique.create(row), db.unique.update(y, { mail: "n" })]);
  expect(other).toMatchObject({ ok: false, outcomes: [{ reason: "rolledBack" }, { reason: "notFound" }] });
});
