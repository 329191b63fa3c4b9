import type { LogicalWalk, WalkCollect, WalkStep } from "../ir/walk-plan.ts";
import type { KeptStep, ReadPlan } from "../ir/physical-plan.ts";
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
