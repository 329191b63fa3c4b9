import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, node, type SentRequest, type ShardCounts } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();
const graphIn = (table: string, shards: ShardCounts = 8) =>
  defineGraph({
    table,
    nodes: {
      event: node({
        key: "EVENT#{id}",
        schema: z.object({ id: text, kind: text, at: text }),
        expect: { bytes: 4096, rowsPerValue: { kind: 80 } },
      }),
    },
    indexes: { byKind: { entries: { event: { by: ["kind", "at"], split: 1, shards } } }, byAt: { entries: { event: "at" } } },
  });

const open = async (shards?: ShardCounts) => {
  const sent: SentRequest[] = [];
  const db = graphIn(engine.freshTableName("listed"), shards).connect({
    transport: engine.transport,
    cursorSecret: "s".padEnd(43, "-"),
    onRequest: (one) => sent.push(one),
  });
  await db.table.create();
  await db.load(
    Array.from({ length: 40 }, (_, at) => ({ node: "event", row: { id: `e${at}`, kind: "K", at: String(at).padStart(2, "0") } }) as const),
  );
  sent.length = 0;
  const partitions = () =>
    sent
      .splice(0)
      .filter(({ operation }) => operation === "Query")
      .map(({ input }) => (input as { ExpressionAttributeValues: { ":p": { S: string } } }).ExpressionAttributeValues[":p"].S);
  /** The shard in which a row lies. */
  const shardOf = async (id: string): Promise<number> => {
    for (let shard = 0; shard < 8; shard++) {
      const rows = await db.find("event").where({ kind: "K" }).shards(shard).rows();
      if (rows.some((row) => row.id === id)) return shard;
    }
    throw new Error(`no shard of ${id}`);
  };
  return { db, partitions, shardOf };
};

test("a search reads the listed shards alone, in one order, at their price", async () => {
  const { db, partitions, shardOf } = await open();
  const asked = db.find("event").where({ kind: "K" });
  const listed = asked.shards(6, 1, 6);
  const all = await asked.rows();
  partitions();
  const rows = await listed.rows();
  expect(partitions().toSorted()).toEqual(["event#K#1", "event#K#6"]);
  const shards = await Promise.all(all.map(({ id }) => shardOf(id)));
  expect(rows).toEqual(all.filter((_, at) => [1, 6].includes(shards[at]!)));
  expect(rows.length).toBeGreaterThan(0);
  expect(await listed.reverse().rows()).toEqual(rows.toReversed());
  expect(await listed.count()).toBe(rows.length);
  expect(
    await asked
      .where({ at: { gte: "20" } })
      .shards(1)
      .rows(),
  ).toEqual(all.filter(({ at }, number) => at >= "20" && shards[number] === 1));

  const [whole, part] = [await asked.explain(), await listed.explain()];
  expect(part.requests).toMatchObject([{ times: 2, partitions: ["event#K#1", "event#K#6"] }]);
  expect(part.cost.readUnits).toBeLessThan(whole.cost.readUnits / 3);
  expect(part.notes.join()).toContain("reads the shards 1, 6 of byKind and merges them");

  // A walk starts at them.
  partitions();
  expect(await listed.walk().ids()).toMatchObject({ items: rows.map(({ id }) => ({ id })) });
  expect(partitions().toSorted()).toEqual(["event#K#1", "event#K#6"]);
});

test("pages go on over the listed shards, and a cursor belongs to them", async () => {
  const { db } = await open();
  const listed = db.find("event").where({ kind: "K" }).shards(0, 2, 5);
  const rows = await listed.rows();
  const paged = [];
  for (let cursor: string | undefined; ;) {
    const page: Awaited<ReturnType<typeof listed.page>> = await listed.page({ limit: 3, cursor });
    paged.push(...page.items);
    cursor = page.next;
    if (cursor === undefined) break;
    await expect(db.find("event").where({ kind: "K" }).shards(0, 2).page({ limit: 3, cursor }).run()).rejects.toMatchObject({
      code: "cursor.invalid",
    });
  }
  expect(paged).toEqual(rows);
});

test("while a count grows, the listed shards are those of either count", async () => {
  const { db, partitions } = await open([16, 8]);
  const rows = await db.find("event").where({ kind: "K" }).shards(3, 11).rows();
  expect(partitions().toSorted()).toEqual(["event#K#11", "event#K#3"]);
  expect(rows.length).toBeGreaterThan(0);
});

test("a shard that there is not, and a search of one partition, are refused", async () => {
  const { db } = await open();
  const asked = db.find("event").where({ kind: "K" });
  expect(() => asked.shards()).toThrow("shards() needs at least one number");
  expect(() => asked.shards(1.5)).toThrow("shards");
  await expect(asked.shards(8).rows().run()).rejects.toThrow('there is no shard 8 of "event": they are 0 to 7');
  // The id says the shard.
  await expect(asked.where({ id: "e1" }).shards(0).rows().run()).rejects.toThrow('what is asked of "event" lies in one partition');
});
