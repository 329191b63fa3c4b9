import { randomFrom } from "../../measure/random.ts";
import { startWorker } from "../../workers/parent.ts";
import type { Worker } from "../../workers/parent.ts";
import { linksSet, socialSet } from "../store/data-set.ts";
import type { GraphSet } from "../store/data-set.ts";
import { databaseOf, startOn } from "../store/database.ts";
import { expectedOf, holdContest } from "./contest.ts";
import type { Contestant, Standing } from "./contest.ts";
import type { WalkSide } from "./sides.ts";
import { startsOf } from "./starts.ts";
import type { Neighbourhood } from "./walk.ts";
import type { WalkBlock } from "./worker.ts";

type Hops = Pick<Neighbourhood, "direction" | "depth">;

/** A graph, what is walked on it, and from nodes of what out-degree. */
interface Field {
  readonly graph: "scale-free" | "linkbench";
  readonly set: GraphSet;
  readonly edge: string;
  readonly degree: number;
  readonly hops: readonly Hops[];
}

export interface WalksPlan {
  readonly nodes: number;
  /** Of the scale-free graph; the other has what its degrees add up to. */
  readonly edges: number;
  readonly seed: number;
  /** Requests of each kind of walk before it is timed: the first thousands in a process cost a client two to three times the later ones. */
  readonly warmUp: number;
  /** Walks of one kind, each from another node. */
  readonly starts: number;
  readonly rounds: number;
  /** Requests of one side in a row, about: what takes more begins from fewer nodes, one at least. */
  readonly longest: number;
  /** The first is what the others are compared with. */
  readonly sides: readonly WalkSide[];
}

export interface WalkResult extends Standing, Hops {
  readonly graph: Field["graph"];
  readonly nodes: number;
  readonly edges: number;
}

const hopsOf = (direction: Hops["direction"], ...depths: readonly number[]): Hops[] => depths.map((depth) => ({ direction, depth }));

const fieldsOf = ({ nodes, edges, seed }: WalksPlan): readonly Field[] => [
  {
    graph: "scale-free",
    set: socialSet({ nodes, edges, seed }),
    edge: "follows",
    degree: edges / nodes,
    hops: [...hopsOf("out", 2, 3), ...hopsOf("both", 2, 3)],
  },
  {
    graph: "linkbench",
    set: linksSet({ nodes, seed }),
    edge: "link",
    // A node of the last percent: from one with the mean of 4 links a walk is over before it can be measured.
    degree: 50,
    hops: [...hopsOf("out", 2, 3), ...hopsOf("both", 2)],
  },
];

// Shorter blocks measure the clock and the scheduler.
const blockRequests = 200;

const requestsOf = ({ answers }: WalkBlock): number => answers.reduce((sum, { requests }) => sum + requests, 0);

/** Walks until the process has sent so many requests, and gives those of one pass. */
export const warmUp = async (worker: Worker, neighbourhoods: readonly Neighbourhood[], requests: number): Promise<number> => {
  let pass = 0;
  for (let sent = 0; sent < requests; sent += pass) pass = requestsOf(await worker.ask<WalkBlock>(neighbourhoods));
  return pass;
};

const blockOf = (neighbourhoods: readonly Neighbourhood[], requests: number, longest: number): readonly Neighbourhood[] => {
  const fitting = Math.max(1, Math.floor((neighbourhoods.length * longest) / requests));
  if (fitting < neighbourhoods.length) return neighbourhoods.slice(0, fitting);
  return Array.from({ length: Math.ceil(blockRequests / requests) }, () => neighbourhoods).flat();
};

const runField = async (field: Field, plan: WalksPlan, log: (line: string) => void): Promise<readonly WalkResult[]> => {
  const { graph: name, set, edge, degree } = field;
  const graph = set.graph();
  const engine = await startOn(await databaseOf(set, log));
  const contestants: readonly Contestant[] = plan.sides.map((side) => ({
    side,
    worker: startWorker("graph/walks/worker", [side, engine.endpoint, set.table, edge]),
  }));
  const random = randomFrom(plan.seed);
  const starts = startsOf(graph, degree, { count: plan.starts, seed: plan.seed });
  const from = (hops: Hops): readonly Neighbourhood[] => starts.map((start) => ({ ...hops, start: String(start) }));
  const results: WalkResult[] = [];
  try {
    for (const hops of field.hops) {
      for (const { worker } of contestants) await warmUp(worker, from(hops), plan.warmUp);
      const once = await contestants[0]?.worker.ask<WalkBlock>(from(hops));
      const neighbourhoods = blockOf(from(hops), once ? requestsOf(once) : 1, plan.longest);
      const expected = neighbourhoods.map((one) => expectedOf(graph, one));
      const standings = await holdContest(contestants, { neighbourhoods, expected }, { count: plan.rounds, random });
      results.push(...standings.map((standing) => ({ graph: name, nodes: graph.nodes, edges: graph.edges, ...hops, ...standing })));
      log(
        `walks: ${name}, ${hops.depth} hops ${hops.direction}: ${standings.map(({ side, ratio }) => `${side} ${ratio.toFixed(2)}`).join(", ")}`,
      );
    }
  } finally {
    await Promise.all(contestants.map(({ worker }) => worker.end()));
    await engine.stop();
  }
  return results;
};

/** Neighbourhoods of two and three hops on both graphs, each side in a process of its own, on one engine. */
export const runWalks = async (plan: WalksPlan, log: (line: string) => void): Promise<readonly WalkResult[]> => {
  const results: WalkResult[] = [];
  for (const field of fieldsOf(plan)) results.push(...(await runField(field, plan, log)));
  return results;
};
