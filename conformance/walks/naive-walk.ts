import type { NaiveEdge, NaiveEnd, NaiveGraph } from "../oracle/naive-graph.ts";

/** A hop in plain words. */
export interface PlainHop {
  readonly edge: string;
  readonly direction: "out" | "in" | "both";
  /** Keeps edges whose number is at least this. */
  readonly atLeast: number | undefined;
  /** Keeps nodes of at least this age. */
  readonly age: number | undefined;
}

export type PlainStep =
  | ({ readonly kind: "hop"; readonly rounds: number; readonly emit: "all" | "last" } & PlainHop)
  | { readonly kind: "age"; readonly atLeast: number }
  | { readonly kind: "dedupe" }
  | { readonly kind: "except"; readonly which: "start" | "passed" | readonly NaiveEnd[] }
  | { readonly kind: "among"; readonly nodes: readonly NaiveEnd[] };

/** One way through the graph, step by step: every way is one of these, and none is ever merged. */
export interface Way {
  readonly nodes: readonly NaiveEnd[];
  /** Numbers on the edges since the last dedupe. */
  readonly numbers: readonly number[];
}

export const nameOf = ({ type, id }: NaiveEnd): string => `${type}/${id}`;
export const endOf = (way: Way): NaiveEnd => way.nodes.at(-1)!;

const numberFields: Readonly<Record<string, string>> = { follows: "weight", likes: "rank", worksOn: "hours" };

const numberOf = (edge: NaiveEdge): number | undefined => edge.attributes[numberFields[edge.edge] ?? ""] as number | undefined;

const directionsOf = (hop: PlainHop): readonly ("out" | "in")[] =>
  hop.edge === "friend" ? ["out"] : hop.direction === "both" ? ["out", "in"] : [hop.direction];

/** Every edge at a node, with where it leads. */
const edgesAt = (graph: NaiveGraph, at: NaiveEnd, hop: PlainHop): readonly { readonly edge: NaiveEdge; readonly far: NaiveEnd }[] =>
  directionsOf(hop)
    .flatMap((direction) =>
      graph
        .neighbours(at, { edge: hop.edge, direction, ordered: false })
        .map((edge) => ({ edge, far: hop.edge === "friend" || direction === "out" ? edge.to : edge.from })),
    )
    .filter(({ edge, far }) => {
      if (hop.atLeast !== undefined && !((numberOf(edge) ?? Number.NEGATIVE_INFINITY) >= hop.atLeast)) return false;
      return hop.age === undefined || isOfAge(graph, far, hop.age);
    });

const isOfAge = (graph: NaiveGraph, end: NaiveEnd, age: number): boolean =>
  ((graph.node(end)?.row["age"] as number | undefined) ?? -1) >= age;

const hopOn = (graph: NaiveGraph, ways: readonly Way[], hop: PlainHop): readonly Way[] =>
  ways.flatMap((way) =>
    edgesAt(graph, endOf(way), hop).map(({ edge, far }) => {
      const number = numberOf(edge);
      return { nodes: [...way.nodes, far], numbers: number === undefined ? way.numbers : [...way.numbers, number] };
    }),
  );

const repeat = (graph: NaiveGraph, ways: readonly Way[], step: Extract<PlainStep, { kind: "hop" }>): readonly Way[] => {
  let current = ways;
  const all: Way[] = [];
  for (let round = 0; round < step.rounds; round++) {
    current = hopOn(graph, current, step);
    all.push(...current);
  }
  return step.emit === "all" ? all : current;
};

const distinct = (ways: readonly Way[]): readonly Way[] => {
  const seen = new Set<string>();
  return ways.filter((way) => {
    const name = nameOf(endOf(way));
    if (seen.has(name)) return false;
    seen.add(name);
    return true;
  });
};

/** Every way that a walk leads. */
export const waysOf = (graph: NaiveGraph, start: NaiveEnd, steps: readonly PlainStep[]): readonly Way[] => {
  let ways: readonly Way[] = [{ nodes: [start], numbers: [] }];
  for (const step of steps) {
    switch (step.kind) {
      case "hop":
        ways = repeat(graph, ways, step);
        break;
      case "age":
        ways = ways.filter((way) => isOfAge(graph, endOf(way), step.atLeast));
        break;
      case "dedupe":
        ways = distinct(ways).map(({ nodes }) => ({ nodes, numbers: [] }));
        break;
      case "among": {
        const names = new Set(step.nodes.map(nameOf));
        ways = ways.filter((way) => names.has(nameOf(endOf(way))));
        break;
      }
      case "except": {
        const names = new Set((step.which === "start" ? [start] : step.which === "passed" ? [] : step.which).map(nameOf));
        ways = ways.filter((way) => !names.has(nameOf(endOf(way))));
      }
    }
  }
  return ways;
};

/** The distances from a node along one hop. */
const distances = (graph: NaiveGraph, start: NaiveEnd, hop: PlainHop): ReadonlyMap<string, number> => {
  const known = new Map([[nameOf(start), 0]]);
  let frontier: readonly NaiveEnd[] = [start];
  for (let distance = 1; frontier.length > 0; distance++) {
    const next: NaiveEnd[] = [];
    for (const { far } of frontier.flatMap((at) => edgesAt(graph, at, hop))) {
      if (known.has(nameOf(far))) continue;
      known.set(nameOf(far), distance);
      next.push(far);
    }
    frontier = next;
  }
  return known;
};

/** All simple paths between two nodes, by their names. */
export const simplePaths = (graph: NaiveGraph, ends: readonly [NaiveEnd, NaiveEnd], hop: PlainHop): readonly string[] => {
  const [start, target] = ends;
  const found = new Set<string>();
  const go = (path: readonly NaiveEnd[]): void => {
    for (const { far } of edgesAt(graph, path.at(-1)!, hop)) {
      if (path.some((one) => nameOf(one) === nameOf(far))) continue;
      const longer = [...path, far];
      if (nameOf(far) === nameOf(target)) found.add(longer.map(nameOf).join(" "));
      else go(longer);
    }
  };
  go([start]);
  return [...found].toSorted();
};

/** The shortest of them. */
export const shortest = (graph: NaiveGraph, ends: readonly [NaiveEnd, NaiveEnd], hop: PlainHop): readonly string[] => {
  const length = distances(graph, ends[0], hop).get(nameOf(ends[1]));
  return simplePaths(graph, ends, hop).filter((path) => path.split(" ").length - 1 === length);
};
