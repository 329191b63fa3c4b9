import type { ShardCountAnswer, ShardsAnswer, WireShardGroup } from "@edgetable/studio";
import type { AnyGraph, Catalog, Transport } from "edgetable";
import { type ShardedKind, shardsOf } from "edgetable/check";
import { usageError } from "../failure.ts";
import { isRow } from "../output/json.ts";
import { sendPatiently } from "../send-patiently.ts";
import { decodeCursor, encodeCursor, indexOf, keyOf } from "./stored-items.ts";

/** Shards that are drawn. */
const SHOWN = 256;
/** Partitions that one request counts, and how many of them at a time. */
const COUNTED = 64;
const TOGETHER = 8;

/** True if no text that one kind's sort keys begin with begins another's. */
const areApart = (prefixes: readonly string[]): boolean =>
  prefixes.every((one, at) => one !== "" && prefixes.every((other, place) => place === at || !other.startsWith(one)));

/** Whether the table or an index spreads some kind over several shards. */
export const isSharded = (catalog: Catalog, index: string | undefined): boolean =>
  shardsOf(catalog, { index }).some(({ shards }) => shards > 1);

/**
 * The shards of an index, or those that differ from a partition in their shard alone. Kinds in the same shards are one group; where
 * their sort keys do not tell them apart, they are counted together. Sends no request.
 *
 * @throws {cli.usage} for an unknown index
 */
export const shardsAnswer = ({ catalog }: AnyGraph, index: string | undefined, partition: string | undefined): ShardsAnswer => {
  indexOf(catalog, index);
  const groups = new Map<string, ShardedKind[]>();
  for (const kind of shardsOf(catalog, { index, partition })) {
    const key = JSON.stringify(kind.partitions?.map(({ text }) => text) ?? kind.template);
    groups.set(key, [...(groups.get(key) ?? []), kind]);
  }
  return {
    groups: [...groups.values()].flatMap((kinds): readonly WireShardGroup[] => {
      const [first] = kinds;
      if (!first) return [];
      const apart = kinds.length > 1 && areApart(kinds.map(({ sortPrefix }) => sortPrefix));
      const { template, shards, partitions } = first;
      return [
        {
          kinds: kinds.map(({ kind, name, sortPrefix }) => ({ kind, name, sortPrefix: apart ? sortPrefix : "" })),
          template,
          count: partitions?.length ?? shards,
          ...(partitions && { shards: partitions.slice(0, SHOWN).map(({ text, shard }) => ({ shard, partition: text })) }),
        },
      ];
    }),
  };
};

interface Wanted {
  readonly partition: string;
  readonly sortPrefix: string;
  readonly cursor?: string;
}

const isWanted = (one: unknown): one is Wanted =>
  isRow(one) &&
  typeof one["partition"] === "string" &&
  typeof one["sortPrefix"] === "string" &&
  ["string", "undefined"].includes(typeof one["cursor"]);

/**
 * Counts the items of partitions: one Query with `Select: "COUNT"` for each, which reads a megabyte at most. It costs what reading
 * the items costs.
 *
 * @throws {cli.usage} for an unknown index, an invalid cursor, and more than 64 partitions
 */
export const countShards = async (
  { catalog }: AnyGraph,
  transport: Transport,
  body: unknown,
  signal: AbortSignal,
): Promise<ShardCountAnswer> => {
  const { index: name, of } = isRow(body) ? body : {};
  if (!Array.isArray(of) || of.length > COUNTED || !of.every(isWanted) || (name !== undefined && typeof name !== "string"))
    throw usageError(`The body must be { "index": …, "of": [{ "partition": …, "sortPrefix": … }] }, with at most ${COUNTED} partitions.`);
  const { name: IndexName, partitionKey, sortKey } = indexOf(catalog, name);
  const cost = { requests: 0, readUnits: 0 };
  const count = async ({ partition, sortPrefix, cursor }: Wanted): Promise<ShardCountAnswer["counts"][number]> => {
    const isWithin = sortPrefix !== "" && sortKey !== undefined;
    const { Count, LastEvaluatedKey, ConsumedCapacity } = await sendPatiently(
      transport,
      "Query",
      {
        TableName: catalog.table,
        ...(IndexName === undefined ? {} : { IndexName }),
        Select: "COUNT",
        KeyConditionExpression: isWithin ? "#p = :p AND begins_with(#s, :s)" : "#p = :p",
        ExpressionAttributeNames: { "#p": partitionKey, ...(isWithin ? { "#s": sortKey } : {}) },
        ExpressionAttributeValues: { ":p": keyOf(catalog, partitionKey, partition), ...(isWithin ? { ":s": { S: sortPrefix } } : {}) },
        ...(cursor === undefined ? {} : { ExclusiveStartKey: decodeCursor(cursor) }),
        ReturnConsumedCapacity: "TOTAL",
      },
      signal,
    );
    cost.requests++;
    cost.readUnits += ConsumedCapacity?.CapacityUnits ?? 0;
    return { items: Count ?? 0, ...(LastEvaluatedKey === undefined ? {} : { next: encodeCursor(LastEvaluatedKey) }) };
  };
  const counts: ShardCountAnswer["counts"][number][] = [];
  for (let at = 0; at < of.length; at += TOGETHER)
    counts.push(...(await Promise.all(of.slice(at, at + TOGETHER).map((one: Wanted) => count(one)))));
  return { counts, cost };
};
