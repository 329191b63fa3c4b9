import type { Row } from "../util/row.ts";
import { type Refusal, refusal, type Sharding, fieldValue, type FieldPart, type Template } from "./key-template.ts";
import { encodeDate, encodeNumber } from "./value-text.ts";

const plainNumber = /^(?:0|[1-9]\d{0,4})$/;

// FNV-1a, 32 bit: http://www.isthe.com/chongo/tech/comp/fnv/ (offset basis and prime).
const absorb = (hash: number, byte: number): number => Math.imul(hash ^ byte, 0x01000193);

const absorbCodePoint = (hash: number, code: number): number => {
  if (code < 0x80) return absorb(hash, code);
  if (code < 0x800) return absorb(absorb(hash, 0xc0 | (code >> 6)), 0x80 | (code & 0x3f));
  const lead = code < 0x10000 ? absorb(hash, 0xe0 | (code >> 12)) : absorb(absorb(hash, 0xf0 | (code >> 18)), 0x80 | ((code >> 12) & 0x3f));
  return absorb(absorb(lead, 0x80 | ((code >> 6) & 0x3f)), 0x80 | (code & 0x3f));
};

// The last mixing of MurmurHash3: FNV's low bits alone are uneven, and a modulo of 16 sees only those.
const mix = (hash: number): number => {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
};

const hashText = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) ?? 0;
    if (code > 0xffff) at++;
    hash = absorbCodePoint(hash, code);
  }
  return mix(hash);
};

const textOf = (value: unknown): string | Refusal => {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint") return encodeNumber(value);
  if (typeof value === "boolean") return String(value);
  if (value instanceof Date) return encodeDate(value);
  return refusal("keys.wrongType", "has no text to take a shard from", "Give a text, number, boolean or Date.");
};

/**
 * The shard of a value, 0 to `count - 1`, as plain text: FNV-1a over the UTF-8 of its text, mixed, modulo
 * `count`. Stored keys depend on it, so it never changes. Without padding, so that a shard has the same
 * name whatever the count: where the count grows, an item whose number stays need not move.
 */
export const encodeShard = (value: unknown, count: number): string | Refusal => {
  const text = textOf(value);
  return typeof text === "string" ? String(hashText(text) % count) : text;
};

/** The shard's number; undefined when the text is not one of `count` shards. */
export const decodeShard = (text: string, count: number): number | undefined => {
  if (!plainNumber.test(text)) return undefined;
  const shard = Number(text);
  return shard < count ? shard : undefined;
};

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
