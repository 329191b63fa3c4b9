import { defineGraph, edge, node, type Graph } from "edgetable";
import fc from "fast-check";
import { afterAll, beforeAll, describe, test } from "vitest";
import { z } from "zod";
import { ruleNames } from "../../packages/edgetable/src/planner/rule-names.ts";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { testRuns, testSeed } from "../engines/property-runs.ts";
import { NaiveGraph, nameOf, type NaiveEnd } from "../naive/graph.ts";
import { endOf, walkNaively } from "../naive/walk.ts";
import { names, pathNames, type AnyWalk } from "./ask.ts";
import { nameOfId, type Id } from "./node-ids.ts";
import { checkParts, checkWhole, cuts, type Asking } from "./check-parts.ts";
import { naivePlan, type PlainStep, type PlainWalk } from "./plain-walk.ts";
import { slowed } from "./slow-engine.ts";

const seed = testSeed();
const runs = testRuns(24);
const time = 60_000 + runs * 1000;

const text = z.string();
const nodes = {
  place: node({ key: "PLACE#{country}#{city}", schema: z.object({ country: text, city: text }) }),
  person: node({ key: "PERSON#{personId}", schema: z.object({ personId: text, age: z.number() }) }),
};
const edges = {
  livesIn: edge({ from: "person", to: "place", ends: "unchecked" }),
  knows: edge({ from: "person", to: "person", ends: "unchecked" }),
  near: edge({ from: "place", to: "place", ends: "unchecked" }),
};
const graphOf = (table: string): Graph<typeof nodes, typeof edges, Record<never, never>> =>
  defineGraph({
    table,
    nodes,
    edges,
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { byCountry: { partitionKey: "CP", sortKey: "CS" } },
      nodes: { place: { keys: { SK: "META" } }, person: { keys: { SK: "META" } } },
      edges: {
        livesIn: { keys: { SK: "LIVES#{to}", CP: "LIVES#{to.country}", CS: "{to.city}#{from}" } },
        knows: { keys: { SK: "KNOWS#{to}" } },
        near: { keys: { SK: "NEAR#{to}", CP: "NEAR#{from.country}", CS: "{from.city}#{to}" } },
      },
    },
  });

const COUNTRIES = ["UK", "US"];
const places: readonly NaiveEnd[] = COUNTRIES.flatMap((country) => ["a", "b"].map((city) => ({ type: "place", id: `${country}-${city}` })));
const persons: readonly NaiveEnd[] = ["a", "b", "c", "d"].map((id) => ({ type: "person", id }));
const below = (country: string): readonly NaiveEnd[] => places.filter(({ id }) => (id as string).startsWith(`${country}-`));

const rowOf = ({ type, id }: NaiveEnd): Readonly<Record<string, string>> =>
  type === "person" ? { personId: id as string } : { country: (id as string).slice(0, 2), city: (id as string).slice(3) };

const drawn = fc.array(
  fc.oneof(
    fc.record({ edge: fc.constant("livesIn"), from: fc.constantFrom(...persons), to: fc.constantFrom(...places) }),
    fc.record({ edge: fc.constant("knows"), from: fc.constantFrom(...persons), to: fc.constantFrom(...persons) }),
    fc.record({ edge: fc.constant("near"), from: fc.constantFrom(...places), to: fc.constantFrom(...places) }),
  ),
  { maxLength: 24 },
);

const hop = (named: string, direction: "out" | "in"): PlainStep => ({
  kind: "hop",
  edge: named,
  direction,
  rounds: 1,
  emit: "last",
  atLeast: undefined,
  age: undefined,
});

// Where one can go on from a place, and from a person.
const onward = { place: [hop("livesIn", "in"), hop("near", "out")], person: [hop("knows", "out"), hop("livesIn", "out")] };
const filters: readonly PlainStep[] = [{ kind: "dedupe" }, { kind: "except", which: "start" }, { kind: "except", which: "passed" }];

const walkOf = (country: string, numbers: readonly number[]): PlainWalk => {
  const steps: PlainStep[] = [onward.place[(numbers[0] ?? 0) % 2]!];
  for (const number of numbers.slice(1)) {
    const last = steps.findLast((step) => step.kind === "hop")!;
    const at = last.edge === "knows" || last.direction === "in" ? "person" : "place";
    if (number % 2 === 0) steps.push(onward[at][(number >> 1) % 2]!);
    else if (number % 7 === 0 && at === "person") steps.push({ kind: "age", atLeast: 1 + (number % 3) });
    else steps.push(filters[(number >> 1) % 3]!);
  }
  return { start: country, within: below(country), first: undefined, steps };
};
const walks = fc
  .tuple(fc.constantFrom(...COUNTRIES), fc.array(fc.nat({ max: 99 }), { minLength: 1, maxLength: 5 }))
  .map(([country, numbers]) => walkOf(country, numbers));

const ask = (db: AnyWalk, { start, steps }: PlainWalk): AnyWalk => {
  const [first, ...rest] = steps as readonly [Extract<PlainStep, { kind: "hop" }>, ...PlainStep[]];
  let walk = db.place.within({ country: start })[first.direction](first.edge).walk();
  for (const step of rest) {
    if (step.kind === "hop") walk = walk[step.direction](step.edge);
    else if (step.kind === "age") walk = walk.whereNode({ age: { gte: step.atLeast } });
    else if (step.kind === "except") walk = walk.except(step.which);
    else walk = walk.dedupe();
  }
  return walk;
};

const byName = <T>(entries: Iterable<readonly [string, T]>): readonly (readonly [string, T])[] =>
  [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1));

const askedOf = (walk: AnyWalk, plain: PlainWalk, graph: NaiveGraph): readonly Asking[] => {
  const { paths: all } = walkNaively(graph, naivePlan(plain));
  const counts = new Map<string, number>();
  for (const path of all) counts.set(nameOf(endOf(path)), (counts.get(nameOf(endOf(path))) ?? 0) + 1);
  const showCounts = (items: readonly { readonly id: Id; readonly count: number }[]): unknown =>
    byName(items.map(({ id, count }) => [nameOfId(id), count] as const));
  // A path begins with the level, whichever of its nodes the edge is at.
  const paths = new Set(all.map(({ nodes: [, ...on] }) => [`place/${plain.start}`, ...on.map(nameOf)].join(" ")));
  const forgets = plain.steps.some(({ kind }) => kind === "dedupe");
  return [
    { name: "ids", ask: (options) => walk.ids(options), adds: true, show: names, expected: [...counts.keys()].toSorted() },
    { name: "count", ask: (options) => walk.count(options), adds: false, show: (_, part) => Number(part.count), expected: all.length },
    { name: "groupCount", ask: (options) => walk.groupCount(options), adds: false, show: showCounts, expected: byName(counts) },
    ...(forgets
      ? []
      : [
          {
            name: "paths",
            ask: (options: object) => walk.paths({ limit: 100_000, ...options }),
            adds: true,
            show: pathNames,
            expected: [...paths].toSorted(),
          },
        ]),
  ];
};

const stood = new Set([...places, ...persons, ...COUNTRIES.map((id) => ({ type: "place", id }))].map(nameOf));

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

describe.each([
  ["every rule", []],
  ["no rule", ruleNames],
] as const)("walks from all nodes below a level answer as the naive evaluator does, with %s", (_, rulesOff) => {
  test(`random graphs and walks (seed ${seed})`, { timeout: 2 * time }, async () => {
    const property = fc.asyncProperty(drawn, walks, fc.nat({ max: 99 }), async (some, plain, pick) => {
      const table = engine.freshTableName("within");
      const db = graphOf(table).connect({ ...slowed(engine.transport, rulesOff), cursorSecret: "within".padEnd(43, "-") });
      await db.table.create();
      const graph = new NaiveGraph({});
      for (const [age, person] of persons.slice(1).entries()) graph.putNode({ ...person, row: { ...rowOf(person), age } });
      for (const { edge: named, from, to } of some) graph.putEdge({ edge: named, from, to, attributes: {} });
      const rows = [
        ...graph.nodes.map(({ type, row }) => ({ node: type, row })),
        ...graph.edges().map((one) => ({ edge: one.edge, from: rowOf(one.from), to: rowOf(one.to) })),
      ];
      await db.load(rows as never, { strict: true, collisions: "ignore" });
      for (const [at, asking] of askedOf(ask(db, plain), plain, graph).entries()) {
        const { requests } = await checkWhole(asking);
        await checkParts(asking, cuts[(pick + at) % cuts.length]!, { stood, hops: plain.steps.length, requests });
      }
      await engine.transport.send("DeleteTable", { TableName: table });
    });
    await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: time, markInterruptAsFailure: true });
  });
});
