import { degreeLimit } from "../schema/degree-limit.ts";
import type { AnyEdge } from "../schema/edge.ts";

/** Rows that a Query is assumed to find where the model says nothing of them: the same for plans and for the sentences about them. */
export const ASSUMED_ROWS = 10;

interface AssumedEdges {
  readonly rows: number;
  /** Which setting says so. */
  readonly by: "expect" | "limit" | undefined;
}

/** How many edges a node is assumed to have at that end: as `expect` declares, and no more than the model allows. */
export const assumedEdges = (edge: Pick<AnyEdge, "expect" | "multiplicity" | "maxDegree">, end: "from" | "to"): AssumedEdges => {
  const declared = edge.expect?.[end];
  const limit = degreeLimit(edge, end);
  if (limit !== undefined && limit <= (declared ?? ASSUMED_ROWS)) return { rows: limit, by: "limit" };
  return { rows: declared ?? ASSUMED_ROWS, by: declared === undefined ? undefined : "expect" };
};
