import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commonNeighbours, components, degrees, hops, kCore, pageRank, recommend, triangles, type Lake } from "../index.ts";
import { networkLake, type NetworkLake } from "../test-support/network-lake.ts";

/** Compares every algorithm with a naive computation over plain arrays, on random graphs: one with long paths, one with a hub. */
type Pair = readonly [string, string];

const random = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

const pairsOf = (nodes: number, edges: number, hub: boolean): readonly Pair[] => {
  const next = random(nodes * 31 + edges);
  const name = (): string => `p${Math.floor(next() * nodes)}`;
  const path = Array.from({ length: nodes / 4 }, (_, at): Pair => [`line${at}`, `line${at + 1}`]);
  const all = [...path, ...Array.from({ length: edges }, (): Pair => [hub && next() < 0.3 ? "p0" : name(), name()])];
  return [...new Map(all.map((pair) => [pair.join(">"), pair])).values()];
};

const idOf = (name: string): string => `page:${name}`;
const nodesOf = (pairs: readonly Pair[]): readonly string[] => [...new Set(pairs.flat())];
const undirected = (pairs: readonly Pair[]): ReadonlyMap<string, ReadonlySet<string>> => {
  const map = new Map(nodesOf(pairs).map((name) => [name, new Set<string>()]));
  for (const [a, b] of pairs) {
    if (a === b) continue;
    map.get(a)!.add(b);
    map.get(b)!.add(a);
  }
  return map;
};
const byNode = (rows: readonly Readonly<Record<string, unknown>>[], column: string): Readonly<Record<string, number>> =>
  Object.fromEntries(rows.map((row) => [String(row["node"]), Number(row[column])]));
const named = (values: Iterable<readonly [string, number]>): Readonly<Record<string, number>> =>
  Object.fromEntries([...values].map(([name, value]) => [idOf(name), value]));

describe.each([
  ["long paths", 60, 70, false],
  ["a hub", 40, 240, true],
] as const)("a graph with %s", (_, nodes, edges, hub) => {
  const pairs = pairsOf(nodes, edges, hub);
  let network: NetworkLake;
  let lake: Lake;

  beforeAll(async () => {
    network = await networkLake(nodesOf(pairs), pairs);
    lake = network.lake;
  });
  afterAll(() => network?.close());

  test("degrees", async () => {
    const rows = await lake.run(degrees(lake));
    const out = named(nodesOf(pairs).map((name) => [name, pairs.filter(([from]) => from === name).length]));
    const into = named(nodesOf(pairs).map((name) => [name, pairs.filter(([, to]) => to === name).length]));
    expect(byNode(rows, "out_degree")).toEqual(out);
    expect(byNode(rows, "in_degree")).toEqual(into);
  });

  test("PageRank, whose ranks sum to 1", async () => {
    const names = nodesOf(pairs);
    const out = new Map(names.map((name) => [name, pairs.filter(([from]) => from === name).length]));
    let ranks = new Map(names.map((name) => [name, 1 / names.length]));
    for (let round = 0; round < 15; round++) {
      const held = names.filter((name) => out.get(name) === 0).reduce((sum, name) => sum + ranks.get(name)!, 0);
      const next = new Map(names.map((name) => [name, 0.15 / names.length + (0.85 * held) / names.length]));
      for (const [from, to] of pairs) next.set(to, next.get(to)! + (0.85 * ranks.get(from)!) / out.get(from)!);
      ranks = next;
    }
    const rows = byNode(await lake.run(pageRank(lake, { rounds: 15 })), "rank");
    for (const [name, rank] of ranks) expect(rows[idOf(name)]).toBeCloseTo(rank, 12);
    expect(Object.values(rows).reduce((sum, rank) => sum + rank, 0)).toBeCloseTo(1, 12);
  });

  test("components", async () => {
    const around = undirected(pairs);
    const found = new Map<string, string>();
    for (const name of nodesOf(pairs)) {
      if (found.has(name)) continue;
      const members = [name];
      for (const one of members) for (const next of around.get(one)!) if (!members.includes(next)) members.push(next);
      const least = members.toSorted()[0]!;
      for (const one of members) found.set(one, least);
    }
    const rows = await lake.run(components(lake));
    expect(Object.fromEntries(rows.map((row) => [row["node"], row["component"]]))).toEqual(
      Object.fromEntries([...found].map(([name, least]) => [idOf(name), idOf(least)])),
    );
  });

  test("triangles", async () => {
    const around = undirected(pairs);
    const count = (name: string): number => {
      const mine = [...around.get(name)!];
      return mine.reduce((sum, one, at) => sum + mine.slice(at + 1).filter((other) => around.get(one)!.has(other)).length, 0);
    };
    const expected = nodesOf(pairs).flatMap((name): (readonly [string, number])[] => (count(name) > 0 ? [[name, count(name)]] : []));
    expect(byNode(await lake.run(triangles(lake)), "triangles")).toEqual(named(expected));
  });

  test.each([2, 3, 4])("the %i-core", async (k) => {
    const left = new Map([...undirected(pairs)].map(([name, around]) => [name, new Set(around)]));
    for (
      let weak = [...left].filter(([, around]) => around.size < k);
      weak.length > 0;
      weak = [...left].filter(([, around]) => around.size < k)
    ) {
      for (const [name] of weak) left.delete(name);
      for (const around of left.values()) for (const [name] of weak) around.delete(name);
    }
    expect(byNode(await lake.run(kCore(lake, { k })), "neighbours")).toEqual(named([...left].map(([name, around]) => [name, around.size])));
  });

  test.each(["out", "in", "both"] as const)("hops %s", async (direction) => {
    const reached = new Map([["p0", 0]]);
    for (const [name, at] of reached) {
      for (const [from, to] of pairs) {
        if (direction !== "in" && from === name && !reached.has(to)) reached.set(to, at + 1);
        if (direction !== "out" && to === name && !reached.has(from)) reached.set(from, at + 1);
      }
    }
    const rows = await lake.run(hops(lake, { from: "select node from page where page_id = 'p0'", direction }));
    expect(byNode(rows, "hops")).toEqual(named(reached));
  });

  test("common neighbours", async () => {
    const targets = new Map(nodesOf(pairs).map((name) => [name, pairs.filter(([from]) => from === name).map(([, to]) => to)]));
    const names = nodesOf(pairs).toSorted();
    const expected = names.flatMap((a) =>
      names.flatMap((b) => {
        const shared = a < b ? targets.get(a)!.filter((one) => targets.get(b)!.includes(one)).length : 0;
        return shared >= 2 ? [`${idOf(a)} ${idOf(b)} ${shared}`] : [];
      }),
    );
    const rows = await lake.run(commonNeighbours(lake));
    expect(rows.map(({ a, b, shared }) => `${String(a)} ${String(b)} ${String(shared)}`).toSorted()).toEqual(expected.toSorted());
  });

  test("recommendations", async () => {
    const rows = await lake.run(recommend(lake, { top: 3, atLeast: 1 }));
    const sources = (name: string): readonly string[] => pairs.filter(([, to]) => to === name).map(([from]) => from);
    const targets = [...new Set(pairs.map(([, to]) => to))];
    const expected = targets.flatMap((name) =>
      targets
        .filter((other) => other !== name)
        .map((other) => {
          const shared = sources(name).filter((one) => sources(other).includes(one)).length;
          return { name, other, shared, jaccard: shared / (sources(name).length + sources(other).length - shared) };
        })
        .filter(({ shared }) => shared >= 1)
        .toSorted((a, b) => b.shared - a.shared || b.jaccard - a.jaccard || (idOf(a.other) < idOf(b.other) ? -1 : 1))
        .slice(0, 3)
        .map(({ other, shared }) => `${idOf(name)} ${idOf(other)} ${shared}`),
    );
    expect(rows.map((row) => `${String(row["node"])} ${String(row["recommended"])} ${String(row["shared"])}`).toSorted()).toEqual(
      expected.toSorted(),
    );
  });
});
