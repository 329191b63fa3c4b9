import { defineGraph, edge, node } from "edgetable";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { testRuns, testSeed } from "../engines/property-runs.ts";
import { NaiveGraph } from "../naive/graph.ts";
import { shortest, simplePaths, type NaiveHop } from "../naive/walk.ts";
import { inParts, onePart, pathName, pathNames, type AnyWalk, type Ask } from "./ask.ts";
import { slowed } from "./slow-engine.ts";

const seed = testSeed();
const runs = testRuns(6);
const time = 60_000 + runs * 15_000;

const text = z.string();
const nodes = { person: node({ key: "PERSON#{personId}", schema: z.object({ personId: text, age: z.number() }) }) };
const ends = "unchecked";
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes,
    edges: { knows: edge({ from: "person", to: "person", ends }), likes: edge({ from: "person", to: "person", ends }) },
  });

const LETTERS = ["a", "b", "c", "d", "e", "f"];
/** More edges than a search reads of a node before it may turn to the other end. */
const FANS = 130;

const letter = fc.constantFrom(...LETTERS);

/** A few edges between a few nodes, some of which have many more edges: in or out, to fans of their own or to the same ones. */
const drawn = fc.record({
  edges: fc.array(fc.record({ edge: fc.constantFrom("knows", "likes"), from: letter, to: letter }), { minLength: 3, maxLength: 12 }),
  stars: fc.array(
    fc.record({ hub: letter, way: fc.constantFrom("in", "out"), fans: fc.constantFrom("x", "y"), times: fc.constantFrom(1, 2) }),
    {
      minLength: 1,
      maxLength: 3,
    },
  ),
});

const questions = fc.array(
  fc.record({
    kind: fc.constantFrom("shortestPath", "shortestPaths", "allPaths", "cycle"),
    start: letter,
    to: letter,
    direction: fc.constantFrom("out", "in", "both"),
    several: fc.boolean(),
    age: fc.constantFrom(undefined, undefined, 1),
    depth: fc.constantFrom(undefined, 1, 2, 3),
    budget: fc.constantFrom({ requests: 1 }, { requests: 2 }, { breadth: 50, requests: 40 }, { units: 3 }, { breadth: 110 }),
  }),
  { minLength: 4, maxLength: 6 },
);

interface Case {
  readonly graph: typeof drawn extends fc.Arbitrary<infer T> ? T : never;
  readonly asked: typeof questions extends fc.Arbitrary<infer T> ? T : never;
}

const person = (id: string): { readonly type: string; readonly id: string } => ({ type: "person", id });

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const checkCase = async (rulesOff: readonly string[], { graph: { edges, stars }, asked }: Case): Promise<void> => {
  const db = graphOf(engine.freshTableName("supernodes")).connect({
    ...slowed(engine.transport, rulesOff),
    cursorSecret: "s".padEnd(43, "-"),
  });
  await db.table.create();
  const naive = new NaiveGraph({ knows: {}, likes: {} });
  const rows: unknown[] = [];
  const link = (named: string, from: string, to: string): void =>
    naive.putEdge({ edge: named, from: person(from), to: person(to), attributes: {} });
  for (const { edge: named, from, to } of edges) link(named, from, to);
  for (const { hub, way, fans, times } of stars)
    for (let at = 0; at < FANS * times; at++) {
      const fan = `${fans}${at}`;
      link("knows", way === "in" ? fan : hub, way === "in" ? hub : fan);
    }
  for (const [at, id] of LETTERS.entries()) {
    naive.putNode({ type: "person", id, row: { personId: id, age: at % 3 } });
    rows.push({ node: "person", row: { personId: id, age: at % 3 } });
  }
  for (const { edge: named, from, to } of naive.edges())
    rows.push({ edge: named, from: { personId: from.id }, to: { personId: to.id }, attributes: {} });
  await db.load(rows as never, { strict: true, collisions: "ignore" });

  for (const { kind, start, to, direction, several, age, depth, budget } of asked) {
    const from: AnyWalk = db.person({ personId: start });
    const target = kind === "cycle" ? start : to;
    const named = several ? ["knows", "likes"] : "knows";
    const hop = { [direction]: named, ...(age === undefined ? {} : { whereNode: { age: { gte: age } } }) };
    const ask: Ask = (given) => {
      const options = { ...(depth === undefined ? {} : { depth }), ...(kind.endsWith("s") ? { limit: 100_000 } : {}), ...given };
      return kind === "cycle" ? from.cycle(hop, options) : from[kind]({ personId: to }, hop, options);
    };
    const naiveHop: NaiveHop = {
      edges: several ? ["knows", "likes"] : ["knows"],
      direction,
      keepsNode: age === undefined ? undefined : (row) => ((row?.["age"] as number | undefined) ?? -1) >= age,
    };
    // All paths over nodes of so many edges are too many, beyond three hops.
    if (kind === "allPaths" && depth === undefined) continue;
    const all = (kind === "allPaths" ? simplePaths : shortest)(naive, [person(start), person(target)], {
      hop: naiveHop,
      depth: depth ?? Number.POSITIVE_INFINITY,
    });
    const check = (items: readonly never[], label: string): void => {
      if (kind.endsWith("s")) return expect(pathNames(items), label).toEqual(all);
      expect(items, label).toHaveLength(Math.min(1, all.length));
      for (const path of items) expect(all, label).toContain(pathName(path));
    };
    const { part } = await onePart(ask, { budget: { requests: 20_000 } });
    check(part.items, kind);
    expect(part).toMatchObject({ complete: true, next: undefined });
    const cut = rulesOff.length > 0 ? { requests: 100 } : budget;
    const parts = await inParts(ask, { budget: cut });
    check(
      parts.flatMap((one) => one.part.items),
      `${kind} in parts by ${JSON.stringify(cut)}`,
    );
    for (const { requests } of parts) expect(requests).toBeLessThanOrEqual("requests" in cut ? cut.requests : 1000);
  }
};

describe.each([
  ["with every rule", []],
  ["with no side chosen", ["smaller-side"]],
] as const)("paths and cycles over supernodes are those of the naive evaluator, %s", (_, rulesOff) => {
  test(`random graphs (seed ${seed})`, { timeout: 2 * time }, async () => {
    const property = fc.asyncProperty(fc.record({ graph: drawn, asked: questions }), async (one) => {
      await checkCase(rulesOff, one);
    });
    // A failure is told in time, shrunk as far as the time allows.
    await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: time, markInterruptAsFailure: true });
  });
});
