import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { EdgetableError } from "../../errors/edgetable-error.ts";
import { count, defineGraph, edge, node, part } from "../../index.ts";
import { startEngine, type TestEngine } from "../../test-support/engine.ts";
import type { Transport } from "../../transport/transport.ts";
import { verify } from "../../verify/index.ts";

const id = z.string();
const cascade = { from: "cascade", to: "cascade" } as const;
const schema = z.strictObject({ id, name: z.string() });

const ofNode = (table: string, settings: object) =>
  defineGraph({
    table,
    nodes: { user: node({ key: "USER#{id}", schema, ...settings }), team: node({ key: "TEAM#{id}", schema }) },
    edges: { inTeam: edge({ from: "user", to: "team", onDelete: cascade }) },
  });

const models = {
  "with a version": (table: string) => ofNode(table, { version: true }),
  "with times": (table: string) => ofNode(table, { timestamps: true }),
  "with a unique name": (table: string) => ofNode(table, { unique: ["name"] }),
  "with a count": (table: string) => ofNode(table, { derived: { teams: count({ out: "inTeam" }) } }),
  "copied onto edges for good": (table: string) =>
    defineGraph({
      table,
      nodes: { user: node({ key: "USER#{id}", schema, immutable: ["name"] }), team: node({ key: "TEAM#{id}", schema }) },
      edges: { inTeam: edge({ from: "user", to: "team", copies: { from: { userName: { of: "name", freshness: "immutable" } } } }) },
    }),
} as const;

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const USERS = 60;
const range = (length: number): readonly number[] => Array.from({ length }, (_, at) => at);
const users = (mark = "") => range(USERS).map((at) => ({ node: "user", row: { id: `u${at}`, name: `${mark}${at}` } }) as const);

const open = async (modelIn: (table: string) => ReturnType<typeof ofNode>, transport: Transport = engine.transport) => {
  const sent: string[] = [];
  const db = modelIn(engine.freshTableName("reads")).connect({ transport, onRequest: ({ operation }) => sent.push(operation) });
  await db.table.create();
  sent.length = 0;
  const tally = (): Readonly<Record<string, number>> => {
    const counted: Record<string, number> = {};
    for (const operation of sent) counted[operation] = (counted[operation] ?? 0) + 1;
    sent.length = 0;
    return counted;
  };
  return { db, tally };
};

test.each(Object.entries(models))("nodes %s are read by one request for 100 items, and each is written once", async (_, modelIn) => {
  const { db, tally } = await open(modelIn as never);
  expect(await db.load(users())).toMatchObject({ failed: 0, items: USERS });
  const { BatchGetItem, GetItem = 0, PutItem = 0, TransactWriteItems = 0 } = tally();
  expect([BatchGetItem, GetItem, PutItem + TransactWriteItems]).toEqual([1, 0, USERS]);
  expect(await db.load(users())).toMatchObject({ failed: 0, items: USERS });
  expect(tally()["GetItem"] ?? 0).toBe(0);
  expect(await db.user.getMany(users().map(({ row }) => ({ id: row.id })))).toMatchObject(users().map(({ row }) => row));
  expect(await verify(db, { settle: 1 })).toMatchObject({ clean: true, kinds: [] });
});

test("rows of one node are written one after the other, in the order of the input", async () => {
  const { db } = await open(models["with a version"]);
  const rows = range(10).flatMap((round) => users(`${round}.`).slice(0, 7));
  expect(await db.load(rows, { order: "kept", collisions: "ignore" })).toMatchObject({ failed: 0 });
  for (const at of range(7)) expect(await db.user.get({ id: `u${at}` })).toEqual({ id: `u${at}`, name: `9.${at}`, version: 10 });
});

test("a row that another writer changes between the reading and the writing is read again", async () => {
  let between: (() => Promise<void>) | undefined;
  const transport: Transport = {
    ...engine.transport,
    send: async (operation, input, options) => {
      const answer = await engine.transport.send(operation, input, options);
      if (operation === "BatchGetItem") await between?.();
      return answer;
    },
  };
  const { db } = await open(models["with a version"], transport);
  await db.load(users());
  const other = models["with a version"](db.catalog.table).connect({ transport: engine.transport });
  between = async () => {
    between = undefined;
    await other.user.update({ id: "u3" }, { name: "changed" }).orThrow();
  };
  expect(await db.load(users("new "))).toMatchObject({ failed: 0, items: USERS });
  expect(await db.user.get({ id: "u3" })).toEqual({ id: "u3", name: "new 3", version: 3 });
  expect(await db.user.get({ id: "u4" })).toEqual({ id: "u4", name: "new 4", version: 2 });
});

test.each([
  [3, 3],
  [16, 10],
])("of rows that share reads, %i are written at the same time", async (concurrency, most) => {
  let [active, highest] = [0, 0];
  const transport: Transport = {
    ...engine.transport,
    send: async (operation, input, options) => {
      highest = Math.max(highest, ++active);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      return engine.transport.send(operation, input, options).finally(() => active--);
    },
  };
  const { db } = await open(models["with a version"], transport);
  highest = 0;
  expect(await db.load(users().slice(0, concurrency === 3 ? USERS : 10), { concurrency })).toMatchObject({ failed: 0 });
  expect(highest).toBe(most);
});

test("where a policy allows no BatchGetItem, each row is read by a GetItem", async () => {
  const transport: Transport = {
    ...engine.transport,
    send: async (operation, input, options) => {
      if (operation !== "BatchGetItem") return engine.transport.send(operation, input, options);
      throw new EdgetableError("execute.accessDenied", "BatchGetItem is not allowed.", { details: {} });
    },
  };
  const { db, tally } = await open(models["with a version"], transport);
  expect(await db.load(users())).toMatchObject({ failed: 0, items: USERS });
  expect(tally()).toMatchObject({ GetItem: USERS, PutItem: USERS });
});

test("nodes, parts that copy from them and edges that count at them load in any mixture", async () => {
  const modelIn = (table: string) =>
    defineGraph({
      table,
      nodes: {
        user: node({ key: "USER#{id}", schema, version: true, derived: { teams: count({ out: "inTeam" }) } }),
        team: node({ key: "TEAM#{id}", schema }),
      },
      parts: { note: part({ of: "user", key: "NOTE#{note}", schema: z.strictObject({ note: id }), copies: ["name"] }) },
      edges: { inTeam: edge({ from: "user", to: "team", onDelete: cascade }) },
    });
  for (const order of ["any", "kept"] as const) {
    const db = modelIn(engine.freshTableName("mixed")).connect({ transport: engine.transport });
    await db.table.create();
    const rows = users().flatMap((user, at) => [
      user,
      { node: "team", row: { id: `t${at % 5}`, name: "team" } } as const,
      { part: "note", owner: { id: user.row.id }, row: { note: "n" } } as const,
      { edge: "inTeam", from: { id: user.row.id }, to: { id: `t${at % 5}` }, attributes: {} } as const,
    ]);
    expect(await db.load(rows, { order, collisions: "ignore" })).toMatchObject({ failed: 0, position: rows.length });
    expect(await db.user.get({ id: "u7" })).toMatchObject({ name: "7", teams: 1 });
    expect(await db.note.get({ id: "u7" }, { note: "n" })).toMatchObject({ name: "7" });
    expect(await verify(db, { settle: 5 })).toMatchObject({ clean: true, kinds: [] });
  }
});

const openPages = async () => {
  const graph = defineGraph({
    table: engine.freshTableName("ahead"),
    nodes: {
      page: node({ key: "PAGE#{id}", schema: z.object({ id, title: id }), version: true }),
      user: node({ key: "USER#{id}", schema: z.object({ id, email: id }), unique: ["email"] }),
      tag: node({ key: "TAG#{id}", schema: z.object({ id }), derived: { pages: count({ in: "has" }) } }),
    },
    edges: { has: edge({ from: "page", to: "tag", onDelete: { from: "cascade", to: "cascade" } }) },
  });
  const sent: { readonly operation: string; readonly size: number }[] = [];
  let [flying, most] = [0, 0];
  let between = (): Promise<unknown> => Promise.resolve();
  const transport: Transport = {
    ...engine.transport,
    send: async (operation, input, options) => {
      const { Keys = [] } =
        Object.values((input as { RequestItems?: Record<string, { Keys?: readonly unknown[] }> }).RequestItems ?? {})[0] ?? {};
      sent.push({ operation, size: Keys.length });
      most = Math.max(most, ++flying);
      const answer = await engine.transport.send(operation, input, options).finally(() => flying--);
      if (operation === "BatchGetItem") await between();
      return answer;
    },
  };
  const db = graph.connect({ transport });
  const other = graph.connect({ transport: engine.transport });
  await other.table.create();
  const countOf = (operation: string) => sent.filter((one) => one.operation === operation).length;
  return { db, other, sent, countOf, most: () => most, betweenReadAndWrite: (run: () => Promise<unknown>) => void (between = run) };
};
const pages = (count: number, title = "old") =>
  Array.from({ length: count }, (_, at) => ({ node: "page", row: { id: `p${at}`, title } }) as const);

test("rows that are read before they are written share BatchGetItems, and no more requests are under way than the load may send", async () => {
  const { db, sent, countOf, most } = await openPages();
  expect(await db.load(pages(250), { concurrency: 6 })).toMatchObject({ rows: 250, position: 250, failed: 0, cost: { requests: 253 } });
  expect(sent.filter(({ operation }) => operation === "BatchGetItem").map(({ size }) => size)).toEqual([100, 100, 50]);
  expect([countOf("PutItem"), countOf("GetItem")]).toEqual([250, 0]);
  expect(most()).toBeLessThanOrEqual(6);
  await db.load(pages(250, "new"));
  expect(await db.page.get({ id: "p249" })).toEqual({ id: "p249", title: "new", version: 2 });
  expect(await db.page.get({ id: "p0" })).toEqual({ id: "p0", title: "new", version: 2 });
});

test("what another program writes between the reading and the writing is not lost", async () => {
  const { db, other, betweenReadAndWrite } = await openPages();
  let isOnce = true;
  betweenReadAndWrite(async () => {
    if (!isOnce) return;
    isOnce = false;
    await other.page.create({ id: "p7", title: "theirs" }).orThrow();
    await other.user.create({ id: "u9", email: "e3" }).orThrow();
  });
  const users = Array.from({ length: 6 }, (_, at) => ({ node: "user", row: { id: `u${at}`, email: `e${at}` } }) as const);
  const report = await db.load([...pages(20), ...users]);
  expect(report.failures.map(({ row, error }) => [row, error.code])).toEqual([[23, "execute.notWritten"]]);
  expect(await db.page.get({ id: "p7" })).toEqual({ id: "p7", title: "old", version: 2 });
  expect(await db.user.by({ email: "e3" })).toMatchObject({ id: "u9" });
});

test("rows that wait to be read together hold the position, and a load that is aborted writes none of them twice", async () => {
  const { db } = await openPages();
  const stopped = new AbortController();
  async function* rows() {
    yield* pages(30);
    stopped.abort();
  }
  const ended: unknown = await db.load(rows(), { signal: stopped.signal }).catch((error: unknown) => error);
  expect(ended).toMatchObject({ code: "execute.aborted", details: { report: { position: 0, items: 0 } } });
  await db.load(pages(30));
  expect(new Set((await db.page.getMany(pages(30).map(({ row }) => ({ id: row.id })))).map((row) => row?.version))).toEqual(new Set([1]));
});
