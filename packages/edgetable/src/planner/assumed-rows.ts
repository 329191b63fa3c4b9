import type { Condition } from "../ir/condition.ts";
import { mostShards } from "../keys/template.ts";
import {
  definitionOf,
  type Catalog,
  type PartEntry,
  projectedAttributes,
  tableAndIndexKeys,
  idPaths,
  type Index,
  type Shape,
} from "../schema/catalog.ts";
import { attributesOf } from "../schema/facts.ts";
import { degreeLimit, type AnyEdge, type ItemExpectation } from "../schema/definition.ts";
import { defined } from "../util/invariant.ts";
import { inShape, rangesOver, takesField, type AccessPath } from "./access-path.ts";

/** Rows that a Query is assumed to find where the model says nothing of them: the same for plans and for the sentences about them. */
const ASSUMED_ROWS = 10;

/** How many parts of a kind a node is assumed to have. */
export const assumedParts = ({ definition }: Pick<PartEntry, "definition">): number => definition.expect?.perNode ?? ASSUMED_ROWS;

/** How many times as many edges a node has to which an edge led than one that is given. */
export const reachedFactor = (edge: Pick<AnyEdge, "expect" | "multiplicity" | "maxDegree">, end: "from" | "to"): number => {
  const reached = edge.expect?.reached?.[end];
  return reached === undefined ? 1 : Math.min(reached, degreeLimit(edge, end) ?? reached) / assumedEdges(edge, end).rows;
};

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

/**
 * True if the model says how many items of a shape are at one node.
 *
 * @param near the end of edges at which the node stands, as their keys say it
 */
export const isBounded = ({ edges, parts }: Catalog, { kind, definition, role }: Shape, near: "from" | "to"): boolean => {
  if (kind === "node") return true;
  if (kind === "part") return parts[definition]?.definition.expect?.perNode !== undefined;
  const end = role === "mirror" ? (near === "from" ? "to" : "from") : near;
  const edge = edges[definition]?.definition;
  return edge !== undefined && assumedEdges(edge, end).by !== undefined;
};

/** Rows that a listing of a kind is assumed to find where the model does not say how many there are. */
const ASSUMED_ALL = 100;

/** The part of what there is to range over that a range is assumed to find: a third. */
const RANGED_PART = 3;

/** How many items of a definition there are, as the model says; of edges, if need be, as many as leave its sources or reach its targets. */
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

/** What the keys of a path are given: all of them are fields as the path's shapes name them. */
export interface GivenFields {
  readonly known: readonly string[];
  readonly ranged: readonly string[];
}

const wholeIds = new WeakMap<Shape, { readonly catalog: Catalog; readonly paths: readonly string[] }>();

// Every plan of edges asks for it several times.
const wholeId = (catalog: Catalog, shape: Shape): readonly string[] => {
  const known = wholeIds.get(shape);
  if (known?.catalog === catalog) return known.paths;
  const paths = idPaths(catalog, shape).map((path) => inShape(shape, path));
  wholeIds.set(shape, { catalog, paths });
  return paths;
};

/** The rows of a path's items that share all values that its keys fix: one where those are a whole id. */
const rowsPerValueOn = (
  catalog: Catalog,
  path: AccessPath,
  known: readonly string[],
): { readonly values: readonly number[]; readonly isOne: boolean } => {
  const shape = defined(path.shapes[0], "shape");
  const { rowsPerValue = {} }: ItemExpectation = definitionOf(catalog, shape)?.expect ?? {};
  const values: number[] = [];
  for (const field of known) if (takesField(path, field)) values.push(rowsPerValue[field] ?? ASSUMED_ROWS);
  return { values, isOne: wholeId(catalog, shape).every((id) => path.fixes.has(id) || path.folds.has(id)) };
};

/** How many rows a search's keys are expected to find on a path. */
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
 * How many edges a Query of a path is expected to find at a node of a degree: one if the far end is known too; of an
 * attribute that the path's keys fix, as many as share its value; of a range, a third.
 */
export const edgeRows = (
  catalog: Catalog,
  path: AccessPath,
  { degree, known, ranged }: GivenFields & { readonly degree: number },
): number => {
  const { values, isOne } = rowsPerValueOn(catalog, path, known);
  if (isOne) return 1;
  const rows = Math.min(degree, ...values);
  return ranged.some((field) => rangesOver(path, field)) ? Math.ceil(rows / RANGED_PART) : rows;
};

/** The part of a shape's items that is assumed to pass a filter: as many as share a value, a third of any other comparison. */
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

// A key attribute with its name; no key is known before its values are.
const KEY_BYTES = 50;

/** The bytes of a shape's item that an index is expected to project: all, or its keys and a share of the rest. */
export const projectedBytes = (catalog: Catalog, index: Index, shape: Shape): number => {
  const projected = projectedAttributes(catalog, index);
  const { bytes } = shape;
  if (!projected) return bytes;
  const keys = tableAndIndexKeys(catalog, index).length;
  const definition = definitionOf(catalog, shape);
  const all = definition ? (attributesOf(definition)?.length ?? 0) : 0;
  const share = all === 0 ? 0 : Math.min(1, (projected.size - keys) / all);
  return Math.min(bytes, Math.ceil(keys * KEY_BYTES + share * bytes));
};

/** In how many partitions the items of a path may lie, at most. */
export const partitionsOn = ({ partition, scatters, only }: Pick<AccessPath, "partition" | "scatters" | "only">): number =>
  only?.length ??
  (scatters ? partition.parts : []).reduce((product, part) => {
    if (part.kind !== "field" || part.format.kind !== "shard") return product;
    const { sharding } = part.format;
    return product * (scatters?.includes(part.path) ? mostShards(sharding) : sharding.counts.length);
  }, 1);
