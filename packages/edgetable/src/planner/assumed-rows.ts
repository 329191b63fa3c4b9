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

/** Number of rows that a Query is assumed to find if the model does not say. Plans and their explanations use the same number. */
export const ASSUMED_ROWS = 10;

/** The assumed number of parts of a kind at a node. */
export const assumedParts = ({ definition }: Pick<PartEntry, "definition">): number => definition.expect?.perNode ?? ASSUMED_ROWS;

interface AssumedEdges {
  readonly rows: number;
  /** Which setting says so. */
  readonly by: "expect" | "limit" | undefined;
}

/** The assumed number of edges of a node at that end: as `expect` declares, but no more than the model allows. */
export const assumedEdges = (edge: Pick<AnyEdge, "expect" | "multiplicity" | "maxDegree">, end: "from" | "to"): AssumedEdges => {
  const declared = edge.expect?.[end];
  const limit = degreeLimit(edge, end);
  if (limit !== undefined && limit <= (declared ?? ASSUMED_ROWS)) return { rows: limit, by: "limit" };
  return { rows: declared ?? ASSUMED_ROWS, by: declared === undefined ? undefined : "expect" };
};

/** A range is assumed to find one third of the rows. */
export const RANGED_PART = 3;

/** The fields that the keys of a path are given, by their names in the path's shapes. */
export interface GivenFields {
  readonly known: readonly string[];
  readonly ranged: readonly string[];
}

const wholeIds = new WeakMap<Shape, { readonly catalog: Catalog; readonly paths: readonly string[] }>();

/** The number of rows that share all values fixed by the path's keys: one if these are a whole id. */
export const rowsPerValueOn = (
  catalog: Catalog,
  path: AccessPath,
  known: readonly string[],
): { readonly values: readonly number[]; readonly isOne: boolean } => {
  const shape = defined(path.shapes[0], "shape");
  const { rowsPerValue = {} }: ItemExpectation = definitionOf(catalog, shape)?.expect ?? {};
  const values: number[] = [];
  for (const field of known) if (takesField(path, field)) values.push(rowsPerValue[field] ?? ASSUMED_ROWS);
  // Every plan of edges needs the whole id several times, so it is kept.
  let whole = wholeIds.get(shape);
  if (whole?.catalog !== catalog)
    wholeIds.set(shape, (whole = { catalog, paths: idPaths(catalog, shape).map((id) => inShape(shape, id)) }));
  return { values, isOne: whole.paths.every((id) => path.fixes.has(id) || path.folds.has(id)) };
};

/**
 * The number of edges that a Query of a path is expected to find at a node with a given degree: one if the far end is known too; if
 * the keys fix an attribute, the edges that share its value; a third for a range.
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

// The assumed size of a key attribute with its name. Keys are not known when a call is planned.
const KEY_BYTES = 50;

/** The expected bytes that an index projects of a shape's item: the whole item, or its keys and a share of the rest. */
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

/** The maximum number of partitions that may contain the items of a path. */
export const partitionsOn = ({ partition, scatters, only }: Pick<AccessPath, "partition" | "scatters" | "only">): number =>
  only?.length ??
  (scatters ? partition.parts : []).reduce((product, part) => {
    if (part.kind !== "field" || part.format.kind !== "shard") return product;
    const { sharding } = part.format;
    return product * (scatters?.includes(part.path) ? mostShards(sharding) : sharding.counts.length);
  }, 1);
