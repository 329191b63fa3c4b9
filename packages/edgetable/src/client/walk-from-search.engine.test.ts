import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type SentRequest, type WalkOptions } from "../index.ts";

const text = z.string();

const graphOf = (table: string, shards: number) =>
  defineGraph({
    table,
    nodes: {
      place: node({
        key: "PLACE#{placeId}",
        schema: z.object({ placeId: text, country: text, rank: z.number(), area: z.number().optional() }),
      }),
      person: node({ key: "PERSON#{personId}", schema: z.object({ personId: text, age: z.number().optional(), team: text.optional() }) }),
    },
    edges: {
      livesIn: edge({ from: "person", to: "place" }),
      knows: edge({ from: "person", to: "person" }),
      near: edge({ from: "place", to: "place" }),
    },
    indexes: { byCountry: { entries: { place: { by: ["country", "rank:number"], split: 1 } }, shards } },
  });

let engine: TestEngine;
let sent: SentRequest[] = [];

beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const names = ["p0", "p1", "p2", "p3", "p4", "p5", "p6"];
const open = async (shards: number) => {
  const db = graphOf(engine.freshTableName("fromsearch"), shards).connect({
    transport: engine.transport,
    cursorSecret: "test".padEnd(43, "-"),
    onRequest: (request) => sent.push(request),
  });
  await db.table.create();
  for (const [rank, placeId] of names.entries())
    await db.place.create({ placeId, country: rank % 2 === 0 ? "UK" : "US", rank, ...(rank < 4 ? { area: rank * 1.5 } : {}) }).orThrow();
  for (const [at, personId] of "abcdef".split("").entries())
    await db.person.create({ personId, ...(at < 4 ? { age: 10 * at } : {}), team: at % 2 === 0 ? "red" : "blue" }).orThrow();
  for (const [personId, placeId] of [
    ["a", "p0"],
    ["b", "p2"],
    ["c", "p2"],
    ["d", "p1"],
    ["e", "p6"],
  ] as const)
    await db.livesIn.link({ personId }, { placeId }).orThrow();
  for (const [from, to] of [
    ["a", "b"],
    ["a", "c"],
    ["b", "c"],
    ["c", "f"],
    ["e", "f"],
  ] as const)
    await db.knows.link({ personId: from }, { personId: to }).orThrow();
  return db;
};

const operations = (): readonly string[] => sent.map(({ operation }) => operation);

const inParts = async <T>(
  ask: (options: WalkOptions) => {
    report(): Promise<{ readonly value: T & { readonly next: string | undefined }; readonly cost: { readonly requests: number } }>;
  },
  budget: NonNullable<WalkOptions["budget"]>,
): Promise<readonly T[]> => {
  const parts: T[] = [];
  let cursor: string | undefined;
  do {
    const { value, cost } = await ask({ budget, cursor }).report();
    expect(cost.requests).toBeLessThanOrEqual(budget.requests ?? 1000);
    parts.push(value);
    cursor = value.next;
    expect(parts.length).toBeLessThan(100);
  } while (cursor);
  return parts;
};

describe.each([1, 3])("a walk from the rows of a search over %i shards", (shards) => {
  let db: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    db = await open(shards);
  });
  const uk = () => db.find("place").where({ country: "UK" });

  test("sends the search and one Query for each row, within one budget", async () => {
    await uk().walk().ids();
    sent = [];
    const found = await uk().in("livesIn").ids();
    expect(found.items).toEqual([{ personId: "a" }, { personId: "b" }, { personId: "c" }, { personId: "e" }]);
    expect(operations()).toEqual(Array.from({ length: shards + 4 }, () => "Query"));
    const [search] = sent;
    expect(search?.input).toMatchObject({ IndexName: "byCountry" });
    expect(JSON.stringify(search?.input)).not.toContain("area");
  });

  test("takes the limit and the order of the search, and paths begin at its rows", async () => {
    expect((await uk().reverse().limit(2).walk().ids()).items).toEqual([{ placeId: "p6" }, { placeId: "p4" }]);
    expect(
      (
        await uk()
          .where({ rank: { gte: 1 } })
          .limit(1)
          .in("livesIn")
          .paths()
      ).items,
    ).toEqual([
      [
        { type: "place", placeId: "p2" },
        { type: "person", personId: "b" },
      ],
      [
        { type: "place", placeId: "p2" },
        { type: "person", personId: "c" },
      ],
    ]);
    expect((await uk().in("livesIn").out("knows").groupCount()).items).toEqual([
      { id: { personId: "c" }, count: 2 },
      { id: { personId: "f" }, count: 2 },
      { id: { personId: "b" }, count: 1 },
    ]);
    expect([...(await uk().in("livesIn").out("knows").except("passed").ids())]).toEqual([{ personId: "f" }]);
    expect([
      ...(await uk()
        .walk()
        .whereNode({ area: { gt: 1 } })
        .ids()),
    ]).toEqual([{ placeId: "p2" }]);
    expect((await db.find(["place"]).where({ country: "US" }).walk().count()).count).toBe(3);
  });

  test.each([{ requests: shards }, { requests: shards + 1 }, { breadth: 1 }, { units: 1 }, { breadth: 2, requests: 5 }])(
    "parts by %o are the whole",
    async (budget) => {
      const ids = (await inParts((options) => uk().in("livesIn").ids(options), budget)).flatMap(({ items }) => items);
      expect(ids.map(({ personId }) => personId).toSorted()).toEqual(["a", "b", "c", "e"]);
      const limited = await inParts((options) => uk().reverse().limit(3).walk().ids(options), budget);
      expect(limited.flatMap(({ items }) => items)).toEqual([{ placeId: "p6" }, { placeId: "p4" }, { placeId: "p2" }]);
      const sums = await inParts((options) => uk().in("livesIn").aggregate({ sum: "age", average: "age" }, options), budget);
      expect(sums.at(-1)).toMatchObject({ count: 4, sum: { age: 30 }, average: { age: 10 }, complete: true });
    },
  );

  test("explain() shows the search and prices it", async () => {
    const { requests, plan, cost, consistency } = await uk().in("livesIn").explain();
    expect(requests[0]).toMatchObject({ operation: "Query", input: { IndexName: "byCountry" }, times: shards });
    expect(requests[1]).toMatchObject({ operation: "Query", after: 'each node before in("livesIn")' });
    expect(plan.steps[0]).toMatchObject({ kind: "search", expect: { requests: shards } });
    expect(cost.requests).toBe(shards + plan.steps[1]!.expect.requests);
    expect(consistency).toBe("eventual");
  });

  test("a search that finds too much is sampled or refused", async () => {
    await expect(
      uk()
        .walk()
        .ids({ budget: { breadth: 2 }, supernode: "refuse" }),
    ).rejects.toMatchObject({ code: "traverse.supernode" });
    expect(
      await uk()
        .walk()
        .ids({ budget: { breadth: 2 }, supernode: "sample" }),
    ).toMatchObject({
      items: [{ placeId: "p0" }, { placeId: "p2" }],
      complete: false,
      next: undefined,
      stopped: { by: "breadth", hop: 0 },
    });
    expect(
      await uk()
        .walk()
        .ids({ budget: { breadth: 4 }, supernode: "refuse" }),
    ).toMatchObject({ complete: true, items: { length: 4 } });
  });

  test("what is no start is refused", async () => {
    expect(() => uk().in("livesIn").except("start")).toThrow(/has many starts/);
    // @ts-expect-error edges are no start of a walk
    expect(() => db.find("knows").walk()).toThrow(/A walk starts at nodes, and "knows" is a edge|an edge/);
    // @ts-expect-error there is no such edge
    expect(() => uk().in("livesInn")).toThrow(/Did you mean "livesIn"/);
    // @ts-expect-error no index finds persons
    await expect(db.find("person").where({ age: 3 }).out("knows").ids()).rejects.toMatchObject({ code: "plan.noIndex" });
    const { next } = await uk()
      .in("livesIn")
      .ids({ budget: { requests: shards } });
    await expect(db.find("place").where({ country: "US" }).in("livesIn").ids({ cursor: next })).rejects.toMatchObject({
      code: "cursor.invalid",
    });
    if (shards > 1)
      await expect(
        uk()
          .walk()
          .ids({ budget: { requests: shards - 1 } }),
      ).rejects.toMatchObject({
        code: "plan.invalidOption",
        message: expect.stringContaining("partitions"),
      });
  });
});

describe("attributes of the nodes at the end of a walk", () => {
  let db: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    db = await open(1);
  });
  const b = () => db.person({ personId: "a" }).out("knows").out("knows");

  test("are folded over all paths, or over nodes after dedupe", async () => {
    const all = db.find("place").where({ country: "UK" }).in("livesIn").out("knows");
    sent = [];
    const once = await all.dedupe().aggregate({ sum: "age", min: ["age"], max: "age", average: "age" });
    expect(once).toMatchObject({ count: 3, sum: { age: 30 }, min: { age: 10 }, max: { age: 20 }, average: { age: 15 }, complete: true });
    expect(operations().filter((one) => one === "BatchGetItem")).toHaveLength(1);
    expect(await all.aggregate({ sum: "age" })).toMatchObject({ count: 5, sum: { age: 50 } });
    expect(await b().aggregate()).toMatchObject({ count: 2, sum: {}, min: {} });
  });

  test("in groups, the largest first", async () => {
    const { items } = await db.find("place").where({ country: "UK" }).in("livesIn").groupBy("team", { sum: "age" });
    expect(items).toEqual([
      { group: { team: "red" }, count: 3, sum: { age: 20 }, min: {}, max: {}, average: {} },
      { group: { team: "blue" }, count: 1, sum: { age: 10 }, min: {}, max: {}, average: {} },
    ]);
    expect((await b().groupBy(["team", "age"], {}, { top: 1 })).items).toMatchObject([{ group: { team: "red", age: 20 }, count: 1 }]);
    const [none] = (await db.person({ personId: "c" }).out("knows").walk().groupBy("age")).items;
    expect(none).toMatchObject({ group: { age: undefined }, count: 1 });
  });

  test("a filter's rows are not read again, and the price is explained", async () => {
    sent = [];
    const { value, missing } = await db
      .person({ personId: "a" })
      .out("knows")
      .walk()
      .whereNode({ team: "red" })
      .aggregate({ max: "age" })
      .report();
    expect(value).toMatchObject({ count: 1, max: { age: 20 } });
    expect(missing ?? []).toEqual([]);
    expect(operations()).toEqual(["Query", "BatchGetItem"]);
    const { requests } = await db.person({ personId: "a" }).out("knows").walk().aggregate({ max: "age" }).explain();
    expect(requests).toMatchObject([{ operation: "Query" }, { operation: "BatchGetItem", times: 1 }]);
  });

  test("wrong names and values are refused", async () => {
    // @ts-expect-error there is no such attribute
    expect(() => b().aggregate({ sum: "agee" })).toThrow(/"agee" is not an attribute of the node "person"/);
    expect(() => b().groupBy([])).toThrow(/at least one attribute/);
    // @ts-expect-error there is no such figure
    expect(() => b().aggregate({ summ: "age" })).toThrow(/Did you mean "sum"/);
    await expect(b().aggregate({ sum: "team" as never })).rejects.toMatchObject({ code: "plan.invalidOption" });
  });
});
