import type { NaiveEdge, NaiveEnd, NaiveGraph } from "../oracle/naive-graph.ts";
import { numberFields, type PlainFirst, type PlainHop, type PlainStep, type PlainWalk } from "./plain-walk.ts";

/** One way through the graph, step by step: every way is one of these, and none is ever merged. */
export interface Way {
  readonly nodes: readonly NaiveEnd[];
  /** The edges since the last dedupe, as far as they have a number. */
  readonly numbers: readonly { readonly edge: string; readonly value: number }[];
}

export const nameOf = ({ type, id }: NaiveEnd): string => `${type}/${id}`;
export const endOf = (way: Way): NaiveEnd => way.nodes.at(-1)!;

export const numberOf = (edge: NaiveEdge): number | undefined => edge.attributes[numberFields[edge.edge] ?? ""] as number | undefined;

const directionsOf = (hop: Pick<PlainHop, "edge" | "direction">): readonly ("out" | "in")[] =>
  hop.edge === "friend" ? ["out"] : hop.direction === "both" ? ["out", "in"] : [hop.direction];

/** An edge with where it leads. */
export interface Onward {
  readonly edge: NaiveEdge;
  readonly far: NaiveEnd;
}

/** Every edge at a node in one of the directions of a hop, whatever it asks of edges and nodes. */
const allEdgesAt = (
  graph: NaiveGraph,
  at: NaiveEnd,
  { ordered = [], ...hop }: Pick<PlainHop, "edge" | "direction" | "ordered">,
): readonly Onward[] =>
  directionsOf(hop).flatMap((direction) =>
    graph
      .neighbours(at, { edge: hop.edge, direction, ordered: ordered.includes(direction) })
      .map((edge) => ({ edge, far: hop.edge === "friend" || direction === "out" ? edge.to : edge.from })),
  );

const isAtLeast = (edge: NaiveEdge, atLeast: number | undefined): boolean =>
  atLeast === undefined || (numberOf(edge) ?? Number.NEGATIVE_INFINITY) >= atLeast;

const isOfAge = (graph: NaiveGraph, end: NaiveEnd, age: number): boolean =>
  ((graph.node(end)?.row["age"] as number | undefined) ?? -1) >= age;

/** Every edge at a node that a hop goes along. */
export const edgesAt = (graph: NaiveGraph, at: NaiveEnd, hop: PlainHop): readonly Onward[] =>
  allEdgesAt(graph, at, hop).filter(
    ({ edge, far }) => isAtLeast(edge, hop.atLeast) && (hop.age === undefined || isOfAge(graph, far, hop.age)),
  );

const along = (way: Way, { edge, far }: Onward): Way => {
  const value = numberOf(edge);
  const nodes = [...way.nodes, far];
  return { nodes, numbers: value === undefined ? way.numbers : [...way.numbers, { edge: edge.edge, value }] };
};

/** What a walk remembers while it is made. */
interface Walking {
  readonly graph: NaiveGraph;
  readonly starts: readonly NaiveEnd[];
  /** Every node that it went on from, with the most edges that a hop met there. */
  readonly left: Map<string, number>;
  /** Every node that it came to. */
  readonly stood: Set<string>;
  reads: number;
}

const distinct = (ways: readonly Way[]): readonly Way[] => [...new Map(ways.map((way) => [nameOf(endOf(way)), way])).values()];

const leave = (walking: Walking, ways: readonly Way[], hop: Pick<PlainHop, "edge" | "direction">): void => {
  const { graph, left, stood } = walking;
  walking.reads += distinct(ways).length * directionsOf(hop).length;
  for (const way of ways) {
    const name = nameOf(endOf(way));
    const edges = allEdgesAt(graph, endOf(way), hop);
    left.set(name, Math.max(left.get(name) ?? 0, edges.length));
    stood.add(name);
    for (const { far } of edges) stood.add(nameOf(far));
  }
};

const takeFirst = (walking: Walking, first: PlainFirst, from: NaiveEnd): readonly Way[] => {
  const start: Way = { nodes: [from], numbers: [] };
  leave(walking, [start], first);
  const edges = allEdgesAt(walking.graph, from, { ordered: ["out", "in"], ...first }).filter(({ edge }) => isAtLeast(edge, first.atLeast));
  return (first.reverse ? edges.toReversed() : edges).slice(0, first.limit).map((one) => along(start, one));
};

type HopStep = Extract<PlainStep, { kind: "hop" }>;

const repeat = (walking: Walking, ways: readonly Way[], step: HopStep): readonly Way[] => {
  let current = ways;
  const all: Way[] = [];
  for (let round = 0; round < step.rounds; round++) {
    leave(walking, current, step);
    current = current.flatMap((way) => edgesAt(walking.graph, endOf(way), step).map((one) => along(way, one)));
    all.push(...current);
  }
  return step.emit === "all" ? all : current;
};

/** Everything that can be reached, each node once: of a closure the ways are not told. */
const closure = (walking: Walking, ways: readonly Way[], step: HopStep): readonly Way[] => {
  const found: Way[] = [];
  leave(walking, ways, step);
  for (let current = distinct(ways); current.length > 0;) {
    const next = distinct(current.flatMap((way) => edgesAt(walking.graph, endOf(way), step).map((one) => along(way, one))));
    const known = new Set(found.map((way) => nameOf(endOf(way))));
    current = next.filter((way) => !known.has(nameOf(endOf(way))));
    found.push(...current);
    leave(walking, current, step);
  }
  return found.map(({ nodes }) => ({ nodes, numbers: [] }));
};

const take = (walking: Walking, ways: readonly Way[], step: PlainStep): readonly Way[] => {
  const without = (names: { has(name: string): boolean }): readonly Way[] => ways.filter((way) => !names.has(nameOf(endOf(way))));
  switch (step.kind) {
    case "hop":
      return step.rounds === Number.POSITIVE_INFINITY ? closure(walking, ways, step) : repeat(walking, ways, step);
    case "age":
      return ways.filter((way) => isOfAge(walking.graph, endOf(way), step.atLeast));
    case "dedupe":
      return distinct(ways).map(({ nodes }) => ({ nodes, numbers: [] }));
    case "among": {
      const names = new Set(step.nodes.map(nameOf));
      return ways.filter((way) => names.has(nameOf(endOf(way))));
    }
    case "except":
      if (step.which === "passed") return without(walking.left);
      return without(new Set((step.which === "start" ? walking.starts : step.which).map(nameOf)));
  }
};

/** Every way that a walk leads, with the nodes that it went on from and how many edges it met there. */
export interface NaiveWalk {
  readonly ways: readonly Way[];
  readonly left: ReadonlyMap<string, number>;
  /** Every node that it came to, also those that it did not keep. */
  readonly stood: ReadonlySet<string>;
  /** The most readings of one node's edges, in one direction, that it takes. */
  readonly reads: number;
}

/** Makes a walk by following every way. */
export const walkNaively = (graph: NaiveGraph, walk: PlainWalk): NaiveWalk => {
  const { first, within: starts = [{ type: "person", id: walk.start }] } = walk;
  const walking: Walking = { graph, starts, left: new Map(), stood: new Set(starts.map(nameOf)), reads: 0 };
  let ways: readonly Way[] = starts.flatMap((start) => (first ? takeFirst(walking, first, start) : [{ nodes: [start], numbers: [] }]));
  for (const step of walk.steps) ways = take(walking, ways, step);
  return { ways, left: walking.left, stood: walking.stood, reads: walking.reads };
};
