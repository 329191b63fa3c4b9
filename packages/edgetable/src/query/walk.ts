import type { LogicalWalk, WalkCollect, WalkHop, WalkStep } from "../ir/walk-plan.ts";
import type { KeptStep, ReadPlan } from "../ir/physical-plan.ts";
import type { Catalog } from "../schema/catalog.ts";
import { defined } from "../util/invariant.ts";
import type { Direction, NeighbourState } from "./reads.ts";
import { searchForm, type SearchState } from "./search.ts";

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

/** The attributes that hold the number of a last hop's edges, by the type of the node where they are. */
export type KeptByType = Readonly<Record<string, KeptStep>>;

/**
 * The logical plan of a chain, before any rule.
 *
 * @param how what may stand for counting the edges of the last hop, and how the search at the start is read
 */
export const walkPlan = (
  state: WalkState,
  collect: WalkCollect,
  { kept, search }: { readonly kept?: KeptByType | undefined; readonly search?: ReadPlan | undefined } = {},
): LogicalWalk => {
  const steps: WalkStep[] = search ? [{ kind: "search", reading: search, limit: state.search?.limit }] : [];
  const last = state.steps.at(-1);
  for (const step of state.steps) {
    // A level counts each node and edge once, however many paths lead to it.
    if (step.kind === "hop" && collect.kind === "levels") steps.push({ ...step, counts: "nodes" });
    else if (kept && step === last && step.kind === "hop") steps.push({ ...step, kept });
    else steps.push(step);
    // Without rules, the nodes of every hop are read, as one would read them by hand.
    if (step.kind === "hop" && collect.kind === "nodes") steps.push({ kind: "hydrate", nodes: step.far });
  }
  return { kind: "walk", node: state.node, steps, collect, ends: state.at };
};

/** The form of a walk. Walks of the same form have the same plan, whatever their values. */
export const walkForm = ({ node, steps, search }: WalkState, collect: WalkCollect): string =>
  JSON.stringify(search ? [node, steps, collect, searchForm(search, "rows"), search.limit] : [node, steps, collect]);
