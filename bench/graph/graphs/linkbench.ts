import { randomFrom, shuffled } from "../../measure/random.ts";
import { packGraph } from "./graph.ts";
import type { Graph } from "./graph.ts";

/** Share of nodes with more links than so many, as LinkBench publishes it for the social graph that it imitates. */
const published = [
  { links: 1, more: 0.225 },
  { links: 2, more: 0.13 },
  { links: 3, more: 0.08 },
  { links: 5, more: 0.042 },
  { links: 10, more: 0.017 },
  { links: 15, more: 0.01 },
  { links: 18, more: 0.008 },
  { links: 264, more: 0.001 },
  { links: 6051, more: 0.0001 },
] as const;
const withoutLinks = 0.453;
const mostLinks = 961_963;
// Beyond the last published quantile a Pareto tail, as steep as the published mean of about 4.1 asks for.
const tailExponent = 1.55;

const between = (share: number, low: (typeof published)[number], high: (typeof published)[number]): number => {
  const exponent = Math.log(low.more / high.more) / Math.log(high.links / low.links);
  return low.links * (low.more / share) ** (1 / exponent);
};

/** Links of a node that only the share `more` of all nodes exceeds, 0 < more < 1. */
export const linksAt = (more: number): number => {
  if (more >= 1 - withoutLinks) return 0;
  if (more >= published[0].more) return 1;
  const above = published.findIndex((point) => point.more <= more);
  const [low, high] = [published[above - 1], published[above]];
  if (low && high) return Math.ceil(between(more, low, high));
  return Math.min(mostLinks, Math.ceil(6051 * (0.0001 / more) ** (1 / tailExponent)));
};

export interface LinkBenchGraph {
  readonly nodes: number;
  readonly seed: number;
}

/**
 * LinkBench's out-degrees, every node at its own quantile, so that a graph of any size has the published
 * shape; none above the published maximum or the number of other nodes. Targets are drawn evenly.
 */
export const linkBench = ({ nodes, seed }: LinkBenchGraph): Graph => {
  const random = randomFrom(seed);
  const ranks = shuffled([...Array(nodes).keys()], random);
  const degrees = ranks.map((rank) => Math.min(nodes - 1, linksAt((rank + 0.5) / nodes)));
  const edges = degrees.reduce((sum, degree) => sum + degree, 0);
  const from = new Uint32Array(edges);
  const to = new Uint32Array(edges);
  let at = 0;
  for (const [source, degree] of degrees.entries()) {
    const drawn = new Set<number>([source]);
    while (drawn.size <= degree) {
      const target = Math.floor(nodes * random());
      const before = drawn.size;
      if (drawn.add(target).size === before) continue;
      from[at] = source;
      to[at++] = target;
    }
  }
  return packGraph(nodes, from, to);
};
