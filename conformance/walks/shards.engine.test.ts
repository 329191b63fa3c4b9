import fc from "fast-check";
import { afterAll, beforeAll, describe, test } from "vitest";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { social } from "../oracle/model.ts";
import { askedOf, type Walked } from "./asked-of-walks.ts";
import { askWalk, type Ask, type Db } from "./ask.ts";
import { cases, checkWalk, type Case } from "./check-graph.ts";
import type { Asking } from "./check-parts.ts";
import { drawGraph } from "./graphs.ts";
import { walkNaively } from "./naive-walk.ts";
import { shardedLayout, type Counts } from "./sharded-layout.ts";
import { inScope } from "./walks.ts";

const seed = Number(process.env["EDGETABLE_SEED"] ?? Date.now() % 1_000_000);
const runs = Math.ceil(Number(process.env["EDGETABLE_RUNS"] ?? 12) / 3);

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
  const open = (counts: Counts): Db =>
    social(table, shardedLayout(counts)).connect({ transport: engine.transport, cursorSecret: "shards", rulesOff });
  const both = few === many ? [few] : undefined;
  return { before: open(both ?? [few, many]), between: open(both ?? [many, few]), after: open([many]) };
};

type Growth = "nothing" | "grows" | "moves";

// The first part of each answer is read before the growth, the others after it.
const grownMidway =
  ({ between }: Stages, growth: Growth) =>
  (walked: Walked): readonly Asking[] => {
    const grown = askedOf({ ...walked, walk: askWalk(between, walked.plain) });
    const move = (): Promise<unknown> => between.reshard({ rate: 100_000, indexLag: 0 });
    return askedOf(walked).flatMap((asking, at): readonly Asking[] => {
      const ask: Ask = (options) => (options.cursor === undefined ? asking : grown[at]!).ask(options);
      if (growth !== "moves") return [{ ...asking, ask }];
      // An edge that moves while a supernode is read may be counted in both places.
      return asking.name === "ids"
        ? [
            {
              ...asking,
              ask: moving(ask, move),
              show: (items) => new Set(asking.show(items, {} as never) as readonly string[]),
              expected: new Set(asking.expected as readonly string[]),
            },
          ]
        : [];
    });
  };

const moving =
  (ask: Ask, move: () => Promise<unknown>): Ask =>
  (options) => {
    const call = ask(options);
    return { explain: () => call.explain(), report: async () => (options.cursor === undefined ? undefined : await move(), call.report()) };
  };

const checkSharded = async (stages: Stages, { drawn, walks, pick }: Case, growth: Growth): Promise<void> => {
  const graph = await drawGraph(growth === "nothing" ? [stages.before] : [stages.before, stages.between], "", drawn);
  for (const plain of walks.slice(0, 1).map((walk) => inScope("", walk))) {
    const walked = { plain, graph, naive: walkNaively(graph, plain), walk: askWalk(stages.before, plain), pick };
    const askings = grownMidway(stages, growth);
    // In parts of one request, every node of a layer makes as many parts as there are shards.
    await checkWalk(walked, (one) => askings(one).filter((asking, at) => asking.name === "ids" || (at + pick) % 3 === 0));
  }
};

const rules = [
  "drop-dedupe",
  "dedupe-early",
  "hydrate-late",
  "project-ends",
  "check-ends-by-get",
  "push-conditions-into-keys",
  "filter-on-server",
];
const growths: readonly (readonly [number, number])[] = [
  [1, 1],
  [1, 64],
  [2, 8],
  [4, 12],
  [64, 64],
];

describe.each([
  ["every rule", []],
  ["no rule", rules],
] as const)("walks over sharded indexes answer as the naive evaluator does, with %s", (_, rulesOff) => {
  test.each(growths)(`from %i to %i shards (seed ${seed})`, { timeout: 60_000 + runs * 20_000 }, async (few, many) => {
    const kinds: readonly Growth[] = few === many ? ["nothing"] : ["grows", "moves"];
    const property = fc.asyncProperty(cases, fc.constantFrom(...kinds), async (one, growth) => {
      const table = engine.freshTableName("shards");
      const stages = stagesOf(table, [few, many], rulesOff);
      await stages.before.table.create();
      await checkSharded(stages, one, growth);
      await engine.transport.send("DeleteTable", { TableName: table });
    });
    await fc.assert(property, { seed, numRuns: runs });
  });
});
