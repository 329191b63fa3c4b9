import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { count, defineGraph, edge, node, part, sum } from "edgetable";
import { verify } from "edgetable/verify";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import {
  commonNeighbours,
  components,
  degrees,
  derive,
  derived,
  extract,
  hops,
  openLake,
  pageRank,
  rollUp,
  runOnSpark,
  top,
  validate,
  validation,
  weightedSum,
  type Lake,
} from "../index.ts";
import { comparable, hasSpark, python } from "../test-support/spark.ts";

/** What a lake says of edges of every kind is what the library's own calls say. */
const text = z.string();
const batch = { freshness: "batch" } as const;
const anyEnds = { onDelete: { from: "cascade", to: "cascade" } } as const;
const fromOne = { from: { type: "thing", id: "t1" } };
const fromTenant = { from: { tenant: { beginsWith: "ü/" }, n: { lt: 0 } } };
const graph = defineGraph({
  table: "Kinds",
  nodes: {
    thing: node({
      key: "THING#{id}",
      schema: z.object({ id: text, size: z.int() }),
      derived: {
        friends: count({ in: "friend" }),
        friendsLater: count({ in: "friend", ...batch }),
        paid: sum({ out: "pays", of: "amount" }),
        paidLater: sum({ out: "pays", of: "amount", ...batch }),
        fromOne: count({ in: "likes", where: fromOne }),
        fromOneLater: count({ in: "likes", where: fromOne, ...batch }),
        fromTenant: count({ in: "likes", where: fromTenant }),
        fromTenantLater: count({ in: "likes", where: fromTenant, ...batch }),
      },
    }),
    user: node({ key: "USER#{tenant}#{n:number}", schema: z.object({ tenant: text, n: z.number() }) }),
    place: node({ key: "PLACE#{country}#{city}", schema: z.object({ country: text, city: text }) }),
    bare: node({ key: "BARE#{id}", schema: z.object({ id: text }), stored: false }),
    owner: node({ key: "OWNER#{id}", schema: z.object({ id: text, bossId: text.optional() }) }),
  },
  edges: {
    likes: edge({ from: ["thing", "user"], to: ["thing", "place"], ...anyEnds }),
    pays: edge({ from: "thing", to: "thing", key: ["no"], schema: z.object({ no: z.int(), amount: z.bigint().optional() }), ...anyEnds }),
    friend: edge({ from: "thing", to: "thing", symmetric: true, schema: z.object({ w: z.int() }), ...anyEnds }),
    follows: edge({ from: "thing", to: "user", stored: "twice", ...anyEnds }),
    lies: edge({ from: "thing", to: "bare", ends: "unchecked" }),
    boss: edge({ from: "owner", to: "owner", stored: "reference", by: { id: "bossId" } }),
  },
});

const WIDE = 3n * 10n ** 36n + 10n;
let engine: LocalEngine;
let folder: string;
let lake: Lake;
const connect = () => graph.connect({ endpoint: engine.endpoint });
const relake = async (): Promise<void> => {
  lake?.close();
  await extract(connect(), { into: join(folder, "lake"), memoryLimit: "256MB" });
  lake = await openLake(join(folder, "lake"), { memoryLimit: "256MB", threads: 1 });
};
const jobs = () => [
  degrees(lake),
  pageRank(lake, { edges: ["friend", "pays"], rounds: 3 }),
  components(lake),
  hops(lake, { from: "select node from thing where id = 't0'", edges: ["friend"] }),
  commonNeighbours(lake, { atLeast: 1 }),
  weightedSum(lake, { edge: "friend", weight: "w" }),
  rollUp(lake, { node: "thing", sum: "size", along: [{ edge: "friend" }] }),
  derived(lake, graph.catalog),
  validation(lake, graph.catalog),
];

beforeAll(async () => {
  engine = await startEngine();
  folder = await mkdtemp(join(tmpdir(), "kinds-"));
  await connect().table.create();
});
afterAll(async () => {
  lake?.close();
  await engine.stop();
  await rm(folder, { recursive: true, force: true });
});

test("every job runs over an empty table, and over one node", async () => {
  await relake();
  for (const job of jobs()) expect([job.job, await lake.run(job)]).toEqual([job.job, []]);
  expect(await validate(lake, graph.catalog)).toMatchObject({ clean: true, rows: 0 });
  await connect().thing.create({ id: "alone", size: 1 }).orThrow();
  await relake();
  expect(await validate(lake, graph.catalog)).toMatchObject({ kinds: [{ kind: "wrongAggregate", count: 4 }], rows: 1 });
  for (const job of jobs().slice(0, 6)) expect([job.job, await lake.run(job)]).toEqual([job.job, []]);
});

test("degrees, hops, sums and derived attributes are what the library's own calls say, in DuckDB and in Spark", async () => {
  const db = connect();
  const things = ["t0", "t1", "t2", "t3", "ü/🌍 #x"].map((id) => ({ id }));
  for (const [size, one] of things.entries()) await db.thing.create({ ...one, size }).orThrow();
  const users = [
    { tenant: "a", n: 1 },
    { tenant: "ü/1", n: -1.5 },
    { tenant: "ü/1", n: 1e21 },
    { tenant: "=5", n: -1 },
  ];
  for (const one of users) await db.user.create(one).orThrow();
  await db.place.create({ country: "US", city: "a:b/c" }).orThrow();
  for (const [id, bossId] of [["o1"], ["o2", "o1"], ["o3", "nobody"], ["o4", "o4"]] as const)
    await db.owner.create({ id: id!, ...(bossId === undefined ? {} : { bossId }) }).orThrow();
  const at = (n: number) => things[n % things.length]!;
  for (let n = 0; n < 5; n++) {
    await db.likes.link({ type: "thing", ...at(n) }, { type: "thing", ...at(n * 2) }).orThrow();
    for (const user of users) if (n !== 2) await db.likes.link({ type: "user", ...user }, { type: "thing", ...at(n) }).orThrow();
    await db.likes.link({ type: "thing", ...at(n) }, { type: "place", country: "US", city: "a:b/c" }).orThrow();
    // Parallel edges, and one from a node to itself.
    for (const no of [1, 2]) await db.pays.link(at(n), at(n * n), { no, ...(n % 2 ? { amount: WIDE } : {}) }).orThrow();
    await db.follows.link(at(n), users[n % 4]!).orThrow();
    await db.lies.link(at(n), { id: `b${n % 2}` }).orThrow();
  }
  // A chain that is linked against its direction, and a loop.
  for (const [a, b] of [
    [1, 0],
    [2, 1],
    [2, 3],
    [2, 2],
  ] as const)
    await db.friend.link(at(a), at(b), { w: a + b }).orThrow();
  await relake();

  const idOf = { thing: ["id"], user: ["tenant", "n"], place: ["country", "city"], owner: ["id"] } as const;
  const asked = [
    ["likes", "thing", "out"],
    ["likes", "thing", "in"],
    ["likes", "user", "out"],
    ["likes", "place", "in"],
    ["pays", "thing", "out"],
    ["pays", "thing", "in"],
    ["friend", "thing", "out"],
    ["friend", "thing", "in"],
    ["follows", "thing", "out"],
    ["follows", "user", "in"],
    ["lies", "thing", "out"],
    ["boss", "owner", "out"],
    ["boss", "owner", "in"],
  ] as const;
  interface Counted {
    readonly count: () => PromiseLike<{ readonly count: number } | number>;
  }
  const untyped = db as unknown as Record<string, (id: object) => Record<"in" | "out", (edge: string) => Counted>>;
  for (const [name, type, direction] of asked) {
    const found = new Map((await lake.run(degrees(lake, { edges: [name] }))).map((row) => [row["node"], row]));
    for (const row of await lake.query(
      `select * from ${lake.tables.find((one) => one.kind === "node" && one.definition === type)!.name}`,
    )) {
      const id = Object.fromEntries(idOf[type].map((field) => [field, row[field]]));
      const own = await untyped[type]!(id)[direction](name).count();
      const degree = found.get(row["node"]);
      expect([name, direction, row["node"], Number(degree?.[`${direction}_degree`] ?? 0)]).toEqual([
        name,
        direction,
        row["node"],
        typeof own === "number" ? own : own.count,
      ]);
      // Without direction, an edge is one edge at each of its nodes, whichever way it is asked for.
      if (name === "friend") expect(degree?.["degree"]).toEqual(degree?.["out_degree"]);
    }
  }

  const reached = (await lake.run(jobs()[3]!)).map((row) => `${String(row["node"])} ${Number(row["hops"])}`);
  expect(reached).toEqual(["thing:t0 0", "thing:t1 1", "thing:t2 2", "thing:t3 3"]);
  expect(await lake.run(weightedSum(lake, { edge: "friend", weight: "w" }))).toEqual([
    { node: "thing:t2", total: 12, edges: 3n },
    { node: "thing:t3", total: 5, edges: 1n },
    { node: "thing:t1", total: 4, edges: 2n },
    { node: "thing:t0", total: 1, edges: 1n },
  ]);
  expect(await lake.run(jobs()[6]!)).toContainEqual(expect.objectContaining({ node: "thing:t1", total: 2n, rows_summed: 2n }));

  await derive(db, lake, { unitsPerSecond: 10_000 });
  for (const { id } of things) {
    const row = (await db.thing.get({ id })) as unknown as Readonly<Record<string, unknown>>;
    for (const name of ["friends", "paid", "fromOne", "fromTenant"]) expect([id, name, row[`${name}Later`]]).toEqual([id, name, row[name]]);
  }
  expect(await db.thing.get({ id: "t1" })).toMatchObject({ friends: 2, paid: 2n * WIDE, fromTenant: 1 });
  await relake();
  // The reference to nobody, which `verify` does not judge.
  expect(await validate(lake, graph.catalog)).toMatchObject({ clean: true, kinds: [{ kind: "leftEdge", count: 1 }] });
  expect(await verify(db, { staleAfter: 0, settle: 0 })).toMatchObject({ clean: true, kinds: [] });
  if (!hasSpark) return;
  const results = await runOnSpark(lake.folder, jobs(), { python });
  for (const [place, job] of jobs().entries())
    expect([job.job, comparable(results[place]!)]).toEqual([job.job, comparable(await lake.run(job))]);
}, 300_000);

test("attributes may be called as anything, and a node may add up what its edges copy from it, in DuckDB and in Spark", async () => {
  const names = defineGraph({
    table: "Names",
    nodes: {
      a: node({
        key: "A#{id}",
        schema: z.object({ id: text, place: z.int(), value: z.int() }),
        timestamps: true,
        derived: {
          places: sum({ out: "e", of: "kept", ...batch }),
          fars: sum({ out: "e", of: "far", ...batch }),
          near: count({ in: "e", where: { near: "a:z" }, ...batch }),
          parts: count({ parts: "q", where: { near: "x" }, ...batch }),
        },
      }),
    },
    edges: {
      e: edge({
        from: "a",
        to: "a",
        schema: z.object({ near: text, far: z.int() }),
        copies: { from: { kept: "place" } },
        timestamps: { created: "born", modified: false, as: "date" },
        ...anyEnds,
      }),
    },
    parts: { q: part({ of: "a", key: "Q#{no:2}", schema: z.object({ no: z.int(), near: text, far: text }) }) },
  });
  const db = names.connect({ endpoint: engine.endpoint });
  await db.table.create();
  for (const [value, id] of ["x", "y", "z"].entries()) await db.a.create({ id, place: 90 + value, value }).orThrow();
  await db.e.link({ id: "x" }, { id: "y" }, { near: "a:z", far: 5 }).orThrow();
  await db.e.link({ id: "z" }, { id: "y" }, { near: "else", far: 6 }).orThrow();
  await db.q.create({ id: "x" }, { no: 1, near: "x", far: "y" }).orThrow();
  const into = join(folder, "names");
  await extract(db, { into });
  const named = await openLake(into);
  const program = derived(named, names.catalog);
  expect(await named.run(program)).toEqual([
    { node: "a:x", a_places: 90n, a_fars: 5n, a_near: 0n, a_parts: 1n },
    { node: "a:y", a_places: 0n, a_fars: 0n, a_near: 1n, a_parts: 0n },
    { node: "a:z", a_places: 92n, a_fars: 6n, a_near: 0n, a_parts: 0n },
  ]);
  const ranked = top(named, { of: "a", by: "value", top: 2 });
  expect((await named.run(ranked)).map(({ id, place, place_2 }) => [id, place, place_2])).toEqual([
    ["z", 92n, 1n],
    ["y", 91n, 2n],
  ]);
  // Times are columns, of the type that they have in rows.
  const [times] = await named.query("select a.created, a.modified, e.born from a join e on e.source = a.node order by a.node limit 1");
  expect(times).toEqual({ created: expect.stringMatching(/^20.*Z$/), modified: expect.stringMatching(/^20.*Z$/), born: expect.any(Date) });
  if (hasSpark) {
    const results = await runOnSpark(into, [program, ranked], { python });
    for (const [at, job] of [program, ranked].entries()) expect(comparable(results[at]!)).toEqual(comparable(await named.run(job)));
  }
  named.close();
}, 300_000);
