import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { adopted, social, type Social } from "../oracle/model.ts";
import type { NaiveGraph } from "../oracle/naive-graph.ts";
import { askWalk, hopOf, inParts, names, pathNames, type AnyWalk } from "./ask.ts";
import { drawGraph, graphs } from "./graphs.ts";
import { endOf, nameOf, shortest, simplePaths, waysOf, type PlainHop, type PlainStep, type Way } from "./naive-walk.ts";
import { choices, walkOf } from "./walks.ts";

const seed = Number(process.env["EDGETABLE_SEED"] ?? Date.now() % 1_000_000);
const runs = Number(process.env["EDGETABLE_RUNS"] ?? 12);

const rules = [
  "drop-dedupe",
  "dedupe-early",
  "hydrate-late",
  "project-ends",
  "check-ends-by-get",
  "smaller-side",
  "push-conditions-into-keys",
  "filter-on-server",
];
const variants: readonly (readonly [string, readonly string[]])[] = [
  ["with every rule", []],
  ["with no rule", rules],
  ...rules.slice(0, 6).map((name) => [`without ${name}`, [name]] as const),
];

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

let scopes = 0;
const nextScope = (): string => `${(scopes++).toString(36)}-`;

const count = (ways: readonly Way[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const way of ways) counts.set(nameOf(endOf(way)), (counts.get(nameOf(endOf(way))) ?? 0) + 1);
  return counts;
};

const byName = <T>(map: ReadonlyMap<string, T>): readonly (readonly [string, T])[] => [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));

const isFolding = (steps: readonly PlainStep[]): boolean => {
  const since = steps.slice(steps.findLastIndex((step) => step.kind === "dedupe") + 1);
  return (
    since.some((step) => step.kind === "hop" && step.edge === "worksOn") &&
    !since.some((step) => step.kind === "hop" && step.edge !== "worksOn")
  );
};

const checkWhole = async (walk: AnyWalk, graph: NaiveGraph, ways: readonly Way[], steps: readonly PlainStep[]): Promise<void> => {
  const counts = count(ways);
  expect(names(await walk.ids())).toEqual([...counts.keys()].toSorted());
  expect(Number((await walk.count()).count)).toBe(ways.length);
  const groups: readonly { readonly id: never; readonly count: number }[] = (await walk.groupCount()).items;
  expect(groups.map((one) => [names([one.id])[0], one.count]).toSorted()).toEqual(byName(counts));
  const nodes = await walk.nodes();
  const there = new Set(
    ways
      .map(endOf)
      .filter((end) => graph.node(end))
      .map(nameOf),
  );
  expect(names(nodes)).toEqual([...there].toSorted());
  const paths = await walk.paths({ limit: 100_000 });
  if (!steps.some((step) => step.kind === "dedupe"))
    expect(pathNames(paths)).toEqual([...new Set(ways.map((way) => way.nodes.map(nameOf).join(" ")))].toSorted());
  if (isFolding(steps)) {
    for (const by of ["sum", "min", "max"] as const) {
      const items: readonly { readonly id: never; readonly value: number }[] = (await walk[by]("hours")).items;
      const expected = byName(counts).map(([name]) => {
        const numbers = ways.filter((way) => nameOf(endOf(way)) === name).flatMap((way) => way.numbers);
        return [
          name,
          by === "sum" ? numbers.reduce((sum, one) => sum + one, 0) : by === "min" ? Math.min(...numbers) : Math.max(...numbers),
        ];
      });
      expect(items.map((one) => [names([one.id])[0], one.value]).toSorted()).toEqual(expected);
    }
  }
};

const checkBudgets = async (walk: AnyWalk, ways: readonly Way[]): Promise<void> => {
  const expected = [...count(ways).keys()].toSorted();
  for (const budget of [{ requests: 1 }, { requests: 3 }, { breadth: 1 }, { breadth: 2, requests: 2 }, { memory: 1000, requests: 50 }]) {
    if (budget.memory !== undefined) continue;
    const parts = await inParts<{ readonly items: readonly never[]; readonly next: string | undefined }>(
      (options) => walk.ids(options),
      budget,
    );
    for (const { requests } of parts) expect(requests).toBeLessThanOrEqual(budget.requests ?? 1000);
    expect(names(parts.flatMap(({ part }) => part.items))).toEqual(expected);
    const counted = await inParts<{ readonly count: number; readonly next: string | undefined }>((options) => walk.count(options), budget);
    expect(counted.at(-1)?.part.count).toBe(ways.length);
  }
};

const checkPaths = async (db: ReturnType<Social["connect"]>, graph: NaiveGraph, ids: readonly string[]): Promise<void> => {
  const hops: readonly PlainHop[] = (["out", "both"] as const).map((direction) => ({
    edge: "follows",
    direction,
    atLeast: undefined,
    age: undefined,
  }));
  for (const hop of hops) {
    for (const to of ids.slice(1, 4)) {
      const ends = [
        { type: "person", id: ids[0]! },
        { type: "person", id: to },
      ] as const;
      const from = db.person({ personId: ids[0]! }) as AnyWalk;
      expect(pathNames(await from.shortestPaths({ personId: to }, hopOf(hop), { limit: 10_000 }))).toEqual(shortest(graph, ends, hop));
      expect(pathNames(await from.allPaths({ personId: to }, hopOf(hop), { limit: 100_000 }))).toEqual(simplePaths(graph, ends, hop));
    }
  }
};

const layouts = [
  { name: "own layout", layout: undefined },
  { name: "adopted layout", layout: adopted },
] as const;

describe.each(layouts)("walks answer as the naive evaluator does, $name", ({ layout }) => {
  describe.each(variants)("%s", (_, rulesOff) => {
    let db: ReturnType<Social["connect"]>;
    beforeAll(async () => {
      db = social(engine.freshTableName("walks"), layout).connect({ transport: engine.transport, cursorSecret: "walks", rulesOff });
      await db.table.create();
    });

    test(`random graphs and walks (seed ${seed})`, { timeout: 240_000 }, async () => {
      const property = fc.asyncProperty(graphs, fc.array(choices, { minLength: 1, maxLength: 4 }), async (drawn, walks) => {
        const scope = nextScope();
        const graph = await drawGraph(db, scope, drawn);
        const ids = ["a", "b", "c", "d", "e", "f"].map((letter) => scope + letter);
        for (const numbers of walks) {
          const { start, steps } = walkOf(numbers, ids);
          const ways = waysOf(graph, { type: "person", id: ids[start]! }, steps);
          if (ways.length > 3000) continue;
          const walk = askWalk(db, ids[start]!, steps);
          await checkWhole(walk, graph, ways, steps);
          await checkBudgets(walk, ways);
        }
        await checkPaths(db, graph, ids);
      });
      await fc.assert(property, { seed, numRuns: runs });
    });
  });
});
