import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, part } from "../index.ts";
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
