import { defineGraph, edge, node } from "edgetable";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { systemEffects } from "../../packages/edgetable/src/executor/session.ts";
import { ruleNames } from "../../packages/edgetable/src/planner/rule-names.ts";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { testRuns, testSeed } from "../engines/property-runs.ts";
import { nameOf, NaiveGraph, type NaiveEdge, type NaiveNode, type Row } from "../naive/graph.ts";
import { byEnd, endOf, walkNaively, type NaiveStep } from "../naive/walk.ts";
import { inParts, onePart, type AnyWalk, type Ask } from "./ask.ts";

const seed = testSeed();
const runs = testRuns(10);
const time = 60_000 + runs * 2000;

const START = Date.UTC(2030, 0, 1);
const LETTERS = ["a", "b", "c", "d"];
const edgeTypes = { knows: { orderBy: "rank" }, friend: { symmetric: true } };

/** Nodes and edges that expire. */
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      person: node({
        key: "PERSON#{personId}",
        schema: z.object({ personId: z.string(), age: z.number(), until: z.number().optional() }),
        ttl: "until",
      }),
    },
    edges: {
      knows: edge({
        from: "person",
        to: "person",
        schema: z.object({ rank: z.number(), until: z.number().optional() }),
        orderBy: "rank:number",
        ttl: "until",
        ends: "unchecked",
      }),
      friend: edge({
        from: "person",
        to: "person",
        schema: z.object({ until: z.number().optional() }),
        symmetric: true,
        ttl: "until",
        ends: "unchecked",
      }),
    },
  });

// Seconds from the start: expired before it, at it, between two readings, later than both, or never.
const until = fc.constantFrom(-10, 0, 10, 20, 1000, undefined);
const expiring = (after: number | undefined): Row => (after === undefined ? {} : { until: START / 1000 + after });

const letter = fc.constantFrom(...LETTERS);
const persons = fc.tuple(until, until, until, until).map((times) =>
  times.map((after, at): NaiveNode => {
    const id = LETTERS[at]!;
    return { type: "person", id, row: { personId: id, age: at, ...expiring(after) } };
  }),
);
const edges = fc.array(
  fc
    .record({ edge: fc.constantFrom("knows", "friend"), from: letter, to: letter, rank: fc.integer({ min: -3, max: 3 }), until })
    .map(({ edge: named, from, to, rank, until: after }): NaiveEdge => {
      const attributes = { ...(named === "knows" ? { rank } : {}), ...expiring(after) };
      return { edge: named, from: { type: "person", id: from }, to: { type: "person", id: to }, attributes };
    }),
  { minLength: 4, maxLength: 16 },
);

const hop = (named: string, direction: "out" | "in" | "both"): NaiveStep => ({
  kind: "hop",
  edges: [named],
  direction,
  rounds: 1,
  emit: "last",
});
/** Steps as the reference and as the library take them. */
const steps: readonly (readonly [NaiveStep, (walk: AnyWalk) => AnyWalk])[] = [
  [hop("knows", "out"), (walk) => walk.out("knows")],
  [hop("knows", "in"), (walk) => walk.in("knows")],
  [hop("knows", "both"), (walk) => walk.both("knows")],
  [hop("friend", "both"), (walk) => walk.both("friend")],
  [{ kind: "filter", keepsNode: (row) => row !== undefined && (row["age"] as number) >= 1 }, (walk) => walk.whereNode({ age: { gte: 1 } })],
  [{ kind: "dedupe" }, (walk) => walk.dedupe()],
  [{ kind: "except", which: "passed" }, (walk) => walk.except("passed")],
];
const walks = fc.tuple(letter, fc.nat({ max: 3 }), fc.array(fc.nat({ max: steps.length - 1 }), { maxLength: 3 }));

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const texts = (rows: Iterable<unknown>): readonly string[] => [...rows].map((row) => JSON.stringify(row)).toSorted();
const isLiving = ({ until: ends = Number.POSITIVE_INFINITY }: { readonly until?: number }, now: number): boolean => ends >= now / 1000;

describe.each([
  ["every rule", []],
  ["no rule", ruleNames],
] as const)("reads and walks hide what has expired, as the reference does, with %s", (_, rulesOff) => {
  test(`random graphs, walks and times (seed ${seed})`, { timeout: 2 * time }, async () => {
    const property = fc.asyncProperty(persons, edges, walks, async (people, drawn, [start, first, others]) => {
      const table = engine.freshTableName("expiry");
      let clock = START;
      const effects = { ...systemEffects, now: () => clock };
      const db = graphOf(table).connect({
        transport: engine.transport,
        advanced: { effects, rulesOff },
        cursorSecret: "expiry".padEnd(43, "-"),
      });
      await db.table.create();
      const all = new NaiveGraph(edgeTypes);
      for (const one of drawn) all.putEdge(one);
      const rows = [
        ...people.map(({ row }) => ({ node: "person", row })),
        ...all.edges().map(({ edge: named, from, to, attributes }) => ({
          edge: named,
          from: { personId: from.id },
          to: { personId: to.id },
          attributes,
        })),
      ];
      await db.load(rows as never, { strict: true, collisions: "ignore" });
      for (const after of [0, 5, 15, 25]) {
        clock = START + after * 1000;
        const living = new NaiveGraph(edgeTypes);
        for (const one of people) if (isLiving(one.row, clock)) living.putNode(one);
        for (const one of all.edges()) if (isLiving(one.attributes, clock)) living.putEdge(one);
        const at = { type: "person", id: start };
        const label = `${after} s later`;
        const met = living.neighbours(at, { edge: "knows", direction: "out", ordered: true });
        const query = db.person({ personId: start }).out("knows");
        expect(
          (await query.edges()).map(({ to }) => to.personId),
          label,
        ).toEqual(met.map(({ to }) => to.id));
        expect(texts((await query.nodes()).map(({ personId }) => personId)), label).toEqual(
          texts(met.flatMap(({ to }) => living.node(to)?.id ?? [])),
        );
        const chosen = [steps[first]!, ...others.map((one) => steps[one]!)];
        const { paths } = walkNaively(living, { starts: [at], steps: chosen.map(([step]) => step) });
        let walk: AnyWalk = db.person({ personId: start }).walk();
        for (const [, take] of chosen) walk = take(walk);
        const ends = byEnd(paths);
        const ids: Ask = (options) => walk.ids(options);
        const names = (items: readonly { readonly personId: string }[]): readonly string[] =>
          items.map(({ personId }) => nameOf({ type: "person", id: personId })).toSorted();
        expect(names((await onePart(ids, {})).part.items), label).toEqual([...ends.keys()].toSorted());
        const parts = await inParts(ids, { budget: { requests: 1 } });
        expect(names(parts.flatMap(({ part }) => part.items)), `${label} in parts`).toEqual([...ends.keys()].toSorted());
        expect(Number((await walk.count()).count), label).toBe(paths.length);
        const found = [...ends.values()].flatMap(([path]) => living.node(endOf(path!))?.id ?? []);
        const { items } = (await walk.nodes()) as { readonly items: readonly { readonly personId: string }[] };
        expect(texts(items.map(({ personId }) => personId)), label).toEqual(texts(found));
      }
      await engine.transport.send("DeleteTable", { TableName: table });
    });
    await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: time, markInterruptAsFailure: true });
  });
});
