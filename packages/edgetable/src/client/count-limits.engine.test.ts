import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, part, type SentRequest } from "../index.ts";

const text = z.string();
const sent: SentRequest[] = [];
let engine: TestEngine;
const open = async () => {
  const graph = defineGraph({
    table: engine.freshTableName("counts"),
    nodes: { stop: node({ key: "STOP#{stopId}", schema: z.object({ stopId: text, name: text }) }) },
    parts: { notice: part({ of: "stop", key: "NOTICE#{number:3}", schema: z.object({ number: z.int() }) }) },
    edges: { leg: edge({ from: "stop", to: "stop", schema: z.object({ minutes: z.number() }), ends: "unchecked" }) },
    indexes: { byName: { entries: { stop: "name" }, shards: 3 } },
  });
  const db = graph.connect({ transport: engine.transport, onRequest: (request) => sent.push(request) });
  await db.table.create();
  const numbers = Array.from({ length: 9 }, (_, at) => at);
  await db.load([
    ...numbers.map((at) => ({ node: "stop", row: { stopId: `s${at}`, name: "N" } }) as const),
    ...numbers.map((at) => ({ part: "notice", owner: { stopId: "s0" }, row: { number: at } }) as const),
    ...numbers.map((at) => ({ edge: "leg", from: { stopId: "s0" }, to: { stopId: `s${at}` }, attributes: { minutes: at } }) as const),
  ]);
  return db;
};
let db: Awaited<ReturnType<typeof open>>;
beforeAll(async () => {
  engine = await openEngine();
  db = await open();
});
afterAll(() => engine.close());

const asked = async (count: PromiseLike<number>): Promise<unknown> => {
  sent.length = 0;
  const value = await count;
  return [
    value,
    sent
      .map(({ input }) => ({ ...(input as { readonly Select?: string; readonly Limit?: number }) }))
      .map(({ Select, Limit }) => [Select, Limit]),
  ];
};

test("a count reads no further than the limit", async () => {
  const s0 = db.stop({ stopId: "s0" });
  expect(await asked(s0.out("leg").limit(4).count())).toEqual([4, [["COUNT", 4]]]);
  expect(await s0.parts("notice").limit(2).count()).toBe(2);
  expect(await asked(s0.out("leg").limit(20).count())).toEqual([9, [["COUNT", 20]]]);
  expect(await asked(s0.both("leg").limit(9).count())).toEqual([9, [[undefined, 9]]]);
  expect(await s0.both("leg").limit(10).count()).toBe(10);
});

test("what a filter passes over does not count towards it", async () => {
  const late = db
    .stop({ stopId: "s0" })
    .out("leg")
    .where({ minutes: { gte: 5 } });
  expect(await asked(late.limit(2).count())).toEqual([2, [["COUNT", 50]]]);
  expect(await late.limit(100).count()).toBe(4);
});

test("over shards each gives no more than the limit, and so does the sum", async () => {
  const named = db.find("stop").where({ name: "N" });
  expect(await asked(named.limit(1).count())).toEqual([1, Array.from({ length: 3 }, () => ["COUNT", 1])]);
  expect(await named.limit(8).count()).toBe(8);
  expect(
    await named
      .limit(8)
      .where({ stopId: { gte: "s5" } })
      .count(),
  ).toBe(4);
  expect(await named.count()).toBe(9);
});

test("a page has a limit of its own: after limit(), which no cursor would keep to, it is refused", () => {
  const refusal = expect.objectContaining({
    code: "plan.unsupported",
    message: "A page has a limit of its own: give page({ limit: 3 }), and leave limit(3) out.",
  });
  expect(() => db.stop({ stopId: "s0" }).out("leg").limit(3).page()).toThrow(refusal);
  expect(() => db.find("stop").limit(3).page({ limit: 2 })).toThrow(refusal);
});

test("a limit may be any number, and a request names no more than DynamoDB takes", async () => {
  const most = Number.MAX_SAFE_INTEGER;
  const stop = db.stop({ stopId: "s0" });
  sent.length = 0;
  expect(await stop.out("leg").limit(most).edges()).toHaveLength(9);
  expect(await stop.parts("notice").limit(most).count()).toBe(9);
  expect(await db.find("stop").limit(most).rows()).toHaveLength(9);
  expect([...(await stop.out("leg").limit(most).walk().ids())]).toHaveLength(9);
  const limits = sent.flatMap(({ input }) => (input as { readonly Limit?: number }).Limit ?? []);
  expect(limits.length).toBeGreaterThan(3);
  expect(Math.max(...limits)).toBe(2 ** 31 - 1);
});
