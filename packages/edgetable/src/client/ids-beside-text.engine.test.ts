import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const open = async () => {
  const onDelete = { from: "cascade", to: "cascade" } as const;
  const graph = defineGraph({
    table: engine.freshTableName("ids"),
    nodes: {
      coin: node({ key: "COIN#{n:number}", schema: z.object({ n: z.bigint(), worth: z.bigint().optional() }), unique: ["worth"] }),
      day: node({ key: "DAY#{at:date}", schema: z.object({ at: z.date() }) }),
    },
    edges: {
      beside: edge({ from: "coin", to: "coin", symmetric: true, onDelete }),
      paid: edge({ from: "coin", to: "coin", schema: z.object({ fee: z.bigint() }), orderBy: "fee:number", onDelete }),
      next: edge({ from: "day", to: "day", onDelete }),
    },
    indexes: { byWorth: { entries: { coin: { by: "worth:number", sparse: true } } } },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  return db;
};

const large = 2n ** 70n;

describe("ids that are bigints", () => {
  test("link, page, search and go with all that is at them", async () => {
    const db = await open();
    for (const n of [large, large + 1n, 5n]) await db.coin.create({ n, worth: n }).orThrow();
    await db.beside.link({ n: large }, { n: 5n }).orThrow();
    // The same node by its number: an edge to itself is one item.
    expect(await db.beside.link({ n: 5n }, { n: 5 as never })).toMatchObject({ ok: true, atomic: { items: 2 } });
    for (const [at, n] of [large + 1n, 5n].entries()) await db.paid.link({ n: large }, { n }, { fee: large * BigInt(at + 1) }).orThrow();
    const paid = db
      .coin({ n: large })
      .out("paid")
      .where({ fee: { gte: 1n } });
    const { items, next } = await paid.page({ limit: 1 });
    expect(items).toEqual([{ from: { n: large }, to: { n: large + 1n }, fee: large }]);
    expect((await paid.page({ limit: 1, cursor: next! })).items).toMatchObject([{ fee: large * 2n }]);
    const worth = db.find("coin").where({ worth: { gte: 6n } });
    expect((await worth.page({ limit: 1 })).items).toEqual([{ n: large, worth: large }]);
    const missing = () => db.paid.link({ n: large }, { n: 9n }, { fee: 1n });
    await expect(missing().orThrow()).rejects.toMatchObject({ message: expect.stringContaining('endMissing (to {"n":"9n"})') as unknown });
    const pair = await db.transact([missing(), db.beside.link({ n: large }, { n: 9n })]);
    expect(pair.outcomes).toMatchObject([
      { reason: "endMissing", id: { n: 9n } },
      { reason: "endMissing", id: { n: 9n } },
    ]);
    expect(await db.coin.delete({ n: large })).toMatchObject({ ok: true });
    expect(await db.coin({ n: 5n }).in("paid").edges()).toEqual([]);
    expect(await db.coin({ n: 5n }).out("beside").ids()).toEqual([{ n: 5 }]);
  });

  test("keep their unique values, by whichever form of the id they are called", async () => {
    const db = await open();
    await db.coin.create({ n: 5n, worth: 1n }).orThrow();
    await db.coin.create({ n: 10n ** 21n, worth: 2n }).orThrow();
    expect(await db.coin.update({ n: 5n }, { worth: 3n })).toMatchObject({ ok: true });
    expect(await db.coin.update({ n: 5 as never }, { worth: 4n })).toMatchObject({ ok: true });
    expect(await db.coin.update({ n: 10n ** 21n }, { worth: 4n })).toMatchObject({ reason: "notUnique" });
    expect(await db.coin.delete({ n: 10n ** 21n })).toMatchObject({ ok: true });
    expect(await db.coin.put({ n: 5n, worth: 2n })).toMatchObject({ ok: true });
  });
});

test("a node whose id is a date goes with its edges", async () => {
  const db = await open();
  const [before, after] = [{ at: new Date(-1) }, { at: new Date(0) }];
  await db.transact([db.day.create(before), db.day.create(after), db.next.link(before, after)]);
  expect(await db.day.delete(before)).toMatchObject({ ok: true });
  expect(await db.day(after).collection()).toMatchObject({ node: after });
  expect(await db.day(after).in("next").edges()).toEqual([]);
});
