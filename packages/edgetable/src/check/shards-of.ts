import { renderPartitions } from "../keys/partitions.ts";
import { leadOf, mostShards, readTemplate, type Template } from "../keys/template.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Row } from "../util/row.ts";

/** One of the partitions over which items are spread. */
export interface ShardPartition {
  /** The partition key, as text. */
  readonly text: string;
  /** The shard's number, from 0. */
  readonly shard: number;
}

/** A kind of items whose partition key in the table or an index has a shard. */
export interface ShardedKind {
  readonly kind: "node" | "edge" | "part";
  /** The name of the node, edge or part in the model. */
  readonly name: string;
  /** The template of the partition key, such as `student#{studentId:shard(8)}`. */
  readonly template: string;
  /** How many shards its items are spread over: 1 or more. */
  readonly shards: number;
  /** The partitions by their shards, ascending. Undefined if they also depend on values, such as a country: name one partition. */
  readonly partitions: readonly ShardPartition[] | undefined;
  /** The text with which the sort key of each of its items begins; empty if a value comes first. */
  readonly sortPrefix: string;
}

/** The number of shards in the keys of a template; undefined for one without shards. */
const shardsIn = ({ parts }: Template): number | undefined => {
  const counts = parts.flatMap((part) => (part.kind === "field" && part.format.kind === "shard" ? [mostShards(part.format.sharding)] : []));
  return counts.length === 0 ? undefined : counts.reduce((product, count) => product * count, 1);
};

/** The values in a key, each in its place in the row; undefined if the template did not make the key. */
const rowIn = (template: Template, text: string): Row | undefined => {
  const values = readTemplate(template, text);
  if (!values) return undefined;
  const row: Record<string, unknown> = {};
  for (const part of template.parts) {
    if (part.kind === "literal" || !Object.hasOwn(values, part.path)) continue;
    let at = row;
    for (const step of part.steps.slice(0, -1)) at = (at[step] ??= {}) as Record<string, unknown>;
    at[part.steps.at(-1) ?? part.path] = values[part.path];
  }
  return row;
};

/**
 * The kinds of items that the table or an index spreads over shards, and the partitions of each: those that a reader queries, while
 * shards grow those of both counts. For tools that compare how full the shards are. Pure.
 *
 * @param graph the result of `defineGraph`, or its catalog
 * @param options.index the name of an index; omitted for the table itself
 * @param options.partition a partition key's text: only the kinds whose template made it, with the partitions that differ from it in
 *   their shard alone
 * @returns one for each node, edge or part and template, in the order of the model; none for an index that the model lacks
 * @example
 * shardsOf(education, { index: "byName" })[0]?.partitions; // [{ text: "student#0", shard: 0 }, { text: "student#1", shard: 1 }]
 */
export const shardsOf = (
  graph: Catalog | { readonly catalog: Catalog },
  { index: name, partition }: { readonly index?: string | undefined; readonly partition?: string | undefined } = {},
): readonly ShardedKind[] => {
  const catalog = "catalog" in graph ? graph.catalog : graph;
  const index = name === undefined ? catalog.index : catalog.indexes.find((one) => one.name === name);
  if (!index) return [];
  const found = new Map<string, ShardedKind>();
  for (const { kind, definition, keys } of catalog.shapes) {
    const templates = index.partitionKeys.flatMap((attribute) => keys[attribute] ?? []);
    const template = templates.find((one) => shardsIn(one));
    const shards = template && shardsIn(template);
    const row = partition === undefined ? {} : template && rowIn(template, partition);
    if (!template || !shards || !row) continue;
    // Beside other attributes, a shard alone is not a partition.
    const rendered = templates.length > 1 ? undefined : renderPartitions(template, row);
    const partitions = rendered?.map(({ text, shard }) => ({ text, shard }));
    const sortPrefix = leadOf(keys[index.sortKey ?? ""]);
    const { source } = template;
    found.set(JSON.stringify([definition, source, sortPrefix]), {
      kind,
      name: definition,
      template: source,
      shards,
      partitions,
      sortPrefix,
    });
  }
  return [...found.values()];
};
