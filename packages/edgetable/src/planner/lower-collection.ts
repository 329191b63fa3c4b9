import { EdgetableError } from "../errors/edgetable-error.ts";
import { templatesOverlap } from "../keys/template.ts";
import type { Collection } from "../ir/logical-plan.ts";
import type { QueryStep } from "../ir/physical-plan.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Index, Shape } from "../schema/shape.ts";
import { defined } from "../util/invariant.ts";
import { checkOwnPartition } from "./own-partition.ts";
import { assumedEdges, assumedParts } from "./assumed-rows.ts";

const mirrored = (catalog: Catalog, collection: Collection): Index => {
  const { shape, definition } = defined(catalog.nodes[collection.node], "node");
  const candidates = catalog.indexes.filter((index) => collection.index === undefined || index.name === collection.index);
  const found = candidates.find((index) => shape.keys[index.partitionKey]?.source === definition.key);
  if (found) return found;
  throw new EdgetableError(
    "plan.noIndex",
    `"${collection.node}" has no item in ${collection.index === undefined ? "any index" : `the index "${collection.index}"`} under its own key. Declare mirror: true, or read its edges by in().`,
    { details: { node: collection.node, index: collection.index } },
  );
};

// The node itself, its parts and its edges.
const expectedOf = (catalog: Catalog, { node, direction }: Collection, shapes: readonly Shape[]): QueryStep["expect"] => {
  const end = direction === "out" ? "from" : "to";
  const each = shapes.map((shape) => {
    if (shape.kind === "part") return { rows: assumedParts(defined(catalog.parts[shape.definition], "part")), bytes: shape.bytes };
    const edge = catalog.edges[shape.definition]?.definition;
    const isNode = shape.kind === "node" || !edge;
    const near = shape.role === "mirror" ? (end === "from" ? "to" : "from") : end;
    return { rows: isNode ? (shape.definition === node ? 1 : 0) : assumedEdges(edge, near).rows, bytes: shape.bytes };
  });
  const rows = each.reduce((sum, one) => sum + one.rows, 0);
  const bytes = each.reduce((sum, one) => sum + one.rows * one.bytes, 0);
  return { rows, bytes: rows === 0 ? 0 : bytes / rows };
};

/** One Query for a node and all that shares its partition, of the table or of the index that mirrors it. */
export const lowerCollection = (catalog: Catalog, collection: Collection): QueryStep => {
  const node = defined(catalog.nodes[collection.node], "node");
  if (collection.direction === "out") checkOwnPartition(catalog, node.name, node.idFields);
  const index = collection.direction === "out" ? catalog.index : mirrored(catalog, collection);
  const partition = defined(node.shape.keys[index.partitionKey], "partition key");
  const shapes = catalog.shapes.filter((shape: Shape) => {
    const template = shape.keys[index.partitionKey];
    return (
      template !== undefined &&
      (index.sortKey === undefined || shape.keys[index.sortKey] !== undefined) &&
      templatesOverlap(template, partition)
    );
  });
  return {
    kind: "query",
    index: index.name,
    partitionKey: index.partitionKey,
    partition,
    sortKey: index.sortKey,
    sort: undefined,
    known: [],
    filter: [],
    forward: true,
    consistent: collection.consistent,
    shapes: shapes.map((shape) => shape.id),
    discards: true,
    select: undefined,
    counts: false,
    expect: expectedOf(catalog, collection, shapes),
  };
};
