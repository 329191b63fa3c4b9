import { randomFrom } from "../../measure/random.ts";
import { startWorker } from "../../workers/parent.ts";
import { linksSet, socialSet } from "../store/data-set.ts";
import type { DataSet } from "../store/data-set.ts";
import { databaseOf, startOn } from "../store/database.ts";
import { expectedOf, holdContest } from "./contest.ts";
import type { Contestant, Standing } from "./contest.ts";
import { walkSides } from "./sides.ts";
import { startsOf } from "./starts.ts";
import type { Neighbourhood } from "./walk.ts";

type Hops = Pick<Neighbourhood, "direction" | "depth">;

/** A graph, what is walked on it, and from nodes of what out-degree. */
interface Field {
  readonly graph: "scale-free" | "linkbench";
  readonly set: DataSet;
  readonly edge: string;
  readonly degree: number;
  readonly hops: readonly Hops[];
}

export interface WalksPlan {
  readonly nodes: number;
  /** Of the scale-free graph; the other has what its degrees add up to. */
  readonly edges: number;
  readonly seed: number;
  /** Walks of one kind, each from another node. */
  readonly starts: number;
  readonly rounds: number;
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

const runField = async (field: Field, plan: WalksPlan, log: (line: string) => void): Promise<readonly WalkResult[]> => {
  const { graph: name, set, edge, degree } = field;
  const graph = set.graph();
  const engine = await startOn(await databaseOf(set, log));
  const contestants: readonly Contestant[] = walkSides.map((side) => ({
    side,
    worker: startWorker("graph/walks/worker", [side, engine.endpoint, set.table, edge]),
  }));
  const random = randomFrom(plan.seed);
  const starts = startsOf(graph, degree, { count: plan.starts, seed: plan.seed });
  const results: WalkResult[] = [];
  try {
    for (const hops of field.hops) {
      const neighbourhoods = starts.map((start) => ({ ...hops, start: String(start) }));
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
