import type { Sharding } from "./field-format.ts";
import { fieldValue } from "./field-value.ts";
import type { FieldPart, Template } from "./key-template.ts";
import { encodeShard } from "./shard.ts";
import type { Row } from "../util/row.ts";

const hotCounts = ({ hot = {} }: Sharding, value: unknown): readonly number[] | undefined => {
  const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "bigint" || typeof value === "boolean";
  return isPlain && Object.hasOwn(hot, String(value)) ? hot[String(value)] : undefined;
};

/** The counts of a row's shards, the writers' first. */
const countsOf = (sharding: Sharding, row: Row): readonly number[] =>
  (sharding.per && hotCounts(sharding, fieldValue(row, sharding.per.steps))) ?? sharding.counts;

/** The number of shards that a row is written into. */
export const writtenCount = (sharding: Sharding, row: Row): number => countsOf(sharding, row)[0] ?? 1;

/** Every count that a reader who does not know the row's fields has to expect. */
const allCounts = ({ counts, hot = {} }: Sharding): readonly number[] => [...counts, ...Object.values(hot).flat()];

/** The most shards that any value has. */
export const mostShards = (sharding: Sharding): number => Math.max(...allCounts(sharding));

/** Whether the counts are only known with another field of the row. */
const isOpen = (sharding: Sharding, row: Row): boolean => sharding.per !== undefined && fieldValue(row, sharding.per.steps) === undefined;

const readCounts = (sharding: Sharding, row: Row): readonly number[] =>
  isOpen(sharding, row) ? allCounts(sharding) : countsOf(sharding, row);

/**
 * The shards in which a reader looks, in their order: of one value, when it is known, else all.
 *
 * @returns undefined when the value has no shard
 */
export const readShards = (part: FieldPart, sharding: Sharding, row: Row): readonly string[] | undefined => {
  const value = fieldValue(row, part.steps);
  const counts = readCounts(sharding, row);
  if (value === undefined) return Array.from({ length: Math.max(...counts) }, (_, shard) => String(shard));
  const shards = counts.map((count) => encodeShard(value, count));
  if (!shards.every((shard) => typeof shard === "string")) return undefined;
  return [...new Set(shards)].toSorted((a, b) => Number(a) - Number(b));
};

/** The paths on which a template's partition depends only through the choice of a shard. */
export const shardPaths = (template: Template): ReadonlySet<string> => {
  const paths = new Set<string>();
  for (const part of template.parts) {
    if (part.kind !== "field" || part.format.kind !== "shard") continue;
    paths.add(part.path);
    if (part.format.sharding.per) paths.add(part.format.sharding.per.path);
  }
  for (const part of template.parts) if (part.kind === "field" && part.format.kind !== "shard") paths.delete(part.path);
  return paths;
};

/** How the shards of a template grow: from few to many, unless writers still put items into the fewer. */
export interface Growth {
  /** Every count, ascending. */
  readonly counts: readonly number[];
  /** Which of them is the writers'. */
  readonly writers: number;
}

/** The growth under way in a template, undefined when every list of counts has one member. */
export const growthOf = (template: Template): Growth | undefined => {
  for (const part of template.parts) {
    if (part.kind !== "field" || part.format.kind !== "shard") continue;
    const { counts, hot = {} } = part.format.sharding;
    const lists = [counts, ...Object.values(hot)];
    const grown = lists.find((list) => list.length > 1);
    if (!grown) continue;
    const all = [...new Set(lists.flat())].toSorted((a, b) => a - b);
    return { counts: all, writers: all.indexOf(grown[0] ?? 0) };
  }
  return undefined;
};

/**
 * When a reader has to come to a shard, 0 first, so that an item on its way to the writers' shard cannot
 * slip by: each shard after all those that items leave for it.
 */
export const turnOf = (growth: Growth | undefined, shard: number): number => {
  if (!growth) return 0;
  const band = growth.counts.filter((count) => shard >= count).length;
  const above = growth.counts.length - 1 - growth.writers;
  return band > growth.writers ? growth.counts.length - 1 - band : above + band;
};
