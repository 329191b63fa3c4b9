import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { average, defineGraph, edge, node, part, sum } from "../index.ts";
import type { Item } from "../transport/operations.ts";
import { verify } from "../verify/index.ts";

let engine: TestEngine;

beforeAll(async () => {
  engine = await openEngine();
});
afterAll(async () => {
  await engine.close();
});

const id = z.string();
const amount = z.number().optional();

const graph = (table: string) =>
  defineGraph({
    table,
    nodes: {
      account: node({
        key: "ACCOUNT#{id}",
        schema: z.object({ id, plain: amount, indexed: amount, copied: amount, beside: amount }),
      }),
      pot: node({ key: "POT#{id}", schema: z.object({ id }) }),
      counted: node({ key: "COUNTED#{id}", schema: z.object({ id, plain: amount }), version: true }),
    },
    parts: { line: part({ of: "pot", key: "LINE#{n}", schema: z.object({ n: z.string(), indexed: amount }) }) },
    edges: {
      pays: edge({
        from: "account",
        to: "pot",
        schema: z.object({ ordered: z.number(), beside: amount }),
        orderBy: "ordered:number",
        stored: "twice",
        copies: { from: ["copied"] },
      }),
    },
    indexes: {
      byIndexed: { entries: { account: { by: "indexed:number", sparse: true }, line: { by: "indexed:number", sparse: true } } },
      byBoth: { entries: { account: { by: ["indexed:number", "plain:number"], sparse: true } } },
    },
  });

const account = { id: "a" };
const [pot, counted] = [{ id: "p" }, { id: "c" }];
type Db = ReturnType<ReturnType<typeof graph>["connect"]>;
type Add = (db: Db, amount: number) => { orThrow(): Promise<unknown> };

const routes: Readonly<Record<string, Add>> = {
  "an attribute that an index holds": (db, indexed) => db.account.update(account, { add: { indexed } }),
  "an attribute that an index holds with another": (db, plain) => db.account.update(account, { add: { plain } }),
  "an attribute that is copied": (db, copied) => db.account.update(account, { add: { copied } }),
  "an upsert": (db, indexed) => db.account.upsert(account, { add: { indexed } }),
  "an attribute beside one that an index holds": (db, beside) => db.account.update(account, { add: { beside, indexed: 1 } }),
  "an attribute of a node that counts its writes": (db, plain) => db.counted.update(counted, { add: { plain } }),
  "an attribute of a part": (db, indexed) => db.line.update(pot, { n: "1" }, { add: { indexed } }),
  "the order of an edge": (db, ordered) => db.pays.relink(account, pot, { add: { ordered } }),
  "an attribute of an edge that is stored twice": (db, beside) => db.pays.relink(account, pot, { add: { beside } }),
  "a transaction": (db, indexed) => ({
    orThrow: () => db.transact([db.account.update(account, { add: { indexed } }), db.counted.update(counted, { add: { plain: 1 } })]),
  }),
};

test.each(Object.entries(routes))("%s keeps all digits of what is added to it", async (_name, add) => {
  const db = graph(engine.freshTableName("add")).connect({ transport: engine.transport });
  await db.table.create();
  await db.account.create({ ...account, plain: 1e15, indexed: 1e15, copied: 1e15, beside: 1e15 });
  await db.pot.create(pot);
  await db.counted.create({ ...counted, plain: 1e15 });
  await db.line.create(pot, { n: "1", indexed: 1e15 });
  await db.pays.link(account, pot, { ordered: 1e15, beside: 1e15 });
  for (const amount of [0.06, 0.06, -1e15]) await add(db, amount).orThrow();
  const numbers = [
    await db.account.get(account),
    await db.counted.get(counted),
    await db.line.get(pot, { n: "1" }),
    await db.pays.get(account, pot),
  ]
    .flatMap((row) => Object.values(row ?? {}))
    .filter((value) => typeof value === "number" && !Number.isInteger(value));
  expect(new Set(numbers)).toEqual(new Set([0.12]));
  expect((await verify(db, { settle: 10 })).kinds).toEqual([]);
});

const within = z.object({ n: z.number(), m: z.number(), list: z.array(z.number()).optional() });
const rewritten = (table: string) =>
  defineGraph({
    table,
    nodes: {
      box: node({ key: "BOX#{id}", schema: z.object({ id, within }), validate: "row" }),
      jar: node({
        key: "JAR#{id}",
        schema: z.object({ id, label: z.string().optional() }),
        derived: { total: sum({ in: "fills", of: "amount" }), mean: average({ in: "fills", of: "amount" }) },
      }),
    },
    edges: {
      fills: edge({
        from: "box",
        to: "jar",
        key: ["n"],
        schema: z.object({ n: z.string(), amount: z.number() }),
        onDelete: { from: "cascade", to: "cascade" },
      }),
      planned: edge({ from: "box", to: "jar", schema: z.object({ amount: z.number(), share: z.number() }), stored: "twice" }),
      done: edge({ from: "box", to: "jar", schema: z.object({ amount: z.number(), share: z.number() }), stored: "twice" }),
    },
  });
const DIGITS = "0.12345678901234567890123456789";

describe("what is written anew keeps all digits", () => {
  const open = async () => {
    const table = engine.freshTableName("rewritten");
    const db = rewritten(table).connect({ transport: engine.transport });
    await db.table.create();
    const items = async () => (await engine.transport.send("Scan", { TableName: table })).Items ?? [];
    const change = async (has: string, to: (item: Item) => Item) => {
      for (const item of await items())
        if (has in item) await engine.transport.send("PutItem", { TableName: table, Item: { ...item, ...to(item) } });
    };
    return { db, items, change };
  };

  test("of an attribute that is changed by a path and read first", async () => {
    const { db, items, change } = await open();
    await db.box.create({ id: "a", within: { n: 1e15, m: 0, list: [0, 1] } }).orThrow();
    await change("within", () => ({
      within: { M: { n: { N: "1000000000000000.06" }, m: { N: DIGITS }, list: { L: [{ N: DIGITS }, { N: "1" }] } } },
    }));
    await db.box.update({ id: "a" }, { add: { "within.n": 0.06, "within.list[1]": 0.5 } }).orThrow();
    const [item] = await items();
    expect(item!["within"]).toEqual({
      M: { n: { N: "1000000000000000.12" }, m: { N: DIGITS }, list: { L: [{ N: DIGITS }, { N: "1.5" }] } },
    });
    await db.box.update({ id: "a" }, { set: { "within.m": 2 }, remove: ["within.list[0]"] }).orThrow();
    expect((await items())[0]!["within"]).toEqual({ M: { n: { N: "1000000000000000.12" }, m: { N: "2" }, list: { L: [{ N: "1.5" }] } } });
  });

  test("of the sums of a node that is put", async () => {
    const { db, items } = await open();
    await db.box.create({ id: "a", within: { n: 0, m: 0 } }).orThrow();
    await db.jar.create({ id: "j" }).orThrow();
    for (const [n, amount] of [1e15, 0.06].entries()) await db.fills.link({ id: "a" }, { id: "j" }, { n: String(n), amount }).orThrow();
    await db.jar.put({ id: "j", label: "x" }).orThrow();
    expect((await items()).find((item) => "label" in item)).toMatchObject({
      total: { N: "1000000000000000.06" },
      "~sum#mean": { N: "1000000000000000.06" },
    });
    await db.fills.unlink({ id: "a" }, { id: "j" }, { key: { n: "0" } }).orThrow();
    expect(await db.jar.get({ id: "j" })).toMatchObject({ total: 0.06, mean: 0.06 });
    expect((await verify(db, { settle: 10 })).kinds).toEqual([]);
  });

  test("of the sums of a node that is put by the call that changes them", async () => {
    const { db, items } = await open();
    const [box, jar] = [{ id: "a" }, { id: "j" }];
    await db.box.create({ ...box, within: { n: 0, m: 0 } }).orThrow();
    await db.jar.create(jar).orThrow();
    await db.fills.link(box, jar, { n: "0", amount: 1e15 }).orThrow();
    await db.fills.link(box, jar, { n: "1", amount: 0.06 }).orThrow();
    await db.transact([db.jar.put({ ...jar, label: "x" }), db.fills.link(box, jar, { n: "2", amount: 0.06 })]).orThrow();
    const sums = { total: { N: "1000000000000000.12" }, "~sum#mean": { N: "1000000000000000.12" } };
    expect((await items()).find((item) => "label" in item)).toMatchObject(sums);
    await db.fills.unlink(box, jar, { key: { n: "0" } }).orThrow();
    expect(await db.jar.get(jar)).toMatchObject({ total: 0.12, mean: 0.06 });
    expect((await verify(db, { settle: 10 })).kinds).toEqual([]);
  });

  test("of an edge that changes its type", async () => {
    const { db, items, change } = await open();
    await db.box.create({ id: "a", within: { n: 0, m: 0 } }).orThrow();
    await db.jar.create({ id: "j" }).orThrow();
    await db.planned.link({ id: "a" }, { id: "j" }, { amount: 1, share: 1 }).orThrow();
    await change("share", () => ({ amount: { N: "1000000000000000.06" }, share: { N: DIGITS } }));
    await db.planned.relink({ id: "a" }, { id: "j" }, { add: { amount: 0.06 } }, { type: "done" }).orThrow();
    const copies = (await items()).filter((item) => "share" in item);
    expect(copies.map(({ amount, share }) => [amount, share])).toEqual([
      [{ N: "1000000000000000.12" }, { N: DIGITS }],
      [{ N: "1000000000000000.12" }, { N: DIGITS }],
    ]);
  });
});
