import { randomFrom, shuffled } from "../../measure/random.ts";
import { packGraph } from "./graph.ts";
import type { Graph } from "./graph.ts";

export interface ScaleFree {
  readonly nodes: number;
  readonly edges: number;
  readonly seed: number;
}

/**
 * The static model of Goh, Kahng and Kim (2001): both ends of an edge are drawn with weight rank^(-1/2),
 * so that out-degrees and in-degrees have the tail of preferential attachment, P(k) ~ k^-3, and whoever
 * follows many is followed by many. No self-edges, none twice. What rank a node has, its number does not tell.
 */
export const scaleFree = ({ nodes, edges, seed }: ScaleFree): Graph => {
  const random = randomFrom(seed);
  const numbers = Uint32Array.from(shuffled([...Array(nodes).keys()], random));
  // The weights' sum up to a rank grows with its square root: no table is needed to draw one.
  const draw = (): number => numbers[Math.floor(nodes * random() ** 2)] as number;
  const seen = new Set<number>();
  const from = new Uint32Array(edges);
  const to = new Uint32Array(edges);
  while (seen.size < edges) {
    const source = draw();
    const target = draw();
    const before = seen.size;
    if (source === target || seen.add(source * nodes + target).size === before) continue;
    from[before] = source;
    to[before] = target;
  }
  return packGraph(nodes, from, to);
};
