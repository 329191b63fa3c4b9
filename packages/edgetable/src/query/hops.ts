import type { WalkHop, WalkStep } from "../ir/walk-plan.ts";
import type { Catalog } from "../schema/catalog.ts";
import { defined } from "../util/invariant.ts";
import type { Direction, NeighbourState } from "./reads.ts";
import type { SearchState } from "./search.ts";

/** What a chain of hops has said so far. */
export interface WalkState {
  readonly node: string;
  /** The start's id, or its leading levels. */
  readonly id: Readonly<Record<string, unknown>>;
  readonly anchor: readonly string[];
  readonly steps: readonly WalkStep[];
  readonly values: readonly unknown[];
  /** Node types on which it stands. */
  readonly at: readonly string[];
  /** The search at whose rows it starts, instead of at a node. */
  readonly search?: SearchState;
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
  hop: { readonly edges: readonly string[]; readonly direction: Direction; readonly near: readonly string[] },
): WalkHop => {
  const far = new Set<string>();
  for (const edge of hop.edges) {
    const { from, to } = defined(catalog.edges[edge], edge);
    if (hop.direction !== "in" && from.some((type) => hop.near.includes(type))) for (const type of to) far.add(type);
    if (hop.direction !== "out" && to.some((type) => hop.near.includes(type))) for (const type of from) far.add(type);
  }
  return { kind: "hop", ...hop, far: [...far], passing: [...far], ...UNFILTERED };
};

/** A query for neighbours as the first hop of a walk. Its order matters only if it selects edges. */
export const walkFrom = (catalog: Catalog, state: NeighbourState): WalkState => {
  const { node, id, anchor, edge, direction, conditions, values, forward, consistent, index, limit } = state;
  const whole = anchor.length === defined(catalog.ends[node], node).idFields.length;
  const hop: WalkHop = {
    ...plainHop(catalog, { edges: [edge], direction, near: [node] }),
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
