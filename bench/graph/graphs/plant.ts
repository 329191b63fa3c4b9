import { packGraph, targetsOf } from "./graph.ts";
import type { Graph } from "./graph.ts";

const fanOut = 5;
const depth = 3;
const inner = (fanOut ** depth - 1) / (fanOut - 1);
const planted = (fanOut ** (depth + 1) - 1) / (fanOut - 1);
// Spread over the first thousand numbers, so that in a key's order they stand between others.
const numberOf = (index: number): number => index * 6;

/** The node from which the planted neighbourhood is walked. */
export const plantedStart = numberOf(0);
/** How far it reaches. */
export const plantedDepth = depth;
export const plantedNodes = planted;

/**
 * The graph with one neighbourhood that is the same whatever stands around it: 31 nodes lose their own
 * edges and get those of a tree, 5 wide and 3 deep. The graph needs 1,000 nodes.
 */
export const plant = (graph: Graph): Graph => {
  const roots = new Set(Array.from({ length: inner }, (_, index) => numberOf(index)));
  const from: number[] = [];
  const to: number[] = [];
  for (let node = 0; node < graph.nodes; node++) {
    if (roots.has(node)) continue;
    for (const target of targetsOf(graph, node)) {
      from.push(node);
      to.push(target);
    }
  }
  for (let index = 1; index < planted; index++) {
    from.push(numberOf(Math.floor((index - 1) / fanOut)));
    to.push(numberOf(index));
  }
  return packGraph(graph.nodes, Uint32Array.from(from), Uint32Array.from(to));
};
