import type { Catalog } from "../schema/catalog.ts";
import { defined } from "../util/invariant.ts";
import type { Condition } from "./condition.ts";
import type { KeptStep, ReadPlan } from "./physical-plan.ts";

/** Along one edge type or several, once or several times. */
export interface WalkHop {
  readonly kind: "hop";
  /** Of several edge types, those that have the attributes of `conditions`; edges of other types never pass. */
  readonly edges: readonly string[];
  readonly direction: "out" | "in" | "both";
  /** Node types on which the walk stands before and after. */
  readonly near: readonly string[];
  readonly far: readonly string[];
  /** The fields of the near node's id that are given, if not all of them: the start of `within`. */
  readonly anchor: readonly string[] | undefined;
  /** On the edges, and on the nodes to which they lead. */
  readonly conditions: readonly Condition[];
  readonly nodeConditions: readonly Condition[];
  /** The far node types that have the attributes of `nodeConditions`; nodes of other types never pass. */
  readonly passing: readonly string[];
  /** How many times: the far nodes of one round are the near nodes of the next. */
  readonly rounds: number;
  /** Whether the nodes of every round go on, or only those of the last. */
  readonly emit: "all" | "last";
  readonly ordered: boolean;
  readonly forward: boolean;
  readonly consistent: boolean;
  readonly index: string | undefined;
  /** Upper bound of the edges of each node, in order. */
  readonly limit: number | undefined;
  /** Whether whole edges are read, or only where they lead. */
  readonly reads: "edges" | "ends";
  /** Whether a hop counts the paths that lead to a node, or each node once. */
  readonly counts: "paths" | "nodes";
  /** Whether edges are listed, those to a few known nodes are read by their keys, or only counted, as their nodes keep it. */
  readonly by: "list" | "get" | "kept";
  /** Whether one Query may read edges of several types. */
  readonly joins?: boolean;
  /** If only the number of edges matters, or a sum over them: by node type, the derived attributes that hold it. */
  readonly kept?: Readonly<Record<string, KeptStep>>;
}

const UNFILTERED = {
  anchor: undefined,
  conditions: [],
  nodeConditions: [],
  rounds: 1,
  emit: "last",
  ordered: false,
  forward: true,
  consistent: false,
  index: undefined,
  limit: undefined,
  reads: "edges",
  counts: "paths",
  by: "list",
} as const;

/** A hop without conditions. */
export const plainHop = (
  catalog: Catalog,
  hop: { readonly edges: readonly string[]; readonly direction: WalkHop["direction"]; readonly near: readonly string[] },
): WalkHop => {
  const far = new Set<string>();
  for (const edge of hop.edges) {
    const { from, to } = defined(catalog.edges[edge], edge);
    if (hop.direction !== "in" && from.some((type) => hop.near.includes(type))) for (const type of to) far.add(type);
    if (hop.direction !== "out" && to.some((type) => hop.near.includes(type))) for (const type of from) far.add(type);
  }
  return { kind: "hop", ...hop, far: [...far], passing: [...far], ...UNFILTERED };
};

/** Upper bound of the rounds of a repeat. A closure has more, and ends when it finds nothing new. */
export const MAX_ROUNDS = 100;

export const isClosure = ({ rounds }: Pick<WalkHop, "rounds">): boolean => rounds > MAX_ROUNDS;

/** What stands between hops. `slot` is the place of a list of nodes in the walk's values. */
export type WalkFilter =
  /** `nodes` are the types that have the attributes of the conditions; nodes of other types never pass. */
  | { readonly kind: "filterNodes"; readonly nodes: readonly string[]; readonly conditions: readonly Condition[] }
  | { readonly kind: "dedupe" }
  /** Leaves out the nodes that the walk has been at. */
  | { readonly kind: "exceptPassed" }
  | { readonly kind: "except"; readonly slot: number }
  | { readonly kind: "keep"; readonly slot: number }
  | { readonly kind: "hydrate"; readonly nodes: readonly string[] };

/** The rows of a search: the nodes from which a walk starts. */
export interface WalkSearch {
  readonly kind: "search";
  readonly reading: ReadPlan;
  /** Upper bound of the rows. */
  readonly limit: number | undefined;
}

export type WalkStep = WalkHop | WalkFilter | WalkSearch;

/** Numeric attributes of nodes to sum up, by what is made of them. */
export interface FoldedAttributes {
  readonly sum: readonly string[];
  readonly min: readonly string[];
  readonly max: readonly string[];
  readonly average: readonly string[];
}

/** What is wanted of the nodes at which a walk ends. */
export type WalkCollect =
  | { readonly kind: "ids" | "count" | "paths" }
  /** The rows of the nodes, with some of their fields or all. */
  | { readonly kind: "nodes"; readonly select?: readonly string[] | undefined }
  /** `near` groups by the nodes from which the last hop goes out, otherwise by those to which it leads. */
  | { readonly kind: "groups"; readonly near: boolean }
  | { readonly kind: "fold"; readonly field: string; readonly by: "sum" | "min" | "max"; readonly near: boolean }
  /** Attributes of the nodes at the end, over all paths, for each combination of values of `by`. */
  | { readonly kind: "aggregate"; readonly by: readonly string[]; readonly folded: FoldedAttributes }
  /** Nodes and edges of each round, and the sum of an attribute over the edges. */
  | { readonly kind: "levels"; readonly field: string | undefined };

/** A walk in the words of the graph. Made by `query`, rewritten by the rules of `planner/walk`. */
export interface LogicalWalk {
  readonly kind: "walk";
  readonly node: string;
  readonly steps: readonly WalkStep[];
  readonly collect: WalkCollect;
  /** Node types on which it may end. */
  readonly ends: readonly string[];
}

/** How a node is read by its id. */
export type NodeAccess = "batchGet" | "query" | "none";

/** What is expected of a step. */
export interface Expected {
  /** Nodes from which it starts, and to which it leads. */
  readonly from: number;
  readonly to: number;
  readonly requests: number;
  readonly readUnits: number;
}

export interface PlannedHop extends WalkHop {
  /** How the edges of one node are read, for each type of node. */
  readonly reading: Readonly<Record<string, ReadPlan>>;
  /** The attribute that the walk gathers along these edges. */
  readonly gathers: string | undefined;
  readonly expect: Expected;
}

export type PlannedStep = PlannedHop | ((WalkFilter | WalkSearch) & { readonly expect: Expected });

/** How a walk runs, as `explain` shows it: a frontier at a time, each node of a frontier once. */
export interface WalkPlan {
  readonly kind: "walk";
  readonly node: string;
  readonly steps: readonly PlannedStep[];
  readonly collect: WalkCollect;
  readonly ends: readonly string[];
  /** How nodes are read, for each type that is read. */
  readonly nodes: Readonly<Record<string, NodeAccess>>;
  readonly expect: Expected;
  /** The assumptions behind the figures. */
  readonly assumptions: readonly string[];
}
