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
export const ASSUMED_ROWS = 10;

/** How many parts of a kind a node is assumed to have. */
export const assumedParts = ({ definition }: Pick<PartEntry, "definition">): number => definition.expect?.perNode ?? ASSUMED_ROWS;

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

/** The part of what there is to range over that a range is assumed to find: a third. */
export const RANGED_PART = 3;

/** What the keys of a path are given: all of them are fields as the path's shapes name them. */
export interface GivenFields {
  readonly known: readonly string[];
  readonly ranged: readonly string[];
}

const wholeIds = new WeakMap<Shape, { readonly catalog: Catalog; readonly paths: readonly string[] }>();

/** The rows of a path's items that share all values that its keys fix: one where those are a whole id. */
export const rowsPerValueOn = (
  catalog: Catalog,
  path: AccessPath,
  known: readonly string[],
): { readonly values: readonly number[]; readonly isOne: boolean } => {
  const shape = defined(path.shapes[0], "shape");
  const { rowsPerValue = {} }: ItemExpectation = definitionOf(catalog, shape)?.expect ?? {};
  const values: number[] = [];
  for (const field of known) if (takesField(path, field)) values.push(rowsPerValue[field] ?? ASSUMED_ROWS);
  // Every plan of edges asks for the whole id several times.
  let whole = wholeIds.get(shape);
  if (whole?.catalog !== catalog)
    wholeIds.set(shape, (whole = { catalog, paths: idPaths(catalog, shape).map((id) => inShape(shape, id)) }));
  return { values, isOne: whole.paths.every((id) => path.fixes.has(id) || path.folds.has(id)) };
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
