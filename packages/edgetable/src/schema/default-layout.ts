import { mapValues } from "../util/row.ts";
import type { GraphDefinition, AnyEdge, AnyNode } from "./definition.ts";
import {
  type EdgeLayout,
  type IndexLayout,
  type ItemLayout,
  type Layout,
  type ShardingLayout,
  countList,
  fullEntry,
  type FullEntry,
  type ValueIndex,
} from "./layout.ts";

/** The attributes of an index that the model declares. They follow from its name, so that others can come and go. */
const valueAttributes = (index: string): { readonly partitionKey: string; readonly sortKey: string } => ({
  partitionKey: `${index}Pk`,
  sortKey: `${index}Sk`,
});

/** What the templates of one kind of definition call its key. */
interface Kind {
  /** Whose id the shard is taken from. */
  readonly id: "key" | "from" | "owner";
  /** What makes a sort key unique: the item's own key. */
  readonly identity: string;
}

interface Place {
  readonly index: string;
  readonly name: string;
  readonly entry: FullEntry;
  readonly kind: Kind;
}

const shardingName = ({ index, name }: Place): string => `${index}.${name}`;

const shardText = (place: Place): string => {
  const { count, per } = place.entry.shards;
  return `shard(${per === undefined ? countList(count).join("|") : shardingName(place)})`;
};

const braced = (levels: readonly string[]): readonly string[] => levels.map((level) => `{${level}}`);

const itemOf = (place: Place): Required<Pick<ItemLayout, "keys" | "sparse">> => {
  const { index, name, entry, kind } = place;
  const { levels, split, shards } = entry;
  const { partitionKey, sortKey } = valueAttributes(index);
  const shard = `{${shards.by ?? kind.id}:${shardText(place)}}`;
  return {
    keys: {
      [partitionKey]: [name, ...braced(levels.slice(0, split)), shard].join("#"),
      [sortKey]: [...braced(levels.slice(split)), kind.identity].join("#"),
    },
    sparse: entry.sparse ? [partitionKey, sortKey] : [],
  };
};

const merged = (item: EdgeLayout | undefined, more: Required<Pick<ItemLayout, "keys" | "sparse">>): EdgeLayout => ({
  ...item,
  keys: { ...item?.keys, ...more.keys },
  sparse: [...(item?.sparse ?? []), ...more.sparse],
});

const indexLayout = (name: string, index: ValueIndex): IndexLayout => ({
  ...valueAttributes(name),
  ...(index.projection === undefined ? {} : { projection: index.projection }),
});

/** What the keys of an edge's items hold beside its ends: the attributes that tell parallel edges apart. */
const edgeKey = ({ key = [], dates = [] }: AnyEdge): string =>
  key.map((field) => `#{${field}:${dates.includes(field) ? "date" : "number|boolean|text"}}`).join("");

interface Parts {
  readonly nodes: Record<string, ItemLayout>;
  readonly edges: Record<string, EdgeLayout>;
  readonly parts: Record<string, ItemLayout>;
  readonly shards: Record<string, ShardingLayout>;
}

const kindOf = (definition: GraphDefinition, name: string): readonly [keyof Omit<Parts, "shards">, Kind] | undefined => {
  if (Object.hasOwn(definition.nodes, name)) return ["nodes", { id: "key", identity: "{key}" }];
  const edge = definition.edges?.[name];
  if (edge) return ["edges", { id: "from", identity: `{from}#{to}${edgeKey(edge)}` }];
  return definition.parts?.[name] ? ["parts", { id: "owner", identity: "{owner}#{key}" }] : undefined;
};

/** Adds the indexes that a model declares to Edgetable's own layout, as templates like any other. */
const withValueIndexes = (definition: GraphDefinition, layout: Layout): Layout => {
  const indexes = Object.entries(definition.indexes ?? {});
  if (indexes.length === 0) return layout;
  const parts: Parts = { nodes: { ...layout.nodes }, edges: { ...layout.edges }, parts: { ...layout.parts }, shards: {} };
  for (const [index, declared] of indexes) {
    for (const [name, given] of Object.entries(declared.entries)) {
      const [group, kind] = kindOf(definition, name) ?? [];
      if (!group || !kind) continue;
      const place: Place = { index, name, entry: fullEntry(declared, given), kind };
      parts[group][name] = merged(parts[group][name], itemOf(place));
      const { count, per, hot } = place.entry.shards;
      if (per !== undefined) parts.shards[shardingName(place)] = { count, per, ...(hot ? { hot } : {}) };
    }
  }
  const named = Object.fromEntries(indexes.map(([name, index]) => [name, indexLayout(name, index)]));
  return { ...layout, ...parts, indexes: { ...layout.indexes, ...named } };
};

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
