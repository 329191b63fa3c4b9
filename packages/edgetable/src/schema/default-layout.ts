import { mapValues } from "../util/row.ts";
import type { AnyEdge, AnyNode, AnyPart, GraphDefinition } from "./definition.ts";
import { attributesOf } from "./facts.ts";
import { countList, fullEntry, type EdgeLayout, type IndexLayout, type ItemLayout, type Layout, type ShardingLayout } from "./layout.ts";

/** Sort key of a node's own item: before everything else in its partition. */
const OWN_ITEM = "#";

// The attribute "type" of an item is Edgetable's. An attribute that a model calls so is stored under this name.
const TYPE = "type";
const OWN_TYPE = "$type";

const withOwnType = <Item extends ItemLayout>(definition: AnyNode | AnyEdge | AnyPart, item: Item): Item => {
  const { key = [] } = definition;
  const isInKey = typeof key === "string" ? /[{]type[:}]/.test(key) : key.includes(TYPE);
  return !isInKey && attributesOf(definition)?.includes(TYPE) ? { ...item, attributes: { [TYPE]: OWN_TYPE } } : item;
};

/** The attributes of an edge's key as template fields: they distinguish parallel edges. */
const edgeKey = ({ key = [], dates = [] }: AnyEdge): string =>
  key.map((field) => `#{${field}:${dates.includes(field) ? "date" : "number|boolean|text"}}`).join("");

const edgeLayout = (name: string, edge: AnyEdge): EdgeLayout => {
  const order = edge.orderBy ? `{${edge.orderBy}}#` : "";
  const key = edgeKey(edge);
  const reverseKeys = { gsi1pk: "{to}", gsi1sk: `${name}#${order}{from}${key}` };
  if (edge.stored === "reference") return withOwnType(edge, { keys: reverseKeys });
  // The table's sort key names the target, so that one edge is one point read. The order is in the indexes.
  const keys = {
    sk: `${name}#{to}${key}`,
    ...(edge.orderBy ? { gsi2pk: "{from}", gsi2sk: `${name}#${order}{to}${key}` } : {}),
  };
  if (edge.symmetric) return withOwnType(edge, { keys });
  if (edge.stored !== "twice") return withOwnType(edge, { keys: { ...keys, ...reverseKeys } });
  const mirrorKeys = {
    sk: `~${name}#{from}${key}`,
    ...(edge.orderBy ? { gsi2pk: "{to}", gsi2sk: `~${name}#${order}{from}${key}` } : {}),
  };
  return { ...withOwnType(edge, { keys }), mirror: withOwnType(edge, { type: `~${name}`, keys: mirrorKeys }) };
};

/** The words by which the templates of nodes, edges and parts name keys. */
interface KeyWords {
  readonly group: "nodes" | "edges" | "parts";
  /** The id that the shard is taken from. */
  readonly id: "key" | "from" | "owner";
  /** The item's own key, which makes a sort key unique. */
  readonly identity: string;
}

const keyWords = (definition: GraphDefinition, name: string): KeyWords | undefined => {
  if (Object.hasOwn(definition.nodes, name)) return { group: "nodes", id: "key", identity: "{key}" };
  const edge = definition.edges?.[name];
  if (edge) return { group: "edges", id: "from", identity: `{from}#{to}${edgeKey(edge)}` };
  return definition.parts?.[name] && { group: "parts", id: "owner", identity: "{owner}#{key}" };
};

/** Adds the indexes that a model declares to Edgetable's own layout, as templates. */
const withValueIndexes = (definition: GraphDefinition, layout: Layout): Layout => {
  if (Object.keys(definition.indexes ?? {}).length === 0) return layout;
  const items = { nodes: { ...layout.nodes }, edges: { ...layout.edges }, parts: { ...layout.parts } };
  const indexes: Record<string, IndexLayout> = { ...layout.indexes };
  const shardings: Record<string, ShardingLayout> = {};
  for (const [index, declared] of Object.entries(definition.indexes ?? {})) {
    // The attributes follow from the index's name, so that indexes can come and go independently.
    const [partitionKey, sortKey] = [`${index}Pk`, `${index}Sk`];
    indexes[index] = { partitionKey, sortKey, ...(declared.projection === undefined ? {} : { projection: declared.projection }) };
    for (const [name, given] of Object.entries(declared.entries)) {
      const words = keyWords(definition, name);
      if (!words) continue;
      const { levels, split, sparse: isDeclared, shards } = fullEntry(declared, given);
      const { derived = {} } = definition.nodes[name] ?? definition.edges?.[name] ?? {};
      // What was written before the model had the attribute lacks it until a migration computes it.
      const sparse = isDeclared || levels.some((level) => Object.hasOwn(derived, level.split(":")[0] ?? ""));
      const { count, per, hot } = shards;
      const sharding = `${index}.${name}`;
      if (per !== undefined) shardings[sharding] = { count, per, ...(hot ? { hot } : {}) };
      const shard = `{${shards.by ?? words.id}:shard(${per === undefined ? countList(count).join("|") : sharding})}`;
      // An attribute that is called as a macro is named with its format.
      const isMacro = (level: string): boolean =>
        (level === "key" && words.group !== "edges") || (level === "owner" && words.group === "parts");
      const fields = levels.map((level) => (isMacro(level) ? `{${level}:text}` : `{${level}}`));
      const item: ItemLayout | undefined = items[words.group][name];
      items[words.group][name] = {
        ...item,
        keys: {
          ...item?.keys,
          [partitionKey]: [name, ...fields.slice(0, split), shard].join("#"),
          [sortKey]: [...fields.slice(split), words.identity].join("#"),
        },
        sparse: [...(item?.sparse ?? []), ...(sparse ? [partitionKey, sortKey] : [])],
      };
    }
  }
  return { ...layout, ...items, shards: shardings, indexes };
};

/**
 * The layout of a new table. An edge is one item in its source's partition; the index `reverse` finds it from its target, and
 * the index `ordered` gives a source's edges in order. Indexes that the model declares are added.
 */
export const defaultLayout = (definition: GraphDefinition): Layout => {
  const edges = definition.edges ?? {};
  const anyOrdered = Object.values(edges).some((edge) => edge.orderBy !== undefined && edge.stored !== "reference");
  return withValueIndexes(definition, {
    partitionKey: "pk",
    sortKey: "sk",
    typeAttribute: TYPE,
    indexes: {
      reverse: { partitionKey: "gsi1pk", sortKey: "gsi1sk" },
      ...(anyOrdered ? { ordered: { partitionKey: "gsi2pk", sortKey: "gsi2sk" } } : {}),
    },
    nodes: mapValues(definition.nodes, (node) =>
      withOwnType(node, { keys: { sk: OWN_ITEM, ...(node.mirror ? { gsi1pk: "{key}", gsi1sk: OWN_ITEM } : {}) } }),
    ),
    parts: mapValues(definition.parts ?? {}, (part) => withOwnType(part, { keys: { sk: "{key}" } })),
    edges: mapValues(edges, (edge, name) => edgeLayout(name, edge)),
  });
};
