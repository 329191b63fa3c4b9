import { defineGraph, edge, node } from "edgetable";
import { type Random, seededRandom } from "@edgetable/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { testRuns, testSeed } from "../engines/property-runs.ts";
import { compareLists } from "../naive/condition.ts";
import { type NaiveEdge, NaiveGraph, type Row } from "../naive/graph.ts";

/**
 * Random rows as another program wrote them, some of which do not fit, and random reads with `reads: "parsed"` and `select`: gets,
 * neighbours, pages, walks and searches, against the naive graph.
 */

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const text = z.string();
const person = z.object({ id: text, name: text.toLowerCase(), level: z.int().default(1), about: text.optional() });
// A rule across attributes: a selection, which is parsed attribute by attribute, does not see it.
const knows = z
  .object({ since: text, trust: z.int().default(5), until: text.optional() })
  .refine(({ since, until }) => until === undefined || until >= since);
const fields = { person: person.shape, knows: knows.shape } as const;
const PERSON = ["id", "name", "level", "about"] as const;
const KNOWS = ["since", "trust", "until"] as const;

const modelIn = (table: string, reads: "parsed" | "stored") =>
  defineGraph({
    table,
    nodes: { person: node({ key: "PERSON#{id}", schema: person, reads }) },
    edges: { knows: edge({ from: "person", to: "person", schema: knows, orderBy: "since", ends: "unchecked", reads }) },
    indexes: { byName: { entries: { person: "name", knows: "since" } } },
  });
type Db = ReturnType<ReturnType<typeof modelIn>["connect"]>;

interface World {
  readonly db: Db;
  readonly graph: NaiveGraph;
  readonly random: Random;
  readonly reads: "parsed" | "stored";
}

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
const some = <T>(random: Random, from: readonly T[]): readonly T[] => {
  const chosen = from.filter(() => random() < 0.5);
  return chosen.length > 0 ? chosen : [pick(random, from)];
};
const IDS = ["a", "b", "c", "d", "e", "f"];
const defined = (row: Row): Row => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined));

const fill = async ({ db, graph, random }: World, writer: Db): Promise<void> => {
  const rare = (value: unknown, other: unknown): unknown => (random() < 0.15 ? other : value);
  for (const id of IDS) {
    if (random() < 0.2) continue;
    const row = defined({
      id,
      name: pick(random, ["Ann", "bob", "ANN", "Cy"]),
      level: rare(pick(random, [undefined, 2, 3]), "high"),
      about: pick(random, [undefined, "x"]),
    });
    await writer.person.put(row as never).orThrow();
    graph.putNode({ type: "person", id, row });
  }
  const pairs = IDS.flatMap((from) => IDS.map((to) => [from, to] as const)).filter(() => random() < 0.45);
  for (const [from, to] of pairs) {
    const attributes = defined({
      since: pick(random, ["2020", "2021", "2022"]),
      trust: rare(pick(random, [undefined, 3]), "much"),
      until: pick(random, [undefined, undefined, "2021", "2030"]),
    });
    await writer.knows.put({ id: from }, { id: to }, attributes as never).orThrow();
    graph.putEdge({ edge: "knows", from: { type: "person", id: from }, to: { type: "person", id: to }, attributes });
  }
  expect(await db.person.get({ id: "none" })).toBeUndefined();
};

/** A row as a read gives it; undefined for one that does not fit. `select` are the attributes that it is parsed by, each alone. */
const given = (
  { reads }: World,
  kind: "person" | "knows",
  { row, select }: { readonly row: Row; readonly select: readonly string[] | undefined },
): Row | undefined => {
  const names = select ?? (kind === "person" ? PERSON : KNOWS);
  if (reads === "stored") return defined(Object.fromEntries(names.map((name) => [name, row[name]])));
  if (!select) {
    const whole = (kind === "person" ? person : knows).safeParse(row);
    return whole.success ? defined(whole.data) : undefined;
  }
  const shape: Readonly<Record<string, z.ZodType>> = fields[kind];
  const parsed = names.map((name) => [name, shape[name]!.safeParse(row[name])] as const);
  if (parsed.some(([, { success }]) => !success)) return undefined;
  return defined(Object.fromEntries(parsed.map(([name, { data }]) => [name, data])));
};

const personOf = (world: World, id: string, select?: readonly string[]): Row | undefined => {
  const found = world.graph.node({ type: "person", id });
  return found && given(world, "person", { row: found.row, select });
};

const idOf = (end: NaiveEdge["from"]): string => end.id as string;

/** The edges of a node as a read gives them, in their order, each with the id of the node behind it. */
const edgesAt = (world: World, id: string, ask: { readonly way: "out" | "in"; readonly select?: readonly string[] | undefined }) => {
  const [near, far] = ask.way === "out" ? (["from", "to"] as const) : (["to", "from"] as const);
  return world.graph
    .edges("knows")
    .filter((one) => idOf(one[near]) === id)
    .toSorted((a, b) => compareLists([a.attributes["since"], idOf(a[far])], [b.attributes["since"], idOf(b[far])]))
    .flatMap((one) => {
      const row = given(world, "knows", { row: one.attributes, select: ask.select });
      return row ? [{ far: idOf(one[far]), edge: { from: { id: idOf(one.from) }, to: { id: idOf(one.to) }, ...row } }] : [];
    });
};

/** Rows in an order of their own, each with its attributes in one order. */
const sorted = (rows: readonly unknown[]): readonly string[] => {
  const inOrder = (_: string, value: unknown): unknown =>
    typeof value === "object" && value !== null
      ? Object.fromEntries(Object.entries(value).toSorted(([x], [y]) => (x < y ? -1 : 1)))
      : value;
  return rows.map((row) => JSON.stringify(row, inOrder)).toSorted();
};

const paged = async (
  read: (cursor: string | undefined) => PromiseLike<{ readonly items: readonly unknown[]; readonly next: string | undefined }>,
) => {
  const items: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    items.push(...page.items);
    cursor = page.next;
  } while (cursor !== undefined);
  return items;
};

// An overload takes a selection, another one none.
const whatever = (select: readonly (typeof PERSON)[number][] | undefined): { readonly select: readonly (typeof PERSON)[number][] } => ({
  select: select as readonly (typeof PERSON)[number][],
});

type Ask = (world: World, id: string) => Promise<readonly [found: unknown, expected: unknown]>;

const asks: Readonly<Record<string, Ask>> = {
  get: async (world, id) => {
    const select = world.random() < 0.5 ? some(world.random, PERSON) : undefined;
    return [await world.db.person.get({ id }, { select }), personOf(world, id, select)];
  },
  getMany: async (world) => {
    const select = world.random() < 0.5 ? some(world.random, PERSON) : undefined;
    return [
      await world.db.person.getMany(
        IDS.map((id) => ({ id })),
        { select },
      ),
      IDS.map((id) => personOf(world, id, select)),
    ];
  },
  edges: async (world, id) => {
    const way = pick(world.random, ["out", "in"] as const);
    const select = world.random() < 0.5 ? some(world.random, KNOWS) : undefined;
    const neighbours = world.db.person({ id })[way]("knows");
    const found = await (select ? neighbours.select(...select) : neighbours).edges();
    return [found, edgesAt(world, id, { way, select }).map((one) => one.edge)];
  },
  nodes: async (world, id) => {
    const way = pick(world.random, ["out", "in"] as const);
    const select = world.random() < 0.5 ? some(world.random, PERSON) : undefined;
    const found = await world.db.person({ id })[way]("knows").nodes(whatever(select));
    return [found, edgesAt(world, id, { way }).flatMap((one) => personOf(world, one.far, select) ?? [])];
  },
  pages: async (world, id) => {
    const way = pick(world.random, ["out", "in"] as const);
    const of = pick(world.random, ["edges", "nodes", "entries"] as const);
    const select = of !== "edges" && world.random() < 0.5 ? some(world.random, PERSON) : undefined;
    const limit = 1 + Math.floor(world.random() * 3);
    const neighbours = world.db.person({ id })[way]("knows");
    const found = await paged((cursor) => neighbours.page({ limit, cursor, of, select } as { readonly of: "edges" }));
    const edges = edgesAt(world, id, { way });
    if (of === "edges") return [found, edges.map((one) => one.edge)];
    const entries = edges.map((one) => ({ edge: one.edge, node: personOf(world, one.far, select) }));
    return [found, of === "entries" ? entries : entries.flatMap((one) => one.node ?? [])];
  },
  walk: async (world, id) => {
    const select = world.random() < 0.5 ? some(world.random, PERSON) : undefined;
    const found = await world.db.person({ id }).walk().out("knows").in("knows").nodes(whatever(select));
    const far = (at: string, near: "from" | "to", end: "from" | "to"): readonly string[] =>
      world.graph.edges("knows").flatMap((one) => (idOf(one[near]) === at ? [idOf(one[end])] : []));
    const reached = new Set(far(id, "from", "to").flatMap((at) => far(at, "to", "from")));
    return [sorted(found.items), sorted([...reached].flatMap((at) => personOf(world, at, select) ?? []))];
  },
  search: async (world) => {
    const select = world.random() < 0.5 ? some(world.random, PERSON) : undefined;
    const name = pick(world.random, ["Ann", "bob", "Cy"]);
    const searching = world.db.find("person").where({ name });
    const found = await paged((cursor) => (select ? searching.select(...select) : searching).page({ limit: 2, cursor }) as never);
    const named = IDS.filter((id) => world.graph.node({ type: "person", id })?.row["name"] === name);
    return [sorted(found), sorted(named.flatMap((id) => personOf(world, id, select) ?? []))];
  },
  searchEdges: async (world) => {
    const end = pick(world.random, ["from", "to"] as const);
    const select = world.random() < 0.5 ? some(world.random, PERSON) : undefined;
    const since = pick(world.random, ["2020", "2021", "2022"]);
    const searching = world.db.find("knows").where({ since });
    const all = world.graph.edges("knows").filter((one) => one.attributes["since"] === since);
    const entries = all.flatMap((one) => {
      const row = given(world, "knows", { row: one.attributes, select: undefined });
      const edgeRow = row && { from: { id: idOf(one.from) }, to: { id: idOf(one.to) }, ...row };
      return edgeRow ? [{ edge: edgeRow, node: personOf(world, idOf(one[end]), select) }] : [];
    });
    if (world.random() < 0.5) return [sorted(await searching.entries(end as "from", { select })), sorted(entries)];
    const found = await (end === "from" ? searching.sources({ select }) : searching.targets({ select }));
    return [sorted(found), sorted(entries.flatMap((one) => one.node ?? []))];
  },
};

const seed = testSeed();
test.each(["parsed", "stored"] as const)(
  `rows that are %s come as the naive graph makes them, whole and selected, seed ${seed}`,
  async (reads) => {
    const table = engine.freshTableName("parsed");
    const graph = modelIn(table, reads);
    await graph.connect({ transport: engine.transport }).table.create();
    for (let run = 0; run < testRuns(4); run++) {
      const random = seededRandom(seed + run);
      // What another program wrote is not checked by this model's schemas.
      const own = modelIn(table, "stored").connect({ transport: engine.transport, validate: false });
      const world: World = {
        db: graph.connect({ transport: engine.transport }),
        graph: new NaiveGraph({ knows: { orderBy: "since" } }),
        random,
        reads,
      };
      for (const id of IDS) await own.person.delete({ id }, { indexLag: 0 });
      for (const from of IDS) for (const to of IDS) await own.knows.unlink({ id: from }, { id: to });
      await fill(world, own);
      for (let at = 0; at < 40; at++) {
        const name = pick(random, Object.keys(asks));
        const id = pick(random, IDS);
        const [found, expected] = await asks[name]!(world, id);
        expect(found, `${name} of ${id}, seed ${seed + run}, ask ${at}`).toEqual(expected);
      }
    }
  },
  testRuns(4) * 30_000,
);
