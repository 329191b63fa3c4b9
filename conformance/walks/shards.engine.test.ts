import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ruleNames } from "../../packages/edgetable/src/planner/rule-names.ts";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { testRuns, testSeed } from "../engines/property-runs.ts";
import { social } from "../oracle/model.ts";
import { askedOf, type Walked } from "./asked-of-walks.ts";
import { askWalk, type Ask, type Db } from "./ask.ts";
import { cases, checkWalk, type Case } from "./check-graph.ts";
import { checkParts, checkWhole, type Asking } from "./check-parts.ts";
import { drawGraph, type Drawn } from "./graphs.ts";
import { nameOf, type NaiveGraph } from "../naive/graph.ts";
import { endOf, walkNaively, type NaiveWalk } from "../naive/walk.ts";
import { naivePlan, type PlainStep, type PlainWalk } from "./plain-walk.ts";
import { shardedLayout, type Counts } from "./sharded-layout.ts";
import { slowed } from "./slow-engine.ts";
import { inScope } from "./walks.ts";

const seed = testSeed();
const runs = testRuns(4);

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

/** Before a growth, while both counts are in use, and after it. */
interface Stages {
  readonly before: Db;
  readonly between: Db;
  readonly after: Db;
}

const stagesOf = (table: string, [few, many]: readonly [number, number], rulesOff: readonly string[]): Stages => {
  const slow = slowed(engine.transport, rulesOff);
  const open = (counts: Counts): Db => social(table, shardedLayout(counts)).connect({ ...slow, cursorSecret: "shards".padEnd(43, "-") });
  const both = few === many ? [few] : undefined;
  return { before: open(both ?? [few, many]), between: open(both ?? [many, few]), after: open([many]) };
};

type Growth = "nothing" | "grows" | "moves";

// The first part of each answer is read before the growth, the others after it.
const grownMidway =
  ({ between }: Stages, growth: Growth) =>
  async (walked: Walked): Promise<readonly Asking[]> => {
    const grown = await askedOf({ ...walked, walk: askWalk(between, walked.plain) });
    const move = (): Promise<unknown> => between.reshard({ rate: 100_000, indexLag: 0 });
    return (await askedOf(walked)).flatMap((asking, at): readonly Asking[] => {
      const ask: Ask = (options) => (options.cursor === undefined ? asking : grown[at]!).ask(options);
      if (growth !== "moves") return [{ ...asking, ask }];
      // An edge that moves while a supernode is read may be counted in both places.
      return asking.name === "ids"
        ? [
            {
              ...asking,
              ask: moving(ask, once(move)),
              show: (items) => new Set(asking.show(items, {} as never) as readonly string[]),
              expected: new Set(asking.expected as readonly string[]),
            },
          ]
        : [];
    });
  };

const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  const made: Promise<T>[] = [];
  return () => made[0] ?? (made[0] = make());
};

const moving =
  (ask: Ask, move: () => Promise<unknown>): Ask =>
  (options) => {
    const call = ask(options);
    return { explain: () => call.explain(), report: async () => (options.cursor === undefined ? undefined : await move(), call.report()) };
  };

// One reading of a node's edges is as many requests as there are shards, and one answer is asked for several times.
const MOST_REQUESTS = 800;
const MOST_PARTS = 40;

/** The walk as far as it takes no more readings than this. */
const shortened = (graph: NaiveGraph, walk: PlainWalk, most: number): PlainWalk => {
  if (walkNaively(graph, naivePlan(walk)).reads <= most) return walk;
  const before = walk.steps.slice(0, -1);
  const last = walk.steps.at(-1);
  const less: readonly PlainStep[] = last?.kind === "hop" && last.rounds > 1 ? [{ ...last, rounds: 1 }] : [];
  return shortened(graph, { ...walk, steps: [...before, ...less] }, most);
};

/** Readings of the nodes at the end, along one more hop. */
const furtherReads = ({ paths }: NaiveWalk): number => 2 * new Set(paths.map((path) => nameOf(endOf(path)))).size;

// Edges come one shard after another, and which lies in which is the hash's business.
const unordered = ({ name, ask, adds, show, expected, further = 0 }: Asking): Asking => ({ name, ask, adds, show, expected, further });

const checkSharded = async (
  stages: Stages,
  { drawn, walks, pick }: Case,
  { growth, shards }: { readonly growth: Growth; readonly shards: number },
): Promise<void> => {
  const graph = await drawGraph(growth === "nothing" ? [stages.before] : [stages.before, stages.between], "", drawn);
  const most = MOST_REQUESTS / shards;
  for (const plain of walks.slice(0, 1).map((walk) => shortened(graph, inScope("", walk), most))) {
    const naive = walkNaively(graph, naivePlan(plain));
    const fits = (asking: Asking): boolean => (asking.further ?? 0) === 0 || naive.reads + furtherReads(naive) <= most;
    const askings = async (walked: Walked): Promise<readonly Asking[]> =>
      (await grownMidway(stages, growth)(walked))
        .filter((asking, at) => fits(asking) && (asking.name === "ids" || (at + pick) % 3 === 0))
        .map(unordered);
    await checkWalk({ plain, graph, naive, walk: askWalk(stages.before, plain), pick }, { askings, parts: MOST_PARTS });
  }
};

const few: readonly Drawn[] = [
  [0, 1],
  [0, 2],
  [2, 1],
].map(([from = 0, to = 0]) => ({ edge: "follows", from, to, tag: false, number: 2, role: "x" }));
const hop: PlainStep = { kind: "hop", edge: "follows", direction: "in", rounds: 1, emit: "all", atLeast: undefined, age: undefined };

const time = 60_000 + runs * 10_000;
const growths: readonly (readonly [number, number])[] = [
  [1, 1],
  [1, 64],
  [2, 8],
  [4, 12],
  [64, 64],
];

describe.each([
  ["every rule", []],
  ["no rule", ruleNames],
] as const)("walks over sharded indexes answer as the naive evaluator does, with %s", (_, rulesOff) => {
  test.each(growths)(`from %i to %i shards (seed ${seed})`, { timeout: 2 * time }, async (few, many) => {
    const kinds: readonly Growth[] = few === many ? ["nothing"] : ["grows", "moves"];
    const property = fc.asyncProperty(cases(false), fc.constantFrom(...kinds), async (one, growth) => {
      const table = engine.freshTableName("shards");
      const stages = stagesOf(table, [few, many], rulesOff);
      await stages.before.table.create();
      await checkSharded(stages, one, { growth, shards: many });
      await engine.transport.send("DeleteTable", { TableName: table });
    });
    // A failure is told in time, shrunk as far as the time allows.
    await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: time, markInterruptAsFailure: true });
  });

  // Elsewhere a part takes more requests, so that there are not too many parts.
  test("in parts of one request each, one for every shard of every node", { timeout: 60_000 }, async () => {
    const { before } = stagesOf(engine.freshTableName("shards"), [64, 64], rulesOff);
    await before.table.create();
    const graph = await drawGraph([before], "", few);
    const plain: PlainWalk = { start: "b", first: undefined, steps: [hop, hop] };
    const naive = walkNaively(graph, naivePlan(plain));
    const walked = { plain, graph, naive, walk: askWalk(before, plain), pick: 0 };
    const one = { budget: { requests: 1 }, rest: { requests: 1 } };
    for (const asking of (await askedOf(walked)).map(unordered).filter(({ name }) => ["ids", "groupCount"].includes(name))) {
      const { requests } = await checkWhole(asking);
      expect(requests).toBe(3 * 64);
      await checkParts(asking, one, { stood: naive.stood, hops: 2, requests });
    }
  });
});
