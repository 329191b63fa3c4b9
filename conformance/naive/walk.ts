import { nameOf, type NaiveEdge, type NaiveEnd, type NaiveGraph, type Row } from "./graph.ts";

/** Along an edge type, or several in turn, with conditions on the edge and on the node behind it. */
export interface NaiveHop {
  readonly edges: readonly string[];
  readonly direction: "out" | "in" | "both";
  readonly keepsEdge?: ((edge: NaiveEdge) => boolean) | undefined;
  readonly keepsNode?: ((row: Row | undefined) => boolean) | undefined;
  /** The directions in which a node's edges come in their declared order; in the others by where they lead. */
  readonly ordered?: readonly ("out" | "in")[] | undefined;
}

/** A step of a walk. A hop of infinitely many rounds is a closure. */
export type NaiveStep =
  | ({ readonly kind: "hop"; readonly rounds: number; readonly emit: "all" | "last" } & NaiveHop)
  | { readonly kind: "filter"; readonly keepsNode: (row: Row | undefined) => boolean }
  | { readonly kind: "dedupe" }
  | { readonly kind: "except"; readonly which: "start" | "passed" | readonly NaiveEnd[] }
  | { readonly kind: "among"; readonly nodes: readonly NaiveEnd[] };

export interface NaivePlan {
  readonly starts: readonly NaiveEnd[];
  /** The first hop, if it selects edges by their order. */
  readonly first?: (NaiveHop & { readonly reverse: boolean; readonly limit: number | undefined }) | undefined;
  readonly steps: readonly NaiveStep[];
}

/** One path through the graph. Paths are never merged. */
export interface NaivePath {
  readonly nodes: readonly NaiveEnd[];
  /** The edges since the last dedupe. */
  readonly edges: readonly NaiveEdge[];
}

export interface NaiveWalk {
  readonly paths: readonly NaivePath[];
  /** Every node that the walk left, with the most edges that a hop met there. */
  readonly left: ReadonlyMap<string, number>;
  /** Every node that it came to, also those that it did not keep. */
  readonly stood: ReadonlySet<string>;
  /** How often the edges of one node are read in one direction, at most. */
  readonly reads: number;
}

/** An edge with the node to which it leads. */
export interface Onward {
  readonly edge: NaiveEdge;
  readonly far: NaiveEnd;
}

export const endOf = (path: NaivePath): NaiveEnd => path.nodes.at(-1)!;

interface Way {
  readonly edge: string;
  readonly direction: "out" | "in";
}

/** The edge types of a hop, each in its directions. */
const waysOf = ({ types }: NaiveGraph, { edges, direction }: NaiveHop): readonly Way[] =>
  edges.flatMap((edge): readonly Way[] => {
    if (types[edge]?.symmetric) return [{ edge, direction: "out" }];
    return (direction === "both" ? (["out", "in"] as const) : [direction]).map((one) => ({ edge, direction: one }));
  });

/** Every edge at a node in the directions of a hop, whatever its conditions. */
const allEdgesAt = (graph: NaiveGraph, at: NaiveEnd, hop: NaiveHop): readonly Onward[] => {
  const { ordered = [] } = hop;
  const found: Onward[] = [];
  for (const { edge, direction } of waysOf(graph, hop))
    for (const one of graph.neighbours(at, { edge, direction, ordered: ordered.includes(direction) }))
      found.push({ edge: one, far: direction === "out" ? one.to : one.from });
  return found;
};

/** Every edge at a node that a hop follows. */
export const edgesAt = (graph: NaiveGraph, at: NaiveEnd, hop: NaiveHop): readonly Onward[] => {
  const { keepsEdge = () => true, keepsNode = () => true } = hop;
  return allEdgesAt(graph, at, hop).filter(({ edge, far }) => keepsEdge(edge) && keepsNode(graph.node(far)?.row));
};

const along = ({ nodes, edges }: NaivePath, { edge, far }: Onward): NaivePath => ({ nodes: [...nodes, far], edges: [...edges, edge] });

const distinct = (paths: readonly NaivePath[]): readonly NaivePath[] => [
  ...new Map(paths.map((path) => [nameOf(endOf(path)), path])).values(),
];

const unique = (ends: readonly NaiveEnd[]): readonly NaiveEnd[] => [...new Map(ends.map((end) => [nameOf(end), end])).values()];

/** Makes a walk by following every path. */
export const walkNaively = (graph: NaiveGraph, { starts, first, steps }: NaivePlan): NaiveWalk => {
  const left = new Map<string, number>();
  const stood = new Set(starts.map(nameOf));
  let reads = 0;

  const leave = (paths: readonly NaivePath[], hop: NaiveHop): void => {
    reads += distinct(paths).length * waysOf(graph, hop).length;
    for (const path of paths) {
      const name = nameOf(endOf(path));
      const edges = allEdgesAt(graph, endOf(path), hop);
      left.set(name, Math.max(left.get(name) ?? 0, edges.length));
      stood.add(name);
      for (const { far } of edges) stood.add(nameOf(far));
    }
  };

  const follow = (paths: readonly NaivePath[], hop: NaiveHop): readonly NaivePath[] => {
    leave(paths, hop);
    return paths.flatMap((path) => edgesAt(graph, endOf(path), hop).map((one) => along(path, one)));
  };

  const begin = (start: NaiveEnd): readonly NaivePath[] => {
    const path: NaivePath = { nodes: [start], edges: [] };
    if (!first) return [path];
    const edges = follow([path], { ordered: ["out", "in"], ...first });
    return (first.reverse ? edges.toReversed() : edges).slice(0, first.limit);
  };

  const repeat = (paths: readonly NaivePath[], hop: Extract<NaiveStep, { kind: "hop" }>): readonly NaivePath[] => {
    const all: NaivePath[] = [];
    let current = paths;
    for (let round = 0; round < hop.rounds; round++) {
      current = follow(current, hop);
      all.push(...current);
    }
    return hop.emit === "all" ? all : current;
  };

  // Each node once: the paths of a closure are not told.
  const close = (paths: readonly NaivePath[], hop: NaiveHop): readonly NaivePath[] => {
    const found = new Map<string, NaivePath>();
    for (let current = distinct(paths); current.length > 0;) {
      current = distinct(follow(current, hop)).filter((path) => !found.has(nameOf(endOf(path))));
      for (const path of current) found.set(nameOf(endOf(path)), { ...path, edges: [] });
    }
    return [...found.values()];
  };

  const take = (paths: readonly NaivePath[], step: NaiveStep): readonly NaivePath[] => {
    switch (step.kind) {
      case "hop":
        return step.rounds === Number.POSITIVE_INFINITY ? close(paths, step) : repeat(paths, step);
      case "filter":
        return paths.filter((path) => step.keepsNode(graph.node(endOf(path))?.row));
      case "dedupe":
        return distinct(paths).map(({ nodes }) => ({ nodes, edges: [] }));
      case "among": {
        const names = new Set(step.nodes.map(nameOf));
        return paths.filter((path) => names.has(nameOf(endOf(path))));
      }
      case "except": {
        const { which } = step;
        const names = which === "passed" ? left : new Set((which === "start" ? starts : which).map(nameOf));
        return paths.filter((path) => !names.has(nameOf(endOf(path))));
      }
    }
  };

  let paths = starts.flatMap(begin);
  for (const step of steps) paths = [...take(paths, step)];
  return { paths, left, stood, reads };
};

/** The paths of a walk by the node at which they end. */
export const byEnd = (paths: readonly NaivePath[]): ReadonlyMap<string, readonly NaivePath[]> => {
  const groups = new Map<string, NaivePath[]>();
  for (const path of paths) {
    const name = nameOf(endOf(path));
    groups.set(name, [...(groups.get(name) ?? []), path]);
  }
  return groups;
};

/** The sum, minimum or maximum of numbers; undefined if there is none. */
export const fold = (by: "sum" | "min" | "max", numbers: readonly number[]): number | undefined => {
  if (numbers.length === 0) return undefined;
  return by === "sum" ? numbers.reduce((sum, one) => sum + one, 0) : Math[by](...numbers);
};

/** The numbers that an attribute has on edges. */
export const numbersOn = (edges: readonly NaiveEdge[], field: string): readonly number[] =>
  edges.flatMap(({ attributes }) => (attributes[field] === undefined ? [] : [attributes[field] as number]));

export interface NaiveRank {
  readonly name: string;
  readonly count: number;
  readonly value: number | undefined;
}

/** Nodes by their own edges: how many, or with `sums` the sum of an attribute. Nodes without edges are left out. */
export const rank = (
  graph: NaiveGraph,
  nodes: readonly NaiveEnd[],
  { hop, sums }: { readonly hop: NaiveHop; readonly sums: string | undefined },
): readonly NaiveRank[] =>
  unique(nodes).flatMap((end) => {
    const edges = edgesAt(graph, end, hop).map(({ edge }) => edge);
    const value = sums === undefined ? edges.length : fold("sum", numbersOn(edges, sums));
    return edges.length === 0 ? [] : [{ name: nameOf(end), count: edges.length, value }];
  });

export interface NaiveLevel {
  readonly level: number;
  readonly nodes: number;
  readonly edges: number;
  readonly sum?: number;
}

/** What each round finds, if every node is read in the first round that stands on it. The start of a walk is not below itself. */
export const levels = (
  graph: NaiveGraph,
  starts: readonly NaiveEnd[],
  {
    hop,
    depth,
    sums,
    isFirst,
  }: {
    readonly hop: NaiveHop;
    readonly depth: number;
    readonly sums: string | undefined;
    /** True if no hop comes before. */
    readonly isFirst: boolean;
  },
): readonly NaiveLevel[] => {
  const rounds: NaiveLevel[] = [];
  const found = new Set(isFirst ? starts.map(nameOf) : []);
  const read = new Set<string>();
  let frontier = unique(starts);
  for (let level = 1; level <= depth && frontier.length > 0; level++) {
    for (const end of frontier) read.add(nameOf(end));
    const met = frontier.flatMap((end) => edgesAt(graph, end, hop));
    const ends = unique(met.map(({ far }) => far));
    const fresh = ends.filter((end) => !found.has(nameOf(end)));
    for (const end of fresh) found.add(nameOf(end));
    const edges = met.map(({ edge }) => edge);
    const sum = sums === undefined ? {} : { sum: fold("sum", numbersOn(edges, sums)) ?? 0 };
    if (edges.length > 0) rounds.push({ level, nodes: fresh.length, edges: edges.length, ...sum });
    frontier = ends.filter((end) => !read.has(nameOf(end)));
  }
  return rounds;
};

/** The neighbours that all of some nodes have. */
export const common = (graph: NaiveGraph, nodes: readonly NaiveEnd[], hop: NaiveHop): readonly string[] => {
  const lists = nodes.map((end) => new Set(edgesAt(graph, end, hop).map(({ far }) => nameOf(far))));
  return [...(lists[0] ?? [])].filter((name) => lists.every((list) => list.has(name))).toSorted();
};

type Ends = readonly [start: NaiveEnd, target: NaiveEnd];

/** All paths between two nodes that visit no node twice, of at most `depth` hops; none from a node to itself. */
export const simplePaths = (
  graph: NaiveGraph,
  [start, target]: Ends,
  { hop, depth }: { readonly hop: NaiveHop; readonly depth: number },
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

/** All paths of the least number of hops between two nodes, which may be the same node. */
export const shortest = (
  graph: NaiveGraph,
  [start, target]: Ends,
  { hop, depth }: { readonly hop: NaiveHop; readonly depth: number },
): readonly string[] => {
  const farOf = (at: NaiveEnd): readonly NaiveEnd[] => unique(edgesAt(graph, at, hop).map(({ far }) => far));
  const known = new Set<string>();
  let length = 1;
  for (let frontier = farOf(start); ; length++) {
    if (frontier.length === 0 || length > depth) return [];
    for (const end of frontier) known.add(nameOf(end));
    if (known.has(nameOf(target))) break;
    frontier = unique(frontier.flatMap(farOf)).filter((end) => !known.has(nameOf(end)));
  }
  let paths: readonly (readonly NaiveEnd[])[] = [[start]];
  for (let hops = 0; hops < length; hops++) paths = paths.flatMap((path) => farOf(path.at(-1)!).map((far) => [...path, far]));
  const complete = paths.filter((path) => nameOf(path.at(-1)!) === nameOf(target));
  return complete.map((path) => path.map(nameOf).join(" ")).toSorted();
};
