import fc from "fast-check";
import { afterAll, beforeAll, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { propertyRuns } from "../../../../conformance/engines/property-runs.ts";
import { defineGraph, node, part, type SentRequest } from "../index.ts";

const open = (table: string) =>
  defineGraph({
    table,
    nodes: { order: node({ key: "ORDER#{orderId}", schema: z.object({ orderId: z.string(), buyer: z.string() }) }) },
    parts: {
      line: part({
        of: "order",
        key: "LINE#{n:4}",
        schema: z.object({ n: z.int(), text: z.string().optional() }),
        copies: ["buyer"],
      }),
      remark: part({ of: "order", key: "REMARK#{at}", schema: z.object({ at: z.string() }) }),
    },
  });

let engine: TestEngine;
let db: ReturnType<ReturnType<typeof open>["connect"]>;
let table: string;
const sent: SentRequest[] = [];
const O1 = { orderId: "O1" };
beforeAll(async () => {
  engine = await openEngine();
  table = engine.freshTableName("parts");
  db = open(table).connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
  await db.table.create();
  await db.order.create({ orderId: "O1", buyer: "Ann" }).orThrow();
  for (let n = 1; n <= 12; n++) await db.line.create(O1, { n, ...(n % 3 === 0 ? {} : { text: `t${n}` }) }).orThrow();
  await db.remark.create(O1, { at: "a" }).orThrow();
  await db.order.create({ orderId: "O2", buyer: "Bob" }).orThrow();
  await db.line.create({ orderId: "O2" }, { n: 1, text: "other" }).orThrow();
});
afterAll(() => engine.close());

test("a part is one GetItem by its node and its own key", async () => {
  sent.length = 0;
  const get = db.line.get(O1, { n: 2 }, { consistent: true });
  const explained = await get.explain();
  const row = await get;
  expect(row).toEqual({ orderId: "O1", n: 2, text: "t2", buyer: "Ann" });
  expect(sent.map(({ operation, input }) => ({ operation, input }))).toEqual([
    {
      operation: "GetItem",
      input: {
        TableName: table,
        Key: { pk: { S: "ORDER#O1" }, sk: { S: "LINE#0002" } },
        ConsistentRead: true,
        ReturnConsumedCapacity: "TOTAL",
      },
    },
  ]);
  expect(explained.requests[0]?.input).toEqual(sent[0]?.input);
  expect(await db.line.get(O1, { n: 99 })).toBeUndefined();
  if (row) expectTypeOf(row.buyer).toEqualTypeOf<string>();
  expect(() => db.line.get(O1, { m: 2 } as never)).toThrow(/"n"|"m"/);
  expect(() => db.line.get({} as never, { n: 2 })).toThrow("orderId");
});

test("several parts are one BatchGetItem, in the order of their ids, with undefined for those that are not there", async () => {
  sent.length = 0;
  const rows = await db.line.getMany(O1, [{ n: 3 }, { n: 50 }, { n: 1 }, { n: 3 }]);
  expect(rows.map((row) => row?.n)).toEqual([3, undefined, 1, 3]);
  expect(sent.map(({ operation }) => operation)).toEqual(["BatchGetItem"]);
  expect(await db.line.getMany(O1, [])).toEqual([]);
});

test("pages give the parts that a list gives, each once, forth and back", async () => {
  const all = await db.order(O1).parts("line").all();
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 13 }), fc.boolean(), fc.boolean(), async (limit, filtered, turned) => {
      let list = db.order(O1).parts("line");
      let wanted = all.map(({ n }) => n);
      if (filtered) {
        list = list.where({ n: { gt: 2 }, or: [{ text: { exists: false } }, { text: { beginsWith: "t1" } }] });
        wanted = all.filter(({ n, text }) => n > 2 && (text === undefined || text.startsWith("t1"))).map(({ n }) => n);
      }
      if (turned) {
        list = list.reverse();
        wanted = wanted.toReversed();
      }
      const pages: number[][] = [];
      let cursor: string | undefined;
      let previous: string | undefined;
      do {
        const page = await list.page({ limit, ...(cursor === undefined ? {} : { cursor }) });
        pages.push(page.items.map(({ n }) => n));
        if (pages.length === 2) ({ previous } = page);
        cursor = page.next;
      } while (cursor !== undefined);
      expect(pages.flat()).toEqual(wanted);
      if (previous !== undefined) expect((await list.page({ limit, cursor: previous })).items.map(({ n }) => n)).toEqual(pages[0]);
      expect((await list.first())?.n).toBe(wanted[0]);
      const each: number[] = [];
      for await (const { n } of list) each.push(n);
      expect(each).toEqual(wanted);
      expect(await list.count()).toBe(wanted.length);
    }),
    propertyRuns(30),
  );
});

test("a cursor is of its parts alone, and a page has a limit of its own", async () => {
  const list = db.order(O1).parts("line");
  const { next = "" } = await list.page({ limit: 2 });
  await expect(async () => db.order({ orderId: "O2" }).parts("line").page({ cursor: next })).rejects.toMatchObject({
    code: "cursor.invalid",
  });
  await expect(async () => list.reverse().page({ cursor: next })).rejects.toMatchObject({ code: "cursor.invalid" });
  expect(() => list.limit(3).page()).toThrow("limit");
});

test("a row of a part has its node's id by type, and is written back as it is", async () => {
  const { buyer, ...row } = (await db.line.get(O1, { n: 1 }))!;
  expectTypeOf(row.orderId).toEqualTypeOf<string>();
  const put = await db.line.put(O1, { ...row, text: "t1" }).orThrow();
  expectTypeOf(put.row!.orderId).toEqualTypeOf<string>();
  expect(await db.line.get(O1, { n: 1 })).toEqual({ ...row, buyer });
});
