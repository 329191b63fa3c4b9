import type { Row } from "../util/row.ts";
import { allCounts, encodeStrictly, countsOf, type Growth, growthOf } from "./render-template.ts";
import type { FieldPart, Sharding, Template } from "./key-template.ts";
import { encodeShard, fieldValue } from "./value-text.ts";

/**
 * The shards that a reader queries, ascending: those of one value if it is known, else all.
 *
 * @returns undefined if the value has no shard
 */
const readShards = (part: FieldPart, sharding: Sharding, row: Row): readonly string[] | undefined => {
  const value = fieldValue(row, part.steps);
  const isOpen = sharding.per !== undefined && fieldValue(row, sharding.per.steps) === undefined;
  const counts = isOpen ? allCounts(sharding) : countsOf(sharding, row);
  if (value === undefined) return Array.from({ length: Math.max(...counts) }, (_, shard) => String(shard));
  const shards = counts.map((count) => encodeShard(value, count));
  if (!shards.every((shard) => typeof shard === "string")) return undefined;
  return [...new Set(shards)].toSorted((a, b) => Number(a) - Number(b));
};

/**
 * The turn in which a reader queries a shard, from 0. A shard's turn is after those of all shards from which items move to it, so a
 * reader cannot miss an item that moves to the writers' shard.
 */
export const turnOf = (growth: Growth | undefined, shard: number): number => {
  if (!growth) return 0;
  const band = growth.counts.filter((count) => shard >= count).length;
  const above = growth.counts.length - 1 - growth.writers;
  return band > growth.writers ? growth.counts.length - 1 - band : above + band;
};

/** One of the partition keys that the items of one value may have. */
export interface Partition {
  readonly text: string;
  /** The shard's number; 0 if the template has no shard. */
  readonly shard: number;
  /** While shards grow, items only move within a family, to partitions of later turns. */
  readonly family: number;
  readonly turn: number;
}

/**
 * Every partition key that rows with these values may have: one if the template has no shard or the sharded value is known, else
 * one for each shard. Undefined if another field is unknown.
 *
 * @throws the errors of {@link renderTemplate}, for the known fields
 */
export const renderPartitions = (template: Template, row: Row): readonly Partition[] | undefined => {
  const growth = growthOf(template);
  const smallest = growth?.counts[0];
  let found: readonly { readonly text: string; readonly shard: number }[] = [{ text: "", shard: 0 }];
  for (const part of template.parts) {
    if (part.kind === "field" && part.format.kind === "shard") {
      const value = fieldValue(row, part.steps);
      // Throws for an empty or invalid value, as in a key.
      if (value !== undefined) encodeStrictly(template, part, value);
      const shards = readShards(part, part.format.sharding, row) ?? [];
      found = found.flatMap(({ text }) => shards.map((shard) => ({ text: text + shard, shard: Number(shard) })));
      continue;
    }
    const value = part.kind === "literal" ? undefined : fieldValue(row, part.steps);
    if (part.kind === "field" && value === undefined) return undefined;
    const more = part.kind === "literal" ? part.text : encodeStrictly(template, part, value);
    found = found.map(({ text, shard }) => ({ text: text + more, shard }));
  }
  return found.map((one) => ({
    ...one,
    family: smallest === undefined ? one.shard : one.shard % smallest,
    turn: turnOf(growth, one.shard),
  }));
};
