import type { AnyEdge } from "./edge.ts";

type End = "from" | "to";

/** Whether an edge type's multiplicity allows a node at that end one edge alone. */
export const isSingle = ({ multiplicity }: Pick<AnyEdge, "multiplicity">, end: End): boolean =>
  multiplicity === "one-to-one" || multiplicity === (end === "from" ? "many-to-one" : "one-to-many");

/** The most edges of a type at a node at that end, as its multiplicity and maxDegree say; undefined: no limit. */
export const degreeLimit = (edge: Pick<AnyEdge, "multiplicity" | "maxDegree">, end: End): number | undefined =>
  isSingle(edge, end) ? 1 : edge.maxDegree?.[end];
