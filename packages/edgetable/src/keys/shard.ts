import type { Row } from "../util/row.ts";
import { refusal, type FieldPart, type Refusal, type Sharding, type Template } from "./key-template.ts";
import { encodeDate, encodeNumber, fieldValue } from "./value-text.ts";

const SHARD_TEXT = /^(?:0|[1-9]\d{0,4})$/;

// FNV-1a, 32 bit, over the UTF-8 of a text: http://www.isthe.com/chongo/tech/comp/fnv/ (offset basis and prime).
const absorb = (hash: number, byte: number): number => Math.imul(hash ^ byte, 0x01000193);

const hashText = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) ?? 0;
    if (code < 0x80) {
      hash = absorb(hash, code);
      continue;
    }
    if (code < 0x800) hash = absorb(hash, 0xc0 | (code >> 6));
    else {
      if (code < 0x10000) hash = absorb(hash, 0xe0 | (code >> 12));
      else {
        at++;
        hash = absorb(absorb(hash, 0xf0 | (code >> 18)), 0x80 | ((code >> 12) & 0x3f));
      }
      hash = absorb(hash, 0x80 | ((code >> 6) & 0x3f));
    }
    hash = absorb(hash, 0x80 | (code & 0x3f));
  }
  // MurmurHash3's final mix: FNV's low bits alone are uneven, and a modulo of 16 uses only those.
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
};

const hashedText = (value: unknown): string | Refusal => {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint") return encodeNumber(value);
  if (typeof value === "boolean") return String(value);
  if (value instanceof Date) return encodeDate(value);
  return refusal("keys.wrongType", "has no text to take a shard from", "Give a text, number, boolean or Date.");
};

/**
 * The shard of a value, 0 to `count - 1`, as plain text: FNV-1a over the UTF-8 of its text, mixed, modulo `count`. Stored
 * keys depend on it, so it never changes. It is not padded, so that a shard has the same name whatever the count: when the
 * count grows, an item whose number stays the same need not move.
 */
export const encodeShard = (value: unknown, count: number): string | Refusal => {
  const text = hashedText(value);
  return typeof text === "string" ? String(hashText(text) % count) : text;
};

/** The shard's number; undefined if the text is not one of `count` shards. */
export const decodeShard = (text: string, count: number): number | undefined => {
  if (!SHARD_TEXT.test(text)) return undefined;
  const shard = Number(text);
  return shard < count ? shard : undefined;
};

/** The counts of a row's shards, the writers' count first. */
const countsOf = ({ counts, per, hot = {} }: Sharding, row: Row): readonly number[] => {
  const value = per && fieldValue(row, per.steps);
  const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "bigint" || typeof value === "boolean";
  return (isPlain && Object.hasOwn(hot, String(value)) ? hot[String(value)] : undefined) ?? counts;
};

/** The number of shards that a row is written into. */
export const writtenCount = (sharding: Sharding, row: Row): number => countsOf(sharding, row)[0] ?? 1;

/** All counts, for a reader that does not know the row's fields. */
const allCounts = ({ counts, hot = {} }: Sharding): readonly number[] => [...counts, ...Object.values(hot).flat()];

/** The largest number of shards of any value. */
export const mostShards = (sharding: Sharding): number => Math.max(...allCounts(sharding));

/**
 * The shards that a reader queries, ascending: those of one value if it is known, else all.
 *
 * @returns undefined when the value has no shard
 */
export const readShards = (part: FieldPart, sharding: Sharding, row: Row): readonly string[] | undefined => {
  const value = fieldValue(row, part.steps);
  const isOpen = sharding.per !== undefined && fieldValue(row, sharding.per.steps) === undefined;
  const counts = isOpen ? allCounts(sharding) : countsOf(sharding, row);
  if (value === undefined) return Array.from({ length: Math.max(...counts) }, (_, shard) => String(shard));
  const shards = counts.map((count) => encodeShard(value, count));
  if (!shards.every((shard) => typeof shard === "string")) return undefined;
  return [...new Set(shards)].toSorted((a, b) => Number(a) - Number(b));
};

/** True if a template contains a shard. */
export const hasShard = (template: Template | undefined): boolean =>
  template?.parts.some((part) => part.kind === "field" && part.format.kind === "shard") ?? false;

/** The paths that a template's partition depends on only through the choice of a shard. */
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

/** A change of a template's number of shards that is under way. */
export interface Growth {
  /** All counts, ascending. */
  readonly counts: readonly number[];
  /** The position of the writers' count. */
  readonly writers: number;
}

/** The growth under way in a template; undefined if each list of counts has one member. */
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
 * The turn in which a reader queries a shard, 0 first: after all shards that items leave for it. So a reader cannot miss an
 * item that moves to the writers' shard.
 */
export const turnOf = (growth: Growth | undefined, shard: number): number => {
  if (!growth) return 0;
  const band = growth.counts.filter((count) => shard >= count).length;
  const above = growth.counts.length - 1 - growth.writers;
  return band > growth.writers ? growth.counts.length - 1 - band : above + band;
};
