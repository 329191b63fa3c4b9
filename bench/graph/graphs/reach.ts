import { targetsOf } from "./graph.ts";
import type { Graph } from "./graph.ts";

/** Nodes at each distance from `start` along edges of any of the graphs: what a walk must find, and what it must read. */
export const layersOf = (graphs: readonly Graph[], start: number, depth: number): readonly (readonly number[])[] => {
  const seen = new Set([start]);
  let frontier: readonly number[] = [start];
  return Array.from({ length: depth }, () => {
    const next: number[] = [];
    for (const node of frontier)
      for (const graph of graphs)
        for (const target of targetsOf(graph, node)) {
          if (seen.has(target)) continue;
          seen.add(target);
          next.push(target);
        }
    frontier = next;
    return next;
  });
};
