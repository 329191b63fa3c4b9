import type { LogicalWalk, WalkCollect, WalkHop, WalkStep } from "../ir/walk-plan.ts";
import type { Catalog } from "../schema/catalog.ts";
import { defined } from "../util/invariant.ts";
import type { Direction, NeighbourState } from "./reads.ts";

/** Everything that a chain of hops has said so far. */
export interface WalkState {
  readonly node: string;
  /** The start's id, or its leading levels. */
  readonly id: Readonly<Record<string, unknown>>;
  readonly anchor: readonly string[];
  readonly steps: readonly WalkStep[];
  readonly values: readonly unknown[];
  /** Node types that it stands on. */
  readonly at: readonly string[];
}

/** Node types that an edge leads to from any of the given ones. */
const farTypes = (
  catalog: Catalog,
  edge: string,
  at: { readonly direction: Direction; readonly near: readonly string[] },
): readonly string[] => {
  const { from, to } = defined(catalog.edges[edge], edge);
  const meets = (ends: readonly string[]): boolean => ends.some((type) => at.near.includes(type));
  const out = at.direction !== "in" && meets(from) ? to : [];
  const back = at.direction !== "out" && meets(to) ? from : [];
  return [...new Set([...out, ...back])];
};

const UNASKED = {
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
  counts: "ways",
  by: "list",
} as const;

/** A hop that nothing is asked of yet. */
export const plainHop = (
  catalog: Catalog,
  hop: { readonly edge: string; readonly direction: Direction; readonly near: readonly string[] },
): WalkHop => {
  const far = farTypes(catalog, hop.edge, hop);
  return { kind: "hop", ...hop, far, passing: far, ...UNASKED };
};

/** A query for neighbours as the first hop of a walk. Its order matters only where it chooses edges. */
export const walkFrom = (catalog: Catalog, state: NeighbourState): WalkState => {
  const { node, id, anchor, edge, direction, conditions, values, forward, consistent, index, limit } = state;
  const whole = anchor.length === defined(catalog.nodes[node], node).idFields.length;
  const hop: WalkHop = {
    ...plainHop(catalog, { edge, direction, near: [node] }),
    anchor: whole ? undefined : anchor,
    conditions,
    ordered: state.ordered && (limit !== undefined || !forward),
    forward,
    consistent,
    index,
    limit,
  };
  return { node, id, anchor, steps: [hop], values, at: hop.far };
};

// Without rules, the nodes of every hop are read, as one would read them by hand.
const withNodes = (steps: readonly WalkStep[]): readonly WalkStep[] =>
  steps.flatMap((step): readonly WalkStep[] => (step.kind === "hop" ? [step, { kind: "hydrate", nodes: step.far }] : [step]));

// What a round finds is told of each node and edge once, however many ways lead there.
const eachOnce = (steps: readonly WalkStep[]): readonly WalkStep[] =>
  steps.map((step) => (step.kind === "hop" ? { ...step, counts: "nodes" } : step));

const stepsFor = (steps: readonly WalkStep[], { kind }: WalkCollect): readonly WalkStep[] =>
  kind === "nodes" ? withNodes(steps) : kind === "levels" ? eachOnce(steps) : steps;

/** The logical plan of a chain, before any rule. */
export const walkPlan = (state: WalkState, collect: WalkCollect): LogicalWalk => ({
  kind: "walk",
  node: state.node,
  steps: stepsFor(state.steps, collect),
  collect,
  ends: state.at,
});

/** The form of a walk: two of the same form have the same plan, whatever their values. */
export const walkForm = (state: WalkState, collect: WalkCollect): string => JSON.stringify([state.node, state.steps, collect]);
