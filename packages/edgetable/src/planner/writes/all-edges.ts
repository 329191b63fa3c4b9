import { isEdgetableError } from "../../errors/edgetable-error.ts";
import type { LogicalPlan } from "../../ir/logical-plan.ts";
import type { EndId } from "../../ir/logical-write.ts";
import type { ReadPlan } from "../../ir/physical-plan.ts";
import type { Catalog } from "../../schema/catalog.ts";
import { defined } from "../../util/invariant.ts";
import { planRead } from "../plan.ts";

/** Which edges of a node. */
export interface EdgesOf {
  readonly node: string;
  readonly edge: string;
  readonly direction: "out" | "in";
  readonly consistent: boolean;
}

/** The read of all edges of a type at a node, in any order. */
export const allEdges = (catalog: Catalog, { node, edge, direction, consistent }: EdgesOf): LogicalPlan & { readonly kind: "expand" } => ({
  kind: "expand",
  node,
  edge,
  direction,
  anchor: defined(catalog.nodes[node], "node").idFields,
  known: [],
  range: [],
  filter: [],
  ordered: false,
  forward: true,
  consistent,
  index: undefined,
  select: undefined,
});

/** A plan that reads strongly consistent, or, where only an index finds what it reads, eventually. */
export const consistentWherePossible = (plan: (consistent: boolean) => ReadPlan): ReadPlan => {
  try {
    return plan(true);
  } catch (error) {
    if (isEdgetableError(error, "plan.notConsistent")) return plan(false);
    throw error;
  }
};

/** The read that counts the edges of a type at a node; undefined where nothing finds them from there. */
export const planCount = (
  catalog: Catalog,
  { node, edge, direction }: { readonly node: EndId; readonly edge: string; readonly direction: "out" | "in" },
): ReadPlan | undefined => {
  const input = (consistent: boolean) => allEdges(catalog, { node: node.type, edge, direction, consistent });
  try {
    return consistentWherePossible((consistent) => planRead(catalog, { kind: "count", server: true, input: input(consistent) }));
  } catch (error) {
    if (isEdgetableError(error, "plan.noIndex")) return undefined;
    throw error;
  }
};
