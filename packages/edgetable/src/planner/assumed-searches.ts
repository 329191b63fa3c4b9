import type { Condition } from "../ir/condition.ts";
import { type Catalog, definitionOf, type Shape } from "../schema/catalog.ts";
import type { ItemExpectation } from "../schema/definition.ts";
import { defined } from "../util/invariant.ts";
import { type AccessPath, rangesOver } from "./access-path.ts";
import { ASSUMED_ROWS, type GivenFields, RANGED_PART, rowsPerValueOn } from "./assumed-rows.ts";

/** Number of rows of a kind if the model does not say. */
const ASSUMED_ALL = 100;

/**
 * The number of items of a definition according to the model. The number of edges may follow from the edges at their sources or
 * targets.
 */
const totalOf = ({ nodes, edges, parts, ends }: Catalog, { kind, definition }: Shape): number | undefined => {
  if (kind !== "edge") return (kind === "node" ? nodes : parts)[definition]?.definition.expect?.count;
  const edge = edges[definition];
  const { expect } = edge?.definition ?? {};
  const at = (end: "from" | "to"): number | undefined => {
    const counts = (edge?.[end] ?? []).map((name) => ends[name]?.definition.expect?.count);
    return expect?.[end] !== undefined && counts.every((count) => count !== undefined)
      ? counts.reduce((sum, count) => sum + count, 0) * expect[end]
      : undefined;
  };
  return expect?.count ?? at("from") ?? at("to");
};

/** The number of rows that the keys of a search are expected to find on a path. */
export const searchRows = (catalog: Catalog, path: AccessPath, { known, ranged }: GivenFields): number => {
  const shape = defined(path.shapes[0], "shape");
  const { values, isOne } = rowsPerValueOn(catalog, path, known);
  if (isOne) return 1;
  const { rowsPerRange = {} }: ItemExpectation = definitionOf(catalog, shape)?.expect ?? {};
  const rows = Math.min(totalOf(catalog, shape) ?? Math.max(ASSUMED_ALL, ...values), ...values);
  const range = ranged.find((field) => rangesOver(path, field));
  return range === undefined ? rows : Math.min(rows, rowsPerRange[range] ?? Math.ceil(rows / RANGED_PART));
};

/**
 * The share of a shape's items, from 0 to 1, that is assumed to pass a filter: the rows that share a value for `eq`, a third for
 * any other comparison.
 */
export const passingPart = (catalog: Catalog, shape: Shape, { path, operator, of = [] }: Condition): number => {
  if (operator === "or" || operator === "not") {
    let some = 0;
    for (const conditions of of) some += conditions.reduce((part, one) => part * passingPart(catalog, shape, one), 1);
    return operator === "or" ? Math.min(1, some) : Math.max(0, 1 - some);
  }
  if (operator !== "eq") return 1 / RANGED_PART;
  const total = totalOf(catalog, shape) ?? ASSUMED_ALL;
  const { rowsPerValue = {} }: ItemExpectation = definitionOf(catalog, shape)?.expect ?? {};
  return Math.min(1, (rowsPerValue[path] ?? ASSUMED_ROWS) / total);
};
