import type { Condition } from "./condition.ts";
import type { ReadPlan } from "./physical-plan.ts";

export type HopDirection = "out" | "in" | "both";

/** Along one edge type, once or several times. */
export interface WalkHop {
  readonly kind: "hop";
  readonly edge: string;
  readonly direction: HopDirection;
  /** Node types that the walk stands on before and after. */
  readonly near: readonly string[];
  readonly far: readonly string[];
  /** Fields of the near node's id that are given, where they are not all of them: the start of `within`. */
  readonly anchor: readonly string[] | undefined;
  /** On the edges, and on the nodes that they lead to. */
  readonly conditions: readonly Condition[];
  readonly nodeConditions: readonly Condition[];
  /** Of the far node types those that have what `nodeConditions` ask for; nodes of others never pass. */
  readonly passing: readonly string[];
  /** How many times: the far nodes of one round are the near nodes of the next. */
  readonly rounds: number;
  /** Whether the nodes of every round go on, or those of the last alone. */
  readonly emit: "all" | "last";
  readonly ordered: boolean;
  readonly forward: boolean;
  readonly consistent: boolean;
  readonly index: string | undefined;
  /** The most edges of each node, in order. */
  readonly limit: number | undefined;
  /** Whether all of an edge is read, or only where it leads. */
  readonly reads: "edges" | "ends";
  /** Whether it matters in how many ways a node is reached. */
  readonly counts: "ways" | "nodes";
  /** Whether edges are listed, or those to a few known nodes asked for one by one. */
  readonly by: "list" | "get";
}

/** The most rounds of a repeat; a closure has more, and ends where nothing new is found. */
export const MOST_ROUNDS = 100;

export const isClosure = ({ rounds }: Pick<WalkHop, "rounds">): boolean => rounds > MOST_ROUNDS;

/** What stands between hops. `slot` says where in the walk's values a list of nodes is. */
export type WalkFilter =
  /** `nodes` are the types that have what the conditions ask for; nodes of others never pass. */
  | { readonly kind: "filterNodes"; readonly nodes: readonly string[]; readonly conditions: readonly Condition[] }
  | { readonly kind: "dedupe" }
  /** Leaves out where the walk has been. */
  | { readonly kind: "exceptPassed" }
  | { readonly kind: "except"; readonly slot: number }
  | { readonly kind: "keep"; readonly slot: number }
  | { readonly kind: "hydrate"; readonly nodes: readonly string[] };

export type WalkStep = WalkHop | WalkFilter;

/** What is wanted of the nodes where a walk ends. */
export type WalkCollect =
  | { readonly kind: "ids" | "nodes" | "count" | "paths" }
  /** `near` groups by the nodes from which the last hop goes out, else by those to which it leads. */
  | { readonly kind: "groups"; readonly near: boolean }
  | { readonly kind: "fold"; readonly field: string; readonly by: "sum" | "min" | "max"; readonly near: boolean }
  /** Nodes and edges of each round, and the sum of an attribute over the edges. */
  | { readonly kind: "levels"; readonly field: string | undefined };

/** The attribute that a walk gathers along its edges. */
export const foldedField = (collect: WalkCollect): string | undefined =>
  collect.kind === "fold" || collect.kind === "levels" ? collect.field : undefined;

/** A walk in words of the graph. Made by `query`, rewritten by the rules of `planner/walk`. */
export interface LogicalWalk {
  readonly kind: "walk";
  readonly node: string;
  readonly steps: readonly WalkStep[];
  readonly collect: WalkCollect;
  /** Node types that it may end on. */
  readonly ends: readonly string[];
}

/** Whether a walk gives each node once, so that how many ways lead to it is nobody's business. */
export const givesEachOnce = ({ collect }: Pick<LogicalWalk, "collect">): boolean => collect.kind === "ids" || collect.kind === "nodes";

/** How a node is read by its id. */
export type NodeAccess = "batchGet" | "query" | "none";

/** What is expected of a step. */
export interface Expected {
  /** Nodes that it starts from, and that it leads to. */
  readonly from: number;
  readonly to: number;
  readonly requests: number;
  readonly readUnits: number;
}

export interface PlannedHop extends WalkHop {
  /** How the edges of one node are read, for each type of node. */
  readonly reading: Readonly<Record<string, ReadPlan>>;
  readonly expect: Expected;
}

export type PlannedStep = PlannedHop | (WalkFilter & { readonly expect: Expected });

/** How a walk is done: what `explain` shows is what runs, layer by layer, each node of a layer once. */
export interface WalkPlan {
  readonly kind: "walk";
  readonly node: string;
  readonly steps: readonly PlannedStep[];
  readonly collect: WalkCollect;
  readonly ends: readonly string[];
  /** How nodes are read, for each type that is. */
  readonly nodes: Readonly<Record<string, NodeAccess>>;
  readonly expect: Expected;
  /** What the figures rest on. */
  readonly assumptions: readonly string[];
}
