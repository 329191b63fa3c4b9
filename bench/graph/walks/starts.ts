import { randomFrom, shuffled } from "../../measure/random.ts";
import { degreeOf } from "../graphs/graph.ts";
import type { Graph } from "../graphs/graph.ts";

/** Nodes from which walks begin: those whose out-degree is within a tenth of the wanted one, some of them, drawn by the seed. */
export const startsOf = (graph: Graph, degree: number, { count, seed }: { readonly count: number; readonly seed: number }): number[] => {
  const fitting = Array.from({ length: graph.nodes }, (_, node) => node).filter(
    (node) => Math.abs(degreeOf(graph, node) - degree) <= degree / 10,
  );
  if (fitting.length === 0) throw new Error(`no node has an out-degree near ${degree}`);
  return shuffled(fitting, randomFrom(seed)).slice(0, count);
};
