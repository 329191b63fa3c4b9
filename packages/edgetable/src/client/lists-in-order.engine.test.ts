import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part, type SentRequest } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

// A list of values of what the sort key goes on with reads from its least value to its greatest, in the order of the edges.

const DAYS = 400;
const day = (at: number): Date => new Date(Date.UTC(2026, 0, 1 + at));

let engine: TestEngine;
const sent: SentRequest[] = [];
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      sensor: node({ key: "SENSOR#{id}", schema: z.object({ id: z.string() }) }),
      place: node({ key: "PLACE#{id}", schema: z.object({ id: z.string() }) }),
    },
    edges: {
      measured: edge({
        from: "sensor",
        to: "place",
        schema: z.object({ level: z.int(), mark: z.string() }),
        orderBy: "level:number",
        ends: "unchecked",
      }),
      visited: edge({
        from: "sensor",
        to: "place",
        schema: z.object({ at: z.date() }),
        dates: ["at"],
        orderBy: "at:date",
        ends: "unchecked",
      }),
    },
    parts: { note: part({ of: "sensor", key: "NOTE#{no:number}", schema: z.object({ no: z.int(), words: z.string() }) }) },
  });
let db: ReturnType<ReturnType<typeof graphOf>["connect"]>;

beforeAll(async () => {
  engine = await startEngine();
  db = graphOf(engine.freshTableName("lists")).connect({
    transport: engine.transport,
    onRequest: (request) => void (request.operation === "Query" && sent.push(request)),
  });
  await db.table.create();
  const ends = (at: number) => ({ from: { id: "s" }, to: { id: `p${at}` } });
  const levels = Array.from({ length: DAYS }, (_, at) => ({
    edge: "measured" as const,
    ...ends(at),
    attributes: { level: at - 100, mark: "x".repeat(400) },
  }));
  const visits = Array.from({ length: DAYS }, (_, at) => ({ edge: "visited" as const, ...ends(at), attributes: { at: day(at) } }));
  const notes = Array.from({ length: DAYS }, (_, at) => ({
    part: "note" as const,
    owner: { id: "s" },
    row: { no: at, words: "x".repeat(400) },
  }));
  await db.load([{ node: "sensor", row: { id: "s" } }, ...levels, ...visits, ...notes], { strict: true });
});
afterAll(() => engine.stop());
beforeEach(() => void (sent.length = 0));

const sensor = () => db.sensor({ id: "s" });

test("edges by a list of numbers: one Query of those between", async () => {
  const links = sensor()
    .out("measured")
    .where({ level: { in: [7, -3, 2, 7] } });
  expect((await links.edges()).map(({ level }) => level)).toEqual([-3, 2, 7]);
  expect((await links.reverse().edges()).map(({ level }) => level)).toEqual([7, 2, -3]);
  expect(await links.count()).toBe(3);
  expect(sent).toHaveLength(3);
  for (const { readUnits } of sent) expect(readUnits).toBeLessThan(2);
  const page = await links.page({ limit: 2 });
  expect(page.items.map(({ level }) => level)).toEqual([-3, 2]);
  expect((await links.page({ limit: 2, cursor: page.next })).items.map(({ level }) => level)).toEqual([7]);
});

test("edges by a list of Dates, and of ids of the far end", async () => {
  const visits = sensor().out("visited");
  expect((await visits.where({ at: { in: [day(30), day(20)] } }).edges()).map(({ to }) => to.id)).toEqual(["p20", "p30"]);
  expect(await visits.where({ at: { in: [day(30), day(900)] }, to: { id: "p30" } }).count()).toBe(1);
  for (const { itemsRead } of sent) expect(itemsRead).toBeLessThan(DAYS);
});

test("parts by a list", async () => {
  const notes = sensor()
    .parts("note")
    .where({ no: { in: [12, 10] } });
  expect((await notes.all()).map(({ no }) => no)).toEqual([10, 12]);
  expect(await notes.count()).toBe(2);
  for (const { readUnits } of sent) expect(readUnits).toBeLessThan(2);
});

test("hops of walks and feeds by a list", async () => {
  const where = { level: { in: [7, -3, 2] } };
  expect((await sensor().walk().out("measured").where(where).ids()).items.map(({ id }) => id).toSorted()).toEqual(["p102", "p107", "p97"]);
  const feed = sensor().walk().feed({ out: "measured", where }, { limit: 5 });
  expect((await feed).items).toHaveLength(3);
});

test.each([
  ["null", [7, null], 1],
  ["text", [7, "2"], 1],
  ["one value twice", [7, 7], 1],
  ["a value beyond all", [7, 1e120], 1],
  ["nothing that is there", [7.5, 8.5], 0],
])("a list with %s", async (_, members, count) => {
  expect(
    await sensor()
      .out("measured")
      .where({ level: { in: members as number[] } })
      .count(),
  ).toBe(count);
});

test("a search by a list beside an equality, where the model does not say how many rows share a value", async () => {
  const words = defineGraph({
    table: engine.freshTableName("words"),
    nodes: { word: node({ key: "WORD#{id}", schema: z.object({ id: z.string(), pos: z.string(), count: z.int(), mark: z.string() }) }) },
    indexes: { byPos: { entries: { word: ["pos", "count:number"] } } },
  }).connect({ transport: engine.transport, onRequest: (request) => void (request.operation === "Query" && sent.push(request)) });
  await words.table.create();
  await words.load(
    Array.from({ length: DAYS }, (_, at) => ({
      node: "word" as const,
      row: { id: `w${at}`, pos: "v", count: at, mark: "x".repeat(400) },
    })),
    { strict: true },
  );
  sent.length = 0;
  const found = words.find("word").where({ pos: "v", count: { in: [9, 5, 7, 100_000] } });
  expect((await found.rows()).map(({ count }) => count)).toEqual([5, 7, 9]);
  const few = words.find("word").where({ pos: "v", count: { in: [9, 5, 7, 3] } });
  expect((await few.reverse().rows()).map(({ count }) => count)).toEqual([9, 7, 5, 3]);
  expect((await few.page({ limit: 2 })).items.map(({ count }) => count)).toEqual([3, 5]);
  expect(await few.count()).toBe(4);
  expect(sent.slice(1).reduce((sum, { readUnits }) => sum + readUnits, 0)).toBeLessThan(6);
});

test("a list leaves a search in the index that finds it best without a range, with all attributes", async () => {
  const words = defineGraph({
    table: engine.freshTableName("partial"),
    nodes: {
      word: node({
        key: "WORD#{id}",
        schema: z.object({ id: z.string(), pos: z.string(), count: z.int(), mark: z.string() }),
        // Few words of a kind, so that one Query costs less than one for each value.
        expect: { rowsPerValue: { pos: 2 } },
      }),
    },
    indexes: {
      byPos: { entries: { word: "pos" } },
      byPosAndCount: { entries: { word: ["pos", "count:number"] }, projection: "KEYS_ONLY" },
    },
  }).connect({ transport: engine.transport });
  await words.table.create();
  const row = (count: number) => ({ id: `w${count}`, pos: "v", count, mark: count > 2 ? "high" : "low" });
  for (const count of [1, 2, 3]) await words.word.create(row(count)).orThrow();
  const found = words.find("word").where({ pos: "v", count: { in: [3, 1] } });
  expect(await found.rows()).toEqual([row(1), row(3)]);
  expect(await found.where({ mark: "high" }).rows()).toEqual([row(3)]);
});

const lists: readonly (readonly unknown[])[] = [
  ["2", "3"],
  [2, 3],
  [2n, 3n],
  [2.5],
  [-1, 2],
  [2 ** 60, 2],
  [true],
  [new Uint8Array([1])],
  ["n2", "n3"],
  ["N2"],
  [""],
  ["n#2", "n2"],
  ["\u{10FFFF}", "n2"],
  ["x".repeat(2000), "n2"],
  [[1], [2]],
  [{ a: 1 }],
];

test.each(["level:number", "level:6", "name"])(
  "the order %s: a list of anything gives what the same list within `or` does",
  async (orderBy) => {
    const things = defineGraph({
      table: engine.freshTableName("things"),
      nodes: { thing: node({ key: "THING#{id}", schema: z.object({ id: z.string() }) }) },
      edges: {
        link: edge({
          from: "thing",
          to: "thing",
          schema: z.object({ level: z.int(), name: z.string() }),
          orderBy: orderBy as "name",
          ends: "unchecked",
        }),
      },
    }).connect({ transport: engine.transport });
    await things.table.create();
    for (const level of [1, 2, 3]) await things.link.link({ id: "x" }, { id: `y${level}` }, { level, name: `n${level}` }).orThrow();
    const [field = ""] = orderBy.split(":");
    const found = async (where: object) => (await things.thing({ id: "x" }).out("link").where(where).edges()).map(({ to }) => to.id);
    for (const list of lists) expect(await found({ [field]: { in: list } })).toEqual(await found({ or: [{ [field]: { in: list } }] }));
  },
);
