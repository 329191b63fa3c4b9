import type { AnyEdge } from "./edge.ts";
import type { GraphDefinition } from "./definition.ts";
import type { EdgeLayout, IndexLayout, ItemLayout, Layout } from "./layout.ts";
import type { AnyNode } from "./node.ts";
import { mapValues } from "../util/row.ts";
import { edgeKey, withValueIndexes } from "./value-layout.ts";

/** Sort key of a node's own item: before everything else in its partition. */
const OWN_ITEM = "#";

const reverse: IndexLayout = { partitionKey: "gsi1pk", sortKey: "gsi1sk" };
const ordered: IndexLayout = { partitionKey: "gsi2pk", sortKey: "gsi2sk" };

const orderPart = (edge: AnyEdge): string => (edge.orderBy ? `{${edge.orderBy}}#` : "");

// The table's sort key names the target, so that one edge is one point read; order lives in the indexes.
const ownKeys = (name: string, edge: AnyEdge): Record<string, string> => ({
  sk: `${name}#{to}${edgeKey(edge)}`,
  ...(edge.orderBy ? { gsi2pk: "{from}", gsi2sk: `${name}#${orderPart(edge)}{to}${edgeKey(edge)}` } : {}),
});

const reverseKeys = (name: string, edge: AnyEdge): Record<string, string> => ({
  gsi1pk: "{to}",
  gsi1sk: `${name}#${orderPart(edge)}{from}${edgeKey(edge)}`,
});

const mirrorKeys = (name: string, edge: AnyEdge): Record<string, string> => ({
  sk: `~${name}#{from}${edgeKey(edge)}`,
  ...(edge.orderBy ? { gsi2pk: "{to}", gsi2sk: `~${name}#${orderPart(edge)}{from}${edgeKey(edge)}` } : {}),
});

const edgeLayout = (name: string, edge: AnyEdge): EdgeLayout => {
  if (edge.stored === "reference") return { keys: reverseKeys(name, edge) };
  if (edge.symmetric) return { keys: ownKeys(name, edge) };
  if (edge.stored === "twice") return { keys: ownKeys(name, edge), mirror: { type: `~${name}`, keys: mirrorKeys(name, edge) } };
  return { keys: { ...ownKeys(name, edge), ...reverseKeys(name, edge) } };
};

const nodeLayout = (node: AnyNode): ItemLayout => ({
  keys: { sk: OWN_ITEM, ...(node.mirror ? { gsi1pk: "{key}", gsi1sk: OWN_ITEM } : {}) },
});

/**
 * The layout of a new table. An edge is one item in its source's partition, found from its target by
 * the index `reverse`; where edges are ordered, `ordered` gives a source's edges in that order. Indexes
 * that the model declares come beside them.
 */
export const defaultLayout = (definition: GraphDefinition): Layout => {
  const edges = definition.edges ?? {};
  const anyOrdered = Object.values(edges).some((edge) => edge.orderBy !== undefined && edge.stored !== "reference");
  return withValueIndexes(definition, {
    partitionKey: "pk",
    sortKey: "sk",
    typeAttribute: "type",
    indexes: { reverse, ...(anyOrdered ? { ordered } : {}) },
    nodes: mapValues(definition.nodes, (node) => nodeLayout(node)),
    parts: mapValues(definition.parts ?? {}, (part) => ({ keys: { sk: part.key } })),
    edges: mapValues(edges, (edge, name) => edgeLayout(name, edge)),
  });
};
