import { defineGraph, edge, node } from "edgetable";
import fc from "fast-check";
import { afterAll, beforeAll, describe, test } from "vitest";
import { z } from "zod";
import { ruleNames } from "../../packages/edgetable/src/planner/rule-names.ts";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { testRuns, testSeed } from "../engines/property-runs.ts";
import { NaiveGraph, nameOf, type NaiveEnd } from "../naive/graph.ts";
import { endOf, walkNaively } from "../naive/walk.ts";
import { names, pathNames, type AnyWalk } from "./ask.ts";
import { checkParts, checkWhole, cuts, widened, type Asking } from "./check-parts.ts";
import { naivePlan, type PlainStep, type PlainWalk } from "./plain-walk.ts";
import { nameOfId, type Id } from "./node-ids.ts";
import { slowed } from "./slow-engine.ts";

const seed = testSeed();
const runs = testRuns(12);
const time = 60_000 + runs * 1000;

const text = z.string();
const nodes = { person: node({ key: "PERSON#{personId}", schema: z.object({ personId: text, team: text, age: z.number() }) }) };
const edges = {
  knows: edge({ from: "person", to: "person", ends: "unchecked" }),
  likes: edge({ from: "person", to: "person", ends: "unchecked" }),
};
const graphOf = (table: string, shards: number) =>
  defineGraph({ table, nodes, edges, indexes: { byTeam: { entries: { person: { by: ["team", "age:number"], split: 1 } }, shards } } });

const TEAMS = ["red", "blue"];
const persons = ["a", "b", "c", "d", "e", "f"].map((id, at) => ({
  type: "person",
  id,
  row: { personId: id, team: TEAMS[at % 2]!, age: at % 4 },
}));

const drawn = fc.array(
  fc.record({ edge: fc.constantFrom("knows", "likes"), from: fc.constantFrom(...persons), to: fc.constantFrom(...persons) }),
  { maxLength: 24 },
);

/** The search: of a team, from an age on, backwards, at most so many. */
interface Found {
  readonly team: string;
  readonly from: number;
  readonly reverse: boolean;
  readonly limit: number | undefined;
}

const searches: fc.Arbitrary<Found> = fc.record({
  team: fc.constantFrom(...TEAMS),
  from: fc.nat({ max: 3 }),
  reverse: fc.boolean(),
  limit: fc.constantFrom(undefined, undefined, 1, 2),
});

const ends = ({ team, from, reverse, limit }: Found): readonly NaiveEnd[] => {
  const found = persons.filter(({ row }) => row.team === team && row.age >= from);
  // No two persons of a team and an age: the order over shards is one.
  const sorted = found.toSorted((x, y) => x.row.age - y.row.age || (x.id < y.id ? -1 : 1));
  return (reverse ? sorted.toReversed() : sorted).slice(0, limit).map(({ type, id }) => ({ type, id }));
};

const hop = (named: string, direction: "out" | "in", others: readonly string[] = []): PlainStep => ({
  kind: "hop",
  edge: named,
  ...(others.length > 0 ? { others } : {}),
  direction,
  rounds: 1,
  emit: "last",
  atLeast: undefined,
  age: undefined,
});

const steps: readonly PlainStep[] = [
  hop("knows", "out"),
  hop("likes", "in"),
  hop("knows", "out", ["likes"]),
  hop("likes", "in", ["knows"]),
  { kind: "dedupe" },
  { kind: "except", which: "passed" },
  { kind: "age", atLeast: 1 },
];
const walks = fc.tuple(searches, fc.array(fc.constantFrom(...steps), { maxLength: 4 }));

const ask = (db: AnyWalk, { team, from, reverse, limit }: Found, plain: PlainWalk): AnyWalk => {
  let search = db.find("person").where({ team, age: { gte: from } });
  if (reverse) search = search.reverse();
  if (limit !== undefined) search = search.limit(limit);
  let walk = search.walk();
  for (const step of plain.steps) {
    if (step.kind === "hop") walk = walk[step.direction](step.others ? [step.edge, ...step.others] : step.edge);
    else if (step.kind === "age") walk = walk.whereNode({ age: { gte: step.atLeast } });
    else if (step.kind === "except") walk = walk.except(step.which);
    else walk = walk.dedupe();
  }
  return walk;
};

const askedOf = (walk: AnyWalk, plain: PlainWalk, graph: NaiveGraph): readonly Asking[] => {
  const { paths } = walkNaively(graph, naivePlan(plain));
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(nameOf(endOf(path)), (counts.get(nameOf(endOf(path))) ?? 0) + 1);
  const sorted = (entries: Iterable<readonly [string, number]>): unknown => [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const ages = paths.map((path) => graph.node(endOf(path))!.row["age"] as number);
  const showCounts = (items: readonly { readonly id: Id; readonly count: number }[]): unknown =>
    sorted(items.map(({ id, count }) => [nameOfId(id), count] as const));
  const sum = (part: unknown): unknown => (part as { readonly sum: { readonly age: number } }).sum.age;
  const distinct = [...counts.keys()];
  const hasHop = plain.steps.some(({ kind }) => kind === "hop");
  const order = { show: (items: readonly Id[]) => items.map(nameOfId), expected: distinct };
  return [
    {
      name: "ids",
      ask: (options) => walk.ids(options),
      adds: true,
      show: names,
      expected: distinct.toSorted(),
      // The rows of the search keep their order; filters keep it.
      ...(hasHop ? {} : { order }),
    },
    { name: "count", ask: (options) => walk.count(options), adds: false, show: (_, part) => Number(part.count), expected: paths.length },
    { name: "groupCount", ask: (options) => walk.groupCount(options), adds: false, show: showCounts, expected: sorted(counts) },
    {
      name: "aggregate",
      ask: (options) => walk.aggregate({ sum: "age" }, options),
      adds: false,
      show: (_, part) => [part.count, sum(part)],
      expected: [paths.length, ages.reduce((all, age) => all + age, 0)],
    },
    ...(plain.steps.some(({ kind }) => kind === "dedupe")
      ? []
      : [
          {
            name: "paths",
            ask: (options: object) => walk.paths({ limit: 100_000, ...options }),
            adds: true,
            show: pathNames,
            expected: [...new Set(paths.map((path) => path.nodes.map(nameOf).join(" ")))].toSorted(),
          },
        ]),
  ];
};

const stood = new Set(persons.map(nameOf));

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

describe.each([
  ["every rule", [], 1],
  ["no rule", ruleNames, 1],
  ["every rule, over four shards", [], 4],
] as const)("walks from the rows of a search answer as the naive evaluator does, with %s", (_, rulesOff, shards) => {
  test(`random graphs, searches and walks (seed ${seed})`, { timeout: 2 * time }, async () => {
    const property = fc.asyncProperty(drawn, walks, fc.nat({ max: 99 }), async (some, [found, taken], pick) => {
      const table = engine.freshTableName("search");
      const db = graphOf(table, shards).connect({ ...slowed(engine.transport, rulesOff), cursorSecret: "search".padEnd(43, "-") });
      await db.table.create();
      const graph = new NaiveGraph({});
      for (const person of persons) graph.putNode(person);
      for (const { edge: named, from, to } of some) graph.putEdge({ edge: named, from, to, attributes: {} });
      const rows = [
        ...graph.nodes.map(({ row }) => ({ node: "person", row })),
        ...graph.edges().map((one) => ({ edge: one.edge, from: { personId: one.from.id }, to: { personId: one.to.id } })),
      ];
      await db.load(rows as never, { strict: true, collisions: "ignore" });
      const plain: PlainWalk = { start: "", within: ends(found), first: undefined, steps: taken };
      for (const [at, asking] of askedOf(ask(db, found, plain), plain, graph).entries()) {
        const cost = await checkWhole(asking);
        // The search needs a request for each shard, and the time for it.
        const cut = cuts[(pick + at) % cuts.length]!;
        const enough = shards === 1 ? cut : widened(cut, { ...cost, requests: 2 * shards }, 1);
        await checkParts(asking, enough, { stood, hops: plain.steps.length, least: 0, requests: cost.requests });
      }
      await engine.transport.send("DeleteTable", { TableName: table });
    });
    await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: time, markInterruptAsFailure: true });
  });
});
