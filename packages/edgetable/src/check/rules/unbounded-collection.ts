import { PAGE_BYTES } from "../../ir/capacity.ts";
import type { EdgeEntry, Shape } from "../../schema/catalog.ts";
import { degreeLimit } from "../../schema/definition.ts";
import { CONCERNS, type Advice, type AdviceRule } from "../advice.ts";

type End = "from" | "to";

const isBounded = ({ definition }: EdgeEntry, end: End): boolean => degreeLimit(definition, end) !== undefined;

const adviceOn = (entry: EdgeEntry, end: End, shape: Shape): Advice => {
  const node = shape[end] ?? "";
  const bytes = (entry.definition.expect?.[end] ?? 0) * shape.bytes;
  const many = bytes > PAGE_BYTES;
  const size = many ? ` By its expectations that is ${Math.ceil(bytes / PAGE_BYTES)} requests of 1 MB.` : "";
  return {
    rule: "unboundedCollection",
    concern: CONCERNS.budgets,
    definition: entry.name,
    severity: many ? "warning" : "note",
    message: `collection() of "${node}" reads every "${entry.name}" of it, and nothing bounds how many there are.${size}`,
    mend: `Say maxDegree: { ${end}: … }, or read them by ${end === "from" || entry.definition.symmetric ? "out" : "in"}("${entry.name}").page().`,
  };
};

const adviceOnEdge = (entry: EdgeEntry): readonly Advice[] => {
  if (entry.definition.stored === "reference") return [];
  const symmetric = entry.definition.symmetric === true && isBounded(entry, "to");
  const [own] = entry.shapes;
  const [mirror] = entry.mirrors;
  return [
    ...(own && !symmetric && !isBounded(entry, "from") ? [adviceOn(entry, "from", own)] : []),
    ...(mirror && !isBounded(entry, "to") ? [adviceOn(entry, "to", mirror)] : []),
  ];
};

/** Edges in a node's own partition that are without number: `collection()` reads them all. */
export const unboundedCollection: AdviceRule = (catalog) => Object.values(catalog.edges).flatMap(adviceOnEdge);
