import type { LogicalWalk, WalkHop } from "../../../ir/walk-plan.ts";
import type { Catalog } from "../../../schema/catalog.ts";

/** A rewriting of a walk that never changes its answer, only what it costs. */
export interface WalkRule {
  readonly name: string;
  rewrite(catalog: Catalog, walk: LogicalWalk): LogicalWalk;
}

/** The same walk with its hops rewritten. */
export const mapHops = (walk: LogicalWalk, change: (hop: WalkHop, at: number) => WalkHop): LogicalWalk => ({
  ...walk,
  steps: walk.steps.map((step, at) => (step.kind === "hop" ? change(step, at) : step)),
});
