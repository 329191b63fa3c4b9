import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { count, defineGraph, edge, max, node, part, type Effects, type SentRequest, type Timestamps } from "../index.ts";
import { systemEffects } from "../executor/session.ts";
import { verify } from "../verify/index.ts";

const schema = z.object({ id: z.string(), name: z.string(), note: z.string().optional() });
const open = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({ key: "USER#{id}", schema, timestamps: true }),
      team: node({
        key: "TEAM#{id}",
        schema,
        timestamps: { modified: "updatedAt", as: "milliseconds" },
        version: true,
        derived: { last: max({ in: "joined", of: "modified" }) },
      }),
      plain: node({ key: "PLAIN#{id}", schema }),
    },
    parts: {
      post: part({ of: "user", key: "POST#{n:4}", schema: z.object({ n: z.int(), text: z.string() }), timestamps: { as: "date" } }),
    },
    edges: {
      joined: edge({ from: "user", to: "team", schema: z.object({ role: z.string().optional() }), timestamps: true, orderBy: "created" }),
      likes: edge({
        from: "user",
        to: "user",
        schema: z.object({ why: z.string().optional() }),
        timestamps: { as: "seconds" },
        symmetric: true,
      }),
      rates: edge({
        from: "user",
        to: "team",
        schema: z.object({ term: z.string(), stars: z.int() }),
        key: ["term"],
        stored: "twice",
        sides: { from: ["stars"], to: [] },
        timestamps: true,
      }),
      leads: edge({ from: "user", to: "team", schema: z.object({ role: z.string().optional() }), timestamps: true }),
    },
    indexes: { recent: { entries: { user: { by: ["modified"] } } } },
  });

let engine: TestEngine;
let db: ReturnType<ReturnType<typeof open>["connect"]>;
let table: string;
const sent: SentRequest[] = [];
let now = Date.UTC(2026, 0, 1);
const at = (step: number): string => new Date(Date.UTC(2026, 0, 1) + step).toISOString();
const ms = (step: number): number => Date.UTC(2026, 0, 1) + step;
const tick = (to: number): void => void (now = ms(to));
const effects: Effects = { ...systemEffects, now: () => now };

beforeAll(async () => {
  engine = await openEngine();
  table = engine.freshTableName("times");
  db = open(table).connect({ transport: engine.transport, advanced: { effects }, onRequest: (one) => sent.push(one) });
  await db.table.create();
  for (const id of ["A", "B"]) await db.team.create({ id, name: id }).orThrow();
  for (const id of ["x", "y", "z"]) await db.user.create({ id, name: id }).orThrow();
});
afterAll(() => engine.close());
beforeEach(() => {
  sent.length = 0;
  tick(0);
});
const operations = (): readonly string[] => sent.map(({ operation }) => operation);

test("a node has both times from its creation, and an update changes one of them in the same request", async () => {
  tick(1000);
  const created = await db.user.create({ id: "1", name: "Ann" }).orThrow();
  expect(created.row).toEqual({ id: "1", name: "Ann", created: at(1000), modified: at(1000) });
  tick(2000);
  sent.length = 0;
  const updated = await db.user.update({ id: "1" }, { name: "Anna" }).orThrow();
  expect(updated.row).toEqual({ id: "1", name: "Anna", created: at(1000), modified: at(2000) });
  expect(operations()).toEqual(["UpdateItem"]);
  expect(sent[0]!.input).toMatchObject({
    UpdateExpression: "SET #0 = :0, #1 = :1, recentPk = :2, recentSk = :3",
    ConditionExpression: "attribute_exists(pk)",
    ExpressionAttributeNames: { "#0": "name", "#1": "modified" },
    ExpressionAttributeValues: { ":0": { S: "Anna" }, ":1": { S: at(2000) }, ":2": { S: "user#0" }, ":3": { S: `${at(2000)}#USER#1` } },
  });
  // The index by the last change follows in the same request.
  expect(
    (
      await db
        .find("user")
        .where({ modified: { gte: at(2000) } })
        .rows()
    ).map(({ id }) => id),
  ).toEqual(["1"]);
});

test("a put keeps the first time of creation: it reads it, and writes on condition that it is the same", async () => {
  tick(1000);
  const put = db.user.put({ id: "2", name: "Bob" });
  expect((await put.explain()).notes[0]).toBe('reads "user" first: the time of its creation is kept');
  const first = await put.orThrow();
  expect(first.row).toEqual({ id: "2", name: "Bob", created: at(1000), modified: at(1000) });
  expect(sent.map(({ input }) => (input as { ConditionExpression?: string }).ConditionExpression)).toEqual([
    undefined,
    "attribute_not_exists(pk)",
  ]);
  tick(2000);
  sent.length = 0;
  const second = await db.user.put({ id: "2", name: "Bobby" }).orThrow();
  expect(second.row).toEqual({ id: "2", name: "Bobby", created: at(1000), modified: at(2000) });
  expect(operations()).toEqual(["GetItem", "PutItem"]);
  const asItWas = {
    ConditionExpression: "#0 = :0",
    ExpressionAttributeNames: { "#0": "created" },
    ExpressionAttributeValues: { ":0": { S: at(1000) } },
  };
  expect(sent[1]!.input).toMatchObject(asItWas);
  expect(await db.user.get({ id: "2" })).toEqual(second.row);
  // A row that was read, its times included, may be put again: without a read, if the item still has its time.
  tick(3000);
  sent.length = 0;
  const third = await db.user.put({ ...second.row!, name: "Rob" }).orThrow();
  expect(third.row).toEqual({ id: "2", name: "Rob", created: at(1000), modified: at(3000) });
  expect(operations()).toEqual(["PutItem"]);
  expect(sent[0]!.input).toMatchObject(asItWas);
});

test("a put of a row that states another time of creation than the item keeps the item's", async () => {
  for (const created of [at(7), "yesterday", 5, null, {}, "\u0000#~"]) {
    tick(4000);
    const { row } = await db.user.put({ id: "2", name: "Rob", created } as never).orThrow();
    expect(row).toMatchObject({ created: at(1000), modified: at(4000) });
    const fresh = await db.user.put({ id: `new ${JSON.stringify(created)}`, name: "n", created } as never).orThrow();
    expect(fresh.row).toMatchObject({ created: at(4000), modified: at(4000) });
  }
});

test("upserts, transactions, batches and checks keep both times", async () => {
  tick(1000);
  await db.user.upsert({ id: "3", name: "Cid" }, { name: "never" }).orThrow();
  tick(2000);
  const again = await db.user.upsert({ id: "3", name: "never" }, { name: "Cyd" }).orThrow();
  expect(again.row).toEqual({ id: "3", name: "Cyd", created: at(1000), modified: at(2000) });
  tick(3000);
  await db
    .transact([db.user.update({ id: "3" }, { note: "n" }), db.user.put({ id: "4", name: "Dan" }), db.user.check({ id: "x" })])
    .orThrow();
  expect(await db.user.getMany([{ id: "3" }, { id: "4" }])).toEqual([
    { id: "3", name: "Cyd", note: "n", created: at(1000), modified: at(3000) },
    { id: "4", name: "Dan", created: at(3000), modified: at(3000) },
  ]);
  expect((await db.user.get({ id: "x" }))!.modified).toBe(at(0));
  tick(4000);
  sent.length = 0;
  const batch = db.batch([
    db.user.put({ id: "4", name: "Dan 2" }),
    db.user.put({ id: "5", name: "Eve" }),
    db.plain.put({ id: "p", name: "p" }),
  ]);
  const explained = await batch.explain();
  expect(explained.requests.map(({ operation }) => operation)).toEqual(["BatchGetItem", "BatchWriteItem"]);
  await batch.orThrow();
  expect(operations()).toEqual(["BatchGetItem", "BatchWriteItem"]);
  expect(await db.user.getMany([{ id: "4" }, { id: "5" }])).toEqual([
    { id: "4", name: "Dan 2", created: at(1000 + 2000), modified: at(4000) },
    { id: "5", name: "Eve", created: at(4000), modified: at(4000) },
  ]);
});

test("times are kept beside a version, as numbers and under names of their own", async () => {
  tick(1000);
  await db.team.create({ id: "C", name: "C" }).orThrow();
  tick(2000);
  const put = await db.team.put({ id: "C", name: "C2" }, { ifVersion: 1 }).orThrow();
  expect(put.row).toEqual({ id: "C", name: "C2", created: ms(1000), updatedAt: ms(2000), version: 2 });
  tick(3000);
  await db.team.update({ id: "C" }, { name: "C3" }, { if: { updatedAt: { lte: ms(2000) } } }).orThrow();
  expect(await db.team.get({ id: "C" }, { select: ["updatedAt"] })).toEqual({ updatedAt: ms(3000), version: 3 });
});

test("parts have times as Dates", async () => {
  tick(1000);
  await db.post.create({ id: "x" }, { n: 1, text: "a" }).orThrow();
  tick(2000);
  const put = await db.post.put({ id: "x" }, { ...(await db.post.get({ id: "x" }, { n: 1 }))!, text: "b" }).orThrow();
  expect(put.row).toMatchObject({ created: new Date(ms(1000)), modified: new Date(ms(2000)) });
  expect(await db.post.get({ id: "x" }, { n: 1 })).toEqual({
    id: "x",
    n: 1,
    text: "b",
    created: new Date(ms(1000)),
    modified: new Date(ms(2000)),
  });
  expect(
    await db
      .user({ id: "x" })
      .parts("post")
      .where({ modified: { gt: new Date(ms(1999)) } })
      .count(),
  ).toBe(1);
});

test("edges are ordered by the time of their creation, and a relink changes the other", async () => {
  for (const [step, id] of [
    ["1000", "y"],
    ["2000", "x"],
    ["3000", "z"],
  ] as const) {
    tick(Number(step));
    await db.joined.link({ id }, { id: "A" }, { role: "r" }).orThrow();
  }
  tick(4000);
  sent.length = 0;
  const relinked = await db.joined.relink({ id: "x" }, { id: "A" }, { role: "s" }).orThrow();
  expect(operations()).toEqual(["UpdateItem"]);
  expect(relinked.row).toMatchObject({ role: "s", created: at(2000), modified: at(4000) });
  tick(5000);
  await db.joined.put({ id: "y" }, { id: "A" }, { role: "t" }).orThrow();
  sent.length = 0;
  await db.joined.put({ id: "z" }, { id: "A" }, { created: at(3000) } as never).orThrow();
  expect(operations()).toEqual(["TransactWriteItems"]);
  const edges = await db.team({ id: "A" }).in("joined").edges();
  expect(edges.map(({ from, created, modified }) => [from.id, created, modified])).toEqual([
    ["y", at(1000), at(5000)],
    ["x", at(2000), at(4000)],
    ["z", at(3000), at(5000)],
  ]);
  expect((await db.team({ id: "A" }).in("joined").reverse().first())?.from).toEqual({ id: "z" });
});

test("both copies of an edge have the same times", async () => {
  tick(1000);
  await db.likes.link({ id: "x" }, { id: "y" }, {}).orThrow();
  tick(2500);
  await db.likes.relink({ id: "y" }, { id: "x" }, { why: "w" }).orThrow();
  const times = { why: "w", created: Math.floor(ms(1000) / 1000), modified: Math.floor(ms(2500) / 1000) };
  expect(await db.likes.get({ id: "x" }, { id: "y" })).toEqual({ from: { id: "x" }, to: { id: "y" }, ...times });
  expect(await db.likes.get({ id: "y" }, { id: "x" })).toEqual({ from: { id: "y" }, to: { id: "x" }, ...times });
  tick(3000);
  await db.rates.link({ id: "x" }, { id: "A" }, { term: "t", stars: 1 }).orThrow();
  tick(4000);
  await db.rates.upsert({ id: "x" }, { id: "A" }, { term: "t", stars: 9 }, { stars: 2 }).orThrow();
  const [out] = await db.user({ id: "x" }).out("rates").edges();
  const [into] = await db.team({ id: "A" }).in("rates").edges();
  expect(out).toEqual({ from: { id: "x" }, to: { id: "A" }, term: "t", stars: 2, created: at(3000), modified: at(4000) });
  expect(into).toEqual({ from: { id: "x" }, to: { id: "A" }, term: "t", created: at(3000), modified: at(4000) });
});

test("an edge that takes on another type keeps the time of its creation", async () => {
  tick(1000);
  await db.joined.link({ id: "x" }, { id: "B" }, { role: "r" }).orThrow();
  tick(2000);
  await db.joined.relink({ id: "x" }, { id: "B" }, { role: "boss" }, { type: "leads" }).orThrow();
  expect(await db.leads.get({ id: "x" }, { id: "B" })).toMatchObject({ role: "boss", created: at(1000), modified: at(2000) });
});

test("a time cannot be set, by any call", async () => {
  const setIt = { created: at(0) } as never;
  const calls = [
    () => db.user.create({ id: "9", name: "n", ...(setIt as object) }),
    () => db.user.update({ id: "x" }, setIt),
    () => db.user.update({ id: "x" }, { remove: ["modified"] as never }),
    () => db.user.upsert({ id: "9", name: "n" }, setIt),
    () => db.joined.link({ id: "x" }, { id: "A" }, setIt),
    () => db.joined.relink({ id: "x" }, { id: "A" }, setIt),
  ];
  for (const call of calls)
    expect(call).toThrow(
      expect.objectContaining({
        code: "schema.immutableAttribute",
        message: expect.stringContaining("a time that Edgetable keeps") as string,
      }) as Error,
    );
});

test("a load keeps times that rows state, takes its own, or refuses them", async () => {
  tick(10_000);
  const rows = [
    { node: "user" as const, row: { id: "l1", name: "a", created: at(1), modified: at(2) } },
    { node: "user" as const, row: { id: "l2", name: "b", created: at(3) } },
    { node: "user" as const, row: { id: "x", name: "x" } },
    { part: "post" as const, owner: { id: "l1" }, row: { n: 1, text: "t", created: at(5) } },
    { edge: "joined" as const, from: { id: "l1" }, to: { id: "A" }, attributes: { created: at(4) } },
  ];
  const report = await db.load(rows as never);
  expect(report).toMatchObject({ rows: 5, failed: 0 });
  expect(await db.user.getMany([{ id: "l1" }, { id: "l2" }, { id: "x" }])).toEqual([
    { id: "l1", name: "a", created: at(1), modified: at(2) },
    { id: "l2", name: "b", created: at(3), modified: at(10_000) },
    { id: "x", name: "x", created: at(0), modified: at(10_000) },
  ]);
  expect(await db.post.get({ id: "l1" }, { n: 1 })).toMatchObject({ created: new Date(ms(5)), modified: new Date(ms(10_000)) });
  expect(await db.joined.get({ id: "l1" }, { id: "A" })).toMatchObject({ created: at(4), modified: at(10_000) });
  sent.length = 0;
  await db.load(rows.slice(0, 3) as never, { times: "now" });
  expect(new Set(operations())).toEqual(new Set(["BatchWriteItem"]));
  expect((await db.user.get({ id: "x" }))!.created).toBe(at(10_000));
  const refused = await db.load(rows.slice(0, 1) as never, { times: "refused" });
  expect(refused.failures[0]?.error.code).toBe("schema.immutableAttribute");
  const wrong = await db.load([{ node: "user", row: { id: "l9", name: "x", created: "yesterday" } }] as never);
  expect(wrong.failures[0]?.error.message).toContain("ISO 8601");
});

test("a model that gains times later reads rows without them, and its migration says what becomes of them", async () => {
  const name = engine.freshTableName("later");
  const connect = (timestamps: Timestamps = false) =>
    defineGraph({
      table: name,
      nodes: { user: node({ key: "USER#{id}", schema: schema.strict(), timestamps }) },
      edges: { knows: edge({ from: "user", to: "user", stored: "twice", timestamps }) },
    }).connect({ transport: engine.transport, advanced: { effects } });
  const before = connect();
  await before.table.create();
  await before.user.create({ id: "a", name: "Ann" }).orThrow();
  await before.user.create({ id: "b", name: "Bob" }).orThrow();
  await before.knows.link({ id: "a" }, { id: "b" }, {}).orThrow();

  expect((await connect(true).migrations.plan()).notes[0]).toBe(
    'Existing rows of "user" have no "created", and do not get it. Declare optional: true in timestamps, so that the type says so.',
  );
  const db = connect({ optional: true });
  const plan = await db.migrations.plan();
  expect(plan.steps.map(({ kind }) => kind)).toEqual(["record"]);
  expect(plan.notes).toEqual([
    'Existing rows of "user" have no "created", and do not get it.',
    'Existing rows of "user" get "modified" with their next change.',
    'Existing rows of "knows" have no "created", and do not get it.',
    'Existing rows of "knows" get "modified" with their next change.',
  ]);
  await db.migrations.run({ share: 100, indexLag: 0 });
  expect(await db.user.get({ id: "a" })).toEqual({ id: "a", name: "Ann" });
  tick(5000);
  await db.user.update({ id: "a" }, { note: "n" }).orThrow();
  const put = await db.user.put({ id: "b", name: "Bobby" }).orThrow();
  expect(await db.user.get({ id: "a" })).toEqual({ id: "a", name: "Ann", note: "n", modified: at(5000) });
  expect(put.row).toEqual({ id: "b", name: "Bobby", modified: at(5000) });
  expect((await db.user.create({ id: "c", name: "Cid" }).orThrow()).row).toMatchObject({ created: at(5000), modified: at(5000) });

  expect(await verify(db, { settle: 10 })).toMatchObject({ clean: true, kinds: [] });
  const other = await connect({ as: "seconds" }).migrations.plan();
  expect(other.refusals[0]).toContain('hold "created" as text, and the model says seconds');
  expect((await connect({ as: "date" }).migrations.plan()).refusals).toEqual([]);
});

test("derived attributes, copies, migrations and repairs are no changes of a row", async () => {
  const name = engine.freshTableName("internal");
  const connect = (more: object = {}) =>
    defineGraph({
      table: name,
      nodes: {
        user: node({ key: "USER#{id}", schema, timestamps: true, derived: { friends: count({ out: "knows" }) }, unique: ["note"] }),
      },
      edges: {
        knows: edge({
          from: "user",
          to: "user",
          timestamps: true,
          copies: { to: ["name"] },
          stored: "twice",
          onDelete: { from: "cascade", to: "cascade" },
        }),
      },
      ...more,
    }).connect({ transport: engine.transport, advanced: { effects } });
  const db = connect();
  await db.table.create();
  tick(1000);
  for (const id of ["a", "b"]) await db.user.create({ id, name: id, note: id }).orThrow();
  tick(2000);
  await db.knows.link({ id: "a" }, { id: "b" }, {}).orThrow();
  expect(await db.user.get({ id: "a" })).toMatchObject({ friends: 1, modified: at(1000) });
  tick(3000);
  await db.user.update({ id: "b" }, { name: "Bob" }).orThrow();
  // The copy of the name follows, which is no change of the edge.
  expect(await db.knows.get({ id: "a" }, { id: "b" })).toMatchObject({ name: "Bob", created: at(2000), modified: at(2000) });
  tick(4000);
  const indexed = connect({ indexes: { byTime: { entries: { user: "modified", knows: { by: "created" } } } } });
  await indexed.migrations.run({ share: 100, indexLag: 0, finish: true });
  // The model's indexes are given as they come, so that its types do not know them.
  const untyped = indexed as never as {
    find(kind: string): { where(filter: object): { rows(): Promise<readonly { id: string; modified: string }[]> } };
  };
  const found = await untyped
    .find("user")
    .where({ modified: { gte: at(0) } })
    .rows();
  expect(found.map(({ id, modified }) => [id, modified])).toEqual([
    ["a", at(1000)],
    ["b", at(3000)],
  ]);
  const edgeKey = { pk: { S: "USER#b" }, sk: { S: "~knows#USER#a" } };
  await engine.transport.send("DeleteItem", { TableName: name, Key: edgeKey });
  expect((await verify(indexed, { settle: 10, repair: true })).kinds.map(({ kind, count: found }) => [kind, found])).toEqual([
    ["oneSided", 1],
  ]);
  expect(await indexed.user({ id: "b" }).in("knows").edges()).toMatchObject([{ created: at(2000), modified: at(2000) }]);
  expect(await verify(indexed, { settle: 10 })).toMatchObject({ clean: true });
});
