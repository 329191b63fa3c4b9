import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node } from "../index.ts";

// Pages that their budget ends, some of them without a row: from each, `next` and `previous` lead to the rows on either side.

const text = z.string();
const marked = z.object({ id: text, day: text, rank: z.int(), mark: z.boolean() });

let engine: TestEngine;
const open = async () => {
  const graph = defineGraph({
    table: engine.freshTableName("short"),
    nodes: { song: node({ key: "S#{id}", schema: marked }), album: node({ key: "A#{id}", schema: marked }) },
    edges: { cites: edge({ from: "song", to: "song", schema: z.object({ mark: z.boolean() }), ends: "unchecked" }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      types: { RS: "N" },
      indexes: {
        byDay: { partitionKey: "DP", sortKey: "DS" },
        byRank: { partitionKey: "DP", sortKey: "RS" },
        turned: { partitionKey: "SK", sortKey: "PK" },
      },
      nodes: {
        song: { keys: { SK: "SONG", DP: "D#{id:shard(3)}", DS: "{day}", RS: "{rank:number}" } },
        album: { keys: { SK: "ALBUM", DP: "D#{id:shard(3)}", DS: "{day}" } },
      },
    },
  });
  const db = graph.connect({ transport: engine.transport, cursorSecret: "s".padEnd(43, "-") });
  await db.table.create();
  // Few rows are marked, and all days are one of three: most sort keys are equal.
  const rowOf = (at: number) => ({ id: `i${at}`, day: `d${at % 3}`, rank: at % 3, mark: at % 23 === 1 });
  await db.load([
    ...Array.from({ length: 260 }, (_, at) => ({ node: "song" as const, row: rowOf(at) })),
    ...Array.from({ length: 150 }, (_, at) => ({ node: "album" as const, row: rowOf(at) })),
  ]);
  const other = (at: number) => ({ id: `o${String(at).padStart(3, "0")}` });
  await db.load(
    Array.from({ length: 240 }, (_, at) => ({
      edge: "cites" as const,
      from: at < 120 ? { id: "hub" } : other(at),
      to: at < 120 ? other(at) : { id: "hub" },
      attributes: { mark: at % 37 === 3 },
    })),
    { strict: true },
  );
  return db;
};
let db: Awaited<ReturnType<typeof open>>;
beforeAll(async () => {
  engine = await openEngine();
  db = await open();
});
afterAll(() => engine.close());

interface Paged {
  readonly items: readonly unknown[];
  readonly next: string | undefined;
  readonly previous: string | undefined;
}
interface PageAsk {
  readonly limit: number;
  readonly cursor: string | undefined;
  readonly budget: { readonly requests: number };
}
type Ask = (options: PageAsk) => PromiseLike<Paged>;

const songs = (index: "byDay" | "byRank") => db.find("song").where({ mark: true }).using(index);

const cases = [
  ["of one partition", 1, () => db.song({ id: "hub" }).out("cites").where({ mark: true })],
  ["in both directions", 1, () => db.song({ id: "hub" }).both("cites").where({ mark: true })],
  ["of several shards", 3, () => songs("byDay")],
  ["of several shards, backwards", 3, () => songs("byDay").reverse()],
  [
    "of several shards, in a range",
    3,
    () =>
      songs("byDay")
        .where({ day: { beginsWith: "d", gte: "d1" } })
        .reverse(),
  ],
  ["of several shards by a number", 3, () => songs("byRank")],
  [
    "of several shards by a number, backwards",
    3,
    () =>
      songs("byRank")
        .where({ rank: { gte: 0 } })
        .reverse(),
  ],
  ["of several kinds", 6, () => db.find(["song", "album"]).where({ mark: true }).using("byDay")],
] as const satisfies readonly (readonly [string, number, () => { page: Ask } & AsyncIterable<unknown>])[];

test.each(cases)("%s", async (_, partitions, of) => {
  const asked = of();
  const page: Ask = async (options) => asked.page(options);
  const rows: string[] = [];
  for await (const row of asked) rows.push(JSON.stringify(row));
  expect(rows.length).toBeGreaterThan(3);
  for (const limit of [1, 4])
    for (const more of [0, 1]) {
      const budget = { requests: partitions + more };
      const pages: Paged[] = [];
      let cursor: string | undefined;
      do {
        expect(pages.length, `pages of ${limit}`).toBeLessThan(100);
        pages.push(await page({ limit, cursor, budget }));
        cursor = pages.at(-1)?.next;
      } while (cursor !== undefined);
      const itemsOf = (some: readonly Paged[]): readonly string[] => some.flatMap(({ items }) => items.map((one) => JSON.stringify(one)));
      expect(itemsOf(pages).toSorted(), `pages of ${limit}`).toEqual(rows.toSorted());
      for (const [at, { previous }] of pages.entries()) {
        if (at % 3 > 0) continue;
        const back: string[] = [];
        for (let before = previous, parts = 0; before !== undefined;) {
          expect(parts++, `back from page ${at} of pages of ${limit}`).toBeLessThan(100);
          const one = await page({ limit, cursor: before, budget });
          back.unshift(...itemsOf([one]));
          before = one.previous;
        }
        expect(back, `back from page ${at} of pages of ${limit}, ${budget.requests} requests each`).toEqual(itemsOf(pages.slice(0, at)));
      }
    }
});
