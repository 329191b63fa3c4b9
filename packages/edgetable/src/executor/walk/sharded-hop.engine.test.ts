import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type Layout } from "../../index.ts";

const text = z.string();
const SHARDS = 4;
const PEOPLE = 40;

/** Births at a place, in the order of their dates, spread over shards of the person. */
const graphOf = (table: string, shards: string) => {
  const layout: Layout = {
    partitionKey: "PK",
    sortKey: "SK",
    delimiter: "|",
    indexes: { byDate: { partitionKey: "GP", sortKey: "GS" } },
    nodes: { person: { keys: { SK: "PERSON" } }, place: { keys: { SK: "PLACE" } } },
    edges: {
      bornIn: { keys: { SK: "BORN|{to}", GP: `{to}|{from.personId:shard(${shards})}`, GS: "{date}" } },
      likes: { keys: { SK: "LIKES|{to}" } },
    },
  };
  return defineGraph({
    table,
    nodes: {
      person: node({ key: "P{personId}", schema: z.object({ personId: text }) }),
      place: node({ key: "L{placeId}", schema: z.object({ placeId: text }) }),
    },
    edges: {
      bornIn: edge({ from: "person", to: "place", schema: z.object({ date: text, weight: z.number() }), ends: "unchecked" }),
      likes: edge({ from: "person", to: "person", ends: "unchecked" }),
    },
    layout,
  });
};

const bornAt = (at: number): string => `19${String((at * 17) % PEOPLE).padStart(2, "0")}`;
const byDate = Array.from({ length: PEOPLE }, (_, at) => at).toSorted((a, b) => (bornAt(a) < bornAt(b) ? -1 : 1));
const oldest = byDate.map((at) => `p${at}`);

let engine: TestEngine;
let table: string;
interface Sent {
  readonly operation: string;
  readonly input: Readonly<Record<string, unknown>>;
}
const sent: Sent[] = [];
const open = (shards = String(SHARDS), rulesOff: readonly string[] = []) =>
  graphOf(table, shards).connect({
    transport: {
      send: async (operation, input, options) => {
        sent.push({ operation, input: JSON.parse(JSON.stringify(input).replaceAll(table, "T")) as never });
        return engine.transport.send(operation, input, options);
      },
      close: () => undefined,
    },
    cursorSecret: "s".padEnd(43, "-"),
    advanced: { rulesOff },
  });

beforeAll(async () => {
  engine = await openEngine();
  table = engine.freshTableName("hop");
  const db = open();
  await db.table.create();
  await db.load(
    Array.from(
      { length: PEOPLE },
      (_, at) =>
        [
          {
            edge: "bornIn",
            from: { personId: `p${at}` },
            to: { placeId: "x" },
            attributes: { date: bornAt(at), weight: at },
          },
          { edge: "likes", from: { personId: `p${at}` }, to: { personId: `q${at}` }, attributes: {} },
        ] as const,
    ).flat(),
    { strict: true },
  );
});
afterAll(() => engine.close());

const births = (db = open()) => db.place({ placeId: "x" }).in("bornIn");
const names = (ids: Iterable<unknown>): readonly string[] => [...ids].map((id) => (id as { personId: string }).personId);

test("limit() of a sharded hop gives the first of all partitions: for the edges themselves, and for a walk", async () => {
  for (const limit of [1, 5, 17, PEOPLE, PEOPLE + 1]) {
    expect(names(await births().limit(limit).ids())).toEqual(oldest.slice(0, limit));
    expect(names(await births().limit(limit).walk().ids())).toEqual(oldest.slice(0, limit));
    expect(names(await births().reverse().limit(limit).walk().ids())).toEqual(oldest.toReversed().slice(0, limit));
    expect(await births().limit(limit).walk().count()).toMatchObject({ count: Math.min(limit, PEOPLE), complete: true });
  }
  sent.length = 0;
  expect(names(await births().limit(3).out("likes").ids())).toEqual(oldest.slice(0, 3).map((id) => id.replace("p", "q")));
  const hop = sent.filter(({ input }) => input["IndexName"] === "byDate");
  expect(hop.slice(0, SHARDS).map(({ input }) => input)).toEqual(
    Array.from({ length: SHARDS }, (_, shard) => ({
      TableName: "T",
      IndexName: "byDate",
      KeyConditionExpression: "#p = :p",
      ProjectionExpression: "PK, SK, #0",
      ExpressionAttributeNames: { "#p": "GP", "#0": "GS" },
      ExpressionAttributeValues: { ":p": { S: `Lx|${shard}` } },
      Limit: 4,
      ReturnConsumedCapacity: "TOTAL",
    })),
  );
  const { requests, cost } = await births().limit(3).walk().explain();
  expect(requests).toMatchObject([
    { input: { ...hop[0]?.input, TableName: table }, times: SHARDS, partitions: ["Lx|0", "Lx|1", "Lx|2", "Lx|3"] },
  ]);
  expect(cost).toEqual({ requests: SHARDS, readUnits: SHARDS / 2 });
});

test("conditions, sums and switched-off rules give the same", async () => {
  const heavy = byDate.filter((at) => at >= 10).slice(0, 6);
  for (const rulesOff of [[], ["project-ends"], ["filter-on-server"], ["push-conditions-into-keys"]]) {
    const walk = births(open(String(SHARDS), rulesOff))
      .where({ weight: { gte: 10 } })
      .limit(6)
      .walk();
    expect(names(await walk.ids())).toEqual(heavy.map((at) => `p${at}`));
    expect((await walk.sum("weight")).items.map(({ value }) => value)).toEqual(heavy);
  }
});

test("a budget stops it, and its parts add up to the whole", async () => {
  for (const budget of [{ requests: 1 }, { requests: 2 }, { requests: 3 }, { breadth: 1 }, { breadth: 3 }]) {
    const ids: string[] = [];
    let cursor: string | undefined;
    let rounds = 0;
    do {
      sent.length = 0;
      const part = await births().limit(7).walk().ids({ budget, cursor });
      // The record of the model is read once for all calls, and is no part of a budget.
      const asked = sent.filter(({ operation }) => operation !== "GetItem");
      if (budget.requests) expect(asked.length).toBeLessThanOrEqual(budget.requests);
      ids.push(...names(part));
      expect(part.complete).toBe(part.next === undefined);
      cursor = part.next;
      rounds++;
    } while (cursor !== undefined && rounds < 50);
    expect(ids).toEqual(oldest.slice(0, 7));
  }
  const short = await births()
    .limit(7)
    .walk()
    .sum("weight", { budget: { requests: 2 } });
  const whole = await births().limit(7).walk().sum("weight", { cursor: short.next });
  expect(whole.items.map(({ value }) => value)).toEqual(byDate.slice(0, 7));
});

test("while the shards grow, an edge that moves is taken once", async () => {
  const during = open(`16|${SHARDS}`);
  expect(names(await births(during).limit(9).walk().ids())).toEqual(oldest.slice(0, 9));
  for (const at of byDate.slice(0, 5)) {
    await during.bornIn.put({ personId: `p${at}` }, { placeId: "x" }, { date: bornAt(at), weight: at }).orThrow();
  }
  expect(names(await births(during).limit(9).walk().ids())).toEqual(oldest.slice(0, 9));
});
