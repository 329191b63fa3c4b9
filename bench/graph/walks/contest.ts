import { shuffled } from "../../measure/random.ts";
import { percentilesOf } from "../../measure/statistics.ts";
import { reversed } from "../graphs/graph.ts";
import type { Graph } from "../graphs/graph.ts";
import { layersOf } from "../graphs/reach.ts";
import type { Worker } from "../../workers/parent.ts";
import type { WalkSide } from "./sides.ts";
import type { Neighbourhood } from "./walk.ts";
import type { Answer, WalkBlock } from "./worker.ts";

export interface Contestant {
  readonly side: WalkSide;
  readonly worker: Worker;
}

/**
 * How one side walked the neighbourhoods of a contest; milliseconds and requests for one walk, the mean
 * over them. Times are the lower quartile of the rounds: whatever else the machine does only adds to them.
 */
export interface Standing {
  readonly side: WalkSide;
  readonly wall: number;
  readonly cpu: number;
  readonly requests: number;
  readonly found: number;
  /** Wall time and CPU relative to the first side's. */
  readonly ratio: number;
  readonly cpuRatio: number;
}

export interface Expected {
  readonly found: number;
  readonly sum: number;
}

/** What memory says that a walk finds. */
export const expectedOf = (graph: Graph, { start, direction, depth }: Neighbourhood): Expected => {
  const ids = layersOf(direction === "out" ? [graph] : [graph, reversed(graph)], Number(start), depth).flat();
  return { found: ids.length, sum: ids.reduce((sum, id) => sum + id, 0) };
};

const check = (side: WalkSide, answers: readonly Answer[], expected: readonly Expected[]): void => {
  for (const [index, { found, sum }] of answers.entries()) {
    const right = expected[index];
    if (found !== right?.found || sum !== right.sum)
      throw new Error(`walks: ${side} found ${found} nodes, not the ${right?.found} that are there`);
  }
};

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const quick = (blocks: readonly WalkBlock[], of: "wall" | "cpu"): number => percentilesOf(blocks.map((block) => block[of])).p25;

/** Every side walks every neighbourhood, in rounds, in random order; whoever finds other nodes than memory does ends the run. */
export const holdContest = async (
  contestants: readonly Contestant[],
  walks: { readonly neighbourhoods: readonly Neighbourhood[]; readonly expected: readonly Expected[] },
  rounds: { readonly count: number; readonly random: () => number },
): Promise<readonly Standing[]> => {
  const { neighbourhoods, expected } = walks;
  const blocks = new Map(contestants.map(({ side }) => [side, [] as WalkBlock[]] as const));
  // The first round warms up the engine's pages.
  for (let round = 0; round <= rounds.count; round++) {
    for (const { side, worker } of shuffled(contestants, rounds.random)) {
      const block = await worker.ask<WalkBlock>(neighbourhoods);
      check(side, block.answers, expected);
      if (round > 0) blocks.get(side)?.push(block);
    }
  }
  const [first = []] = blocks.values();
  return [...blocks].map(([side, own]) => ({
    side,
    wall: quick(own, "wall") / neighbourhoods.length,
    cpu: quick(own, "cpu") / neighbourhoods.length,
    requests: mean(own[0]?.answers.map((answer) => answer.requests) ?? []),
    found: mean(expected.map(({ found }) => found)),
    ratio: quick(own, "wall") / quick(first, "wall"),
    cpuRatio: quick(own, "cpu") / quick(first, "cpu"),
  }));
};
