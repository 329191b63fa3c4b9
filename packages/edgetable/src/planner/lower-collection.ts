import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Collection } from "../ir/logical-plan.ts";
import type { QueryStep } from "../ir/physical-plan.ts";
import { templatesOverlap } from "../keys/template.ts";
import { type Catalog, type Index, keyAttributes, type Shape } from "../schema/catalog.ts";
import { defined } from "../util/invariant.ts";
import { gapsOf } from "./access-path.ts";
import { assumedEdges, assumedParts } from "./assumed-rows.ts";
import { checkOwnPartition } from "./choose-path.ts";

/** The index that contains a node's item under the node's own key, next to its incoming edges. */
const mirroringIndex = (catalog: Catalog, { node, index }: Collection): Index => {
  const { shape, definition } = defined(catalog.nodes[node], "node");
  for (const one of catalog.indexes) {
    if ((index !== undefined && one.name !== index) || one.partitionKeys.length > 1) continue;
    // Some of the requested items lack conditional and sparse keys.
    const keyed = keyAttributes(one);
    if (catalog.shapes.some(({ keys }) => keyed.some((attribute) => keys[attribute]?.when))) continue;
    const leads = index === undefined ? catalog.shapes.filter(({ kind, to }) => kind === "edge" && to === node) : [];
    if (leads.some((edge) => keyed.some((attribute) => gapsOf(catalog, edge, attribute, new Set()).length > 0))) continue;
    if (shape.keys[one.partitionKey]?.source === definition.key) return one;
  }
  throw new EdgetableError(
    "plan.noIndex",
    `"${node}" has no item in ${index === undefined ? "any index" : `the index "${index}"`} under its own key. Declare mirror: true, or read its edges by in().`,
    { details: { node, index } },
  );
};

/** Predicts the items of some shapes in a node's partition: the node itself, its parts and its edges. */
export const expectedItems = (
  catalog: Catalog,
  { node, direction }: Pick<Collection, "node" | "direction">,
  shapes: readonly Shape[],
): QueryStep["expect"] => {
  let [rows, bytes] = [0, 0];
  for (const shape of shapes) {
    let each = shape.definition === node ? 1 : 0;
    const edge = catalog.edges[shape.definition]?.definition;
    if (shape.kind === "part") each = assumedParts(defined(catalog.parts[shape.definition], "part"));
    else if (shape.kind === "edge" && edge)
      each = assumedEdges(edge, (direction === "out") === (shape.role === "mirror") ? "to" : "from").rows;
    rows += each;
    bytes += each * shape.bytes;
  }
  return { rows, bytes: rows === 0 ? 0 : bytes / rows };
};

/** One Query for a node and everything in its partition of the table, or of the index that mirrors it. */
export const lowerCollection = (catalog: Catalog, collection: Collection): QueryStep => {
  const { node, direction, consistent } = collection;
  const { shape, idFields, partition: own } = defined(catalog.ends[node], "node");
  if (direction === "out") checkOwnPartition(catalog, shape, idFields);
  const { partitionKey, sortKey, sortKeys, ...index } = direction === "out" ? catalog.index : mirroringIndex(catalog, collection);
  const partition = direction === "out" ? own : defined(shape.keys[partitionKey], "partition key");
  const shapes = catalog.shapes.filter(({ keys }) => {
    const template = keys[partitionKey];
    return template !== undefined && sortKeys.every((attribute) => attribute in keys) && templatesOverlap(template, partition);
  });
  return {
    kind: "query",
    index: index.name,
    partitionKey,
    partition,
    sortKey,
    sort: undefined,
    known: [],
    filter: [],
    forward: true,
    consistent,
    shapes: shapes.map(({ id }) => id),
    discards: true,
    select: undefined,
    counts: false,
    expect: expectedItems(catalog, collection, shapes),
  };
};
