import { defineGraph, edge, node, type Layout } from "edgetable";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { testRuns, testSeed } from "../engines/property-runs.ts";

const seed = testSeed();
const runs = testRuns(20);
const time = 60_000 + runs * 2000;

const text = z.string();

/** The edges of a person in their order, in one partition or spread over shards. */
const layoutOf = (shards: number): Layout => ({
  partitionKey: "PK",
  sortKey: "SK",
  typeAttribute: "kind",
  indexes: { byTime: { partitionKey: "TP", sortKey: "TS" } },
  nodes: { person: { keys: { SK: "META" } }, post: { keys: { SK: "META" } } },
  edges: {
    follows: { keys: { SK: "FOLLOWS#{to}" } },
    wrote: { keys: { SK: "WROTE#{to}", TP: shards > 1 ? `{from}#{to.postId:shard(${shards})}` : "{from}", TS: "{at}#{to}" } },
  },
});

const graphOf = (table: string, shards: number | undefined) =>
  defineGraph({
    table,
    nodes: {
      person: node({ key: "PERSON#{personId}", schema: z.object({ personId: text }) }),
      post: node({ key: "POST#{postId}", schema: z.object({ postId: text }) }),
    },
    edges: {
      follows: edge({ from: "person", to: "person", ends: "unchecked" }),
      wrote: edge({ from: "person", to: "post", schema: z.object({ at: text, n: z.number() }), orderBy: "at", ends: "unchecked" }),
    },
    ...(shards === undefined ? {} : { layout: layoutOf(shards) }),
  });

const PEOPLE = ["a", "b", "c", "d", "e"];
// Few moments, so that several have one; a post may be written by several.
const wrote = fc.record({
  by: fc.constantFrom(...PEOPLE),
  at: fc.constantFrom("1", "2", "3"),
  post: fc.nat({ max: 3 }),
  n: fc.nat({ max: 2 }),
});
type Wrote = typeof wrote extends fc.Arbitrary<infer One> ? One : never;

/** What happens between two pages. */
const change = fc.oneof(
  fc.record({ kind: fc.constant("follow" as const), who: fc.constantFrom(...PEOPLE) }),
  fc.record({ kind: fc.constant("unfollow" as const), who: fc.constantFrom(...PEOPLE) }),
  fc.record({ kind: fc.constant("write" as const), one: wrote }),
);
type Change = typeof change extends fc.Arbitrary<infer One> ? One : never;

const sortOf = ({ at, post }: Wrote): string => `${at}#POST#p${post}`;
const nameOf = (one: Wrote): string => `${one.by}:p${one.post}`;

interface Row {
  readonly from: { readonly personId: string };
  readonly to: { readonly postId: string };
  readonly at: string;
}

const followRow = (who: string): object => ({ edge: "follows", from: { personId: "x" }, to: { personId: who }, attributes: {} });
const writeRow = ({ by, at, post, n }: Wrote): object => ({
  edge: "wrote",
  from: { personId: by },
  to: { postId: `p${post}` },
  attributes: { at, n },
});

type Db = ReturnType<ReturnType<typeof graphOf>["connect"]>;

/** The same people and posts in arrays, and what the feed has given of them. */
interface World {
  readonly edges: Map<string, Wrote>;
  readonly followed: Set<string>;
  readonly given: Set<string>;
  /** The sort key of the last row given. */
  last: string | undefined;
  /** Who came, left or wrote between two pages. */
  readonly changed: Set<string>;
}

const happen = async (db: Db, world: World, one: Change): Promise<void> => {
  world.changed.add(one.kind === "write" ? one.one.by : one.who);
  if (one.kind === "unfollow") {
    await db.follows.unlink({ personId: "x" }, { personId: one.who });
    world.followed.delete(one.who);
  } else if (one.kind === "follow") {
    await db.load([followRow(one.who)] as never, { collisions: "ignore" });
    world.followed.add(one.who);
  } else if (!world.edges.has(nameOf(one.one))) {
    await db.load([writeRow(one.one)] as never, { collisions: "ignore" });
    world.edges.set(nameOf(one.one), one.one);
  }
};

/** A page is right: in order, nothing twice, nothing strange, nothing passed over. */
const checkPage = (
  world: World,
  {
    rows,
    limit,
    least,
    isLast,
  }: { readonly rows: readonly Row[]; readonly limit: number; readonly least: number; readonly isLast: boolean },
): void => {
  const { edges, followed, given, last } = world;
  // What is there now and was not given, from the place on where the last page ended.
  const candidates = [...edges.values()]
    .filter((one) => followed.has(one.by) && one.n >= least && !given.has(nameOf(one)) && (last === undefined || sortOf(one) <= last))
    .toSorted((one, other) => (sortOf(one) < sortOf(other) ? 1 : -1));
  const found = rows.map((row) => `${row.from.personId}:${row.to.postId}`);
  const sorts = rows.map((row) => `${row.at}#POST#${row.to.postId}`);
  if (world.changed.size === 0) expect(sorts).toEqual(candidates.slice(0, limit).map(sortOf));
  expect(sorts).toEqual(sorts.toSorted().toReversed());
  for (const name of found) {
    expect([...given]).not.toContain(name);
    expect(edges.has(name) && followed.has(name.slice(0, 1))).toBe(true);
    given.add(name);
  }
  const end = isLast ? "" : (sorts.at(-1) ?? "~");
  for (const one of candidates) {
    // What those who came meanwhile wrote at the very place where the page began may stand before it.
    const isBehind = sortOf(one) > end && (sortOf(one) < (last ?? "~") || !world.changed.has(one.by));
    if (isBehind) expect(found).toContain(nameOf(one));
  }
  world.last = sorts.at(-1) ?? last;
};

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const people = fc.subarray(PEOPLE);
const posts = fc.uniqueArray(wrote, { minLength: 4, maxLength: 20, selector: nameOf });
const pages = fc.array(fc.tuple(fc.integer({ min: 1, max: 6 }), fc.oneof(fc.constant([]), fc.array(change, { maxLength: 2 }))), {
  minLength: 1,
  maxLength: 6,
});
const filter = fc.option(fc.nat({ max: 2 }), { nil: undefined });
const CHANGING_PAGES = 12;

describe.each([
  ["the own layout", undefined],
  ["an adopted layout", 1],
  ["an index of four shards", 4],
] as const)("a feed over %s", (_, shards) => {
  test(`gives each edge once, newest first, whoever comes and goes (seed ${seed})`, { timeout: 2 * time }, async () => {
    const property = fc.asyncProperty(posts, people, pages, filter, async (all, some, turns, least) => {
      const table = engine.freshTableName("feed");
      const db = graphOf(table, shards).connect({ transport: engine.transport, cursorSecret: "feed".padEnd(43, "-") });
      await db.table.create();
      await db.load([...some.map(followRow), ...all.map(writeRow)] as never, { strict: true, collisions: "ignore" });
      const edges = new Map(all.map((one) => [nameOf(one), one]));
      const world: World = { edges, followed: new Set(some), given: new Set(), last: undefined, changed: new Set() };
      const hop = least === undefined ? { out: "wrote" as const } : { out: "wrote" as const, where: { n: { gte: least } } };
      let cursor: string | undefined;
      for (let turn = 0; turn === 0 || cursor !== undefined; turn++) {
        const [limit, changes] = turns[turn % turns.length]!;
        const page = await db.person({ personId: "x" }).out("follows").feed(hop, { limit, cursor, of: "edges" });
        checkPage(world, { rows: page.items, limit, least: least ?? 0, isLast: page.next === undefined });
        cursor = page.next;
        expect(turn).toBeLessThan(100);
        for (const one of turn < CHANGING_PAGES ? changes : []) await happen(db, world, one);
      }
      await engine.transport.send("DeleteTable", { TableName: table });
    });
    await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: time, markInterruptAsFailure: true });
  });
});
