import { afterAll, beforeAll, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { type ConnectOptions, defineGraph, edge, node, part } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const open = (table: string, options: ConnectOptions) =>
  defineGraph({
    table,
    nodes: { user: node({ key: "USER#{id}", schema: z.object({ id: z.string(), name: z.string().optional() }) }) },
    parts: { note: part({ of: "user", key: "NOTE#{n:3}", schema: z.object({ n: z.int() }) }) },
    edges: { knows: edge({ from: "user", to: "user", schema: z.object({ since: z.string().optional() }) }) },
  }).connect(options);

test("an option that is undefined counts as left out, by type and at run time", async () => {
  const none = undefined;
  const db = open(engine.freshTableName("undefined"), {
    transport: engine.transport,
    region: none,
    credentials: none,
    endpoint: none,
    deadline: none,
    concurrency: none,
    idempotent: none,
    onRequest: none,
    onStray: none,
    expired: none,
  });
  await db.table.create();
  await db.user.create({ id: "A" }, { idempotent: none }).orThrow({ deadline: none, signal: none });
  await db.user.upsert({ id: "B" }, { name: "b" }, { expect: none, idempotent: none });
  await db.note.create({ id: "A" }, { n: 1 }, { idempotent: none });
  await db.knows.link({ id: "A" }, { id: "B" }, {}, { reverse: none, idempotent: none });
  expect(await db.user.get({ id: "A" }, { consistent: none, given: none })).toEqual({ id: "A" });
  expect(await db.note.get({ id: "A" }, { n: 1 }, { consistent: none })).toEqual({ id: "A", n: 1 });
  const page = await db
    .user({ id: "A" })
    .out("knows")
    .page({ limit: none, cursor: none, of: none, budget: { requests: none, units: none } });
  expect(page.items).toHaveLength(1);
  expect(await db.user({ id: "A" }).out("knows").count({ kept: none })).toBe(1);
  expect((await db.user({ id: "A" }).walk().out("knows").ids({ budget: none, cursor: none })).items).toEqual([{ id: "B" }]);
  expect(await db.transact([db.user.put({ id: "C" })], { token: none })).toMatchObject({ ok: true });
  expect(await db.jobs.resumeAll({ lease: none, indexLag: none, onProgress: none })).toEqual({ resumed: [], leased: [], refused: [] });
  // A condition is none: without it, the call would write more than intended.
  // @ts-expect-error -- a condition is not undefined
  expect(() => db.user.update({ id: "A" }, { name: "x" }, { if: none })).toThrow("if is undefined");
});

test("a call stands wherever a promise may", async () => {
  const db = open(engine.freshTableName("promised"), { transport: engine.transport });
  await db.table.create();
  const nameOf = (id: string): Promise<{ readonly name?: string | undefined } | undefined> => db.user.get({ id });
  expectTypeOf(db.user.get({ id: "A" })).toExtend<Promise<unknown>>();
  const [made, found] = await Promise.all([db.user.create({ id: "A", name: "Ann" }), nameOf("none")]);
  expect([made.ok, found]).toEqual([true, undefined]);
  expect((await nameOf("A"))?.name).toBe("Ann");
  let settled = 0;
  await db.user.get({ id: "A" }).finally(() => settled++);
  const refused = db.user({ id: "A" }).out("knows").page({ cursor: "forged" });
  expect(await refused.catch(() => "refused")).toBe("refused");
  expect(settled).toBe(1);
});
