import type { NaiveEnd, NaiveGraph } from "../oracle/naive-graph.ts";
import { edgesAt, nameOf, numberOf, type Onward } from "./naive-walk.ts";
import type { PlainHop } from "./plain-walk.ts";

const unique = (ends: readonly NaiveEnd[]): readonly NaiveEnd[] => [...new Map(ends.map((end) => [nameOf(end), end])).values()];

const sumOf = (edges: readonly Onward[]): number | undefined => {
  const numbers = edges.flatMap(({ edge }) => numberOf(edge) ?? []);
  return numbers.length === 0 ? undefined : numbers.reduce((sum, one) => sum + one, 0);
};

export interface NaiveRank {
  readonly name: string;
  readonly count: number;
  readonly value: number | undefined;
}

/** Nodes by their own edges; those without any are left out. */
export const rank = (
  graph: NaiveGraph,
  nodes: readonly NaiveEnd[],
  { hop, sums }: { readonly hop: PlainHop; readonly sums: boolean },
): readonly NaiveRank[] =>
  unique(nodes).flatMap((end) => {
    const edges = edgesAt(graph, end, hop);
    return edges.length === 0 ? [] : [{ name: nameOf(end), count: edges.length, value: sums ? sumOf(edges) : edges.length }];
  });

export interface NaiveLevel {
  readonly level: number;
  readonly nodes: number;
  readonly edges: number;
  readonly sum?: number;
}

/** What each round finds, every node being read in the first round that stands on it. */
export const levels = (
  graph: NaiveGraph,
  starts: readonly NaiveEnd[],
  { hop, depth, sums }: { readonly hop: PlainHop; readonly depth: number; readonly sums: boolean },
): readonly NaiveLevel[] => {
  const rounds: NaiveLevel[] = [];
  const found = new Set<string>();
  const read = new Set<string>();
  let frontier = unique(starts);
  for (let level = 1; level <= depth && frontier.length > 0; level++) {
    for (const end of frontier) read.add(nameOf(end));
    const edges = frontier.flatMap((end) => edgesAt(graph, end, hop));
    const ends = unique(edges.map(({ far }) => far));
    const fresh = ends.filter((end) => !found.has(nameOf(end)));
    for (const end of fresh) found.add(nameOf(end));
    if (edges.length > 0) rounds.push({ level, nodes: fresh.length, edges: edges.length, ...(sums ? { sum: sumOf(edges) ?? 0 } : {}) });
    frontier = ends.filter((end) => !read.has(nameOf(end)));
  }
  return rounds;
};

/** The neighbours that all of some nodes have. */
export const common = (graph: NaiveGraph, nodes: readonly NaiveEnd[], hop: PlainHop): readonly string[] => {
  const lists = nodes.map((end) => new Set(edgesAt(graph, end, hop).map(({ far }) => nameOf(far))));
  return [...(lists[0] ?? [])].filter((name) => lists.every((list) => list.has(name))).toSorted();
};

/** The least number of hops from a node to each other one, and back to itself. */
const distances = (graph: NaiveGraph, start: NaiveEnd, hop: PlainHop): ReadonlyMap<string, number> => {
  const known = new Map<string, number>();
  let frontier: readonly NaiveEnd[] = [start];
  for (let distance = 1; frontier.length > 0; distance++) {
    frontier = unique(frontier.flatMap((at) => edgesAt(graph, at, hop).map(({ far }) => far))).filter((end) => !known.has(nameOf(end)));
    for (const end of frontier) known.set(nameOf(end), distance);
  }
  return known;
};

/** All paths between two nodes that come to no node twice, of at most so many hops; from a node to itself none. */
export const simplePaths = (
  graph: NaiveGraph,
  [start, target]: readonly [NaiveEnd, NaiveEnd],
  { hop, depth }: { readonly hop: PlainHop; readonly depth: number },
): readonly string[] => {
  const found = new Set<string>();
  const go = (path: readonly NaiveEnd[]): void => {
    if (path.length > depth) return;
    for (const { far } of edgesAt(graph, path.at(-1)!, hop)) {
      if (path.some((one) => nameOf(one) === nameOf(far))) continue;
      const longer = [...path, far];
      if (nameOf(far) === nameOf(target)) found.add(longer.map(nameOf).join(" "));
      else go(longer);
    }
  };
  if (nameOf(start) !== nameOf(target)) go([start]);
  return [...found].toSorted();
};

/** All walks of the least number of hops between two nodes, which may be one. */
export const shortest = (
  graph: NaiveGraph,
  [start, target]: readonly [NaiveEnd, NaiveEnd],
  { hop, depth }: { readonly hop: PlainHop; readonly depth: number },
): readonly string[] => {
  const length = distances(graph, start, hop).get(nameOf(target));
  if (length === undefined || length > depth) return [];
  let paths: readonly (readonly NaiveEnd[])[] = [[start]];
  for (let hops = 0; hops < length; hops++)
    paths = paths.flatMap((path) => unique(edgesAt(graph, path.at(-1)!, hop).map(({ far }) => far)).map((far) => [...path, far]));
  return paths
    .filter((path) => nameOf(path.at(-1)!) === nameOf(target))
    .map((path) => path.map(nameOf).join(" "))
    .toSorted();
};
