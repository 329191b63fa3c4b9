// Makes keys of rows and reads them back, and names the partitions over which shards spread them.
import { type Row, valueAt } from "../util/row.ts";
import { allCounts, decodePart, encodeStrictly, isOneWay } from "./encode-field.ts";
import type { FieldPart, Sharding, Template } from "./key-template.ts";
import { encodeShard, fieldValue, sameValue } from "./value-text.ts";

/** The fixed beginning of every key of a template; empty if a field comes first. */
export const leadOf = (template: Template | undefined): string => {
  const first = template?.parts[0];
  return first?.kind === "literal" ? first.text : "";
};

/** The part of a key that is known, from the left. */
export interface Prefix {
  /**
   * The known text. If not `complete`, it ends with the literal behind the last known field, so that `begins_with` never
   * meets a longer id. If `complete`, it is a whole key, to be compared by `=`.
   */
  readonly text: string;
  readonly complete: boolean;
  /** The path of the first unknown field. */
  readonly next: string | undefined;
  /** The distinct paths whose values are in the text. */
  readonly used: readonly string[];
}

/** The counts of a row's shards, the writers' count first. */
const countsOf = ({ counts, per, hot = {} }: Sharding, row: Row): readonly number[] => {
  const value = per && fieldValue(row, per.steps);
  const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "bigint" || typeof value === "boolean";
  return (isPlain && Object.hasOwn(hot, String(value)) ? hot[String(value)] : undefined) ?? counts;
};

// The writers' number of shards may depend on another field of the row.
const forWriters = (part: FieldPart, row: Row): FieldPart => {
  const { format } = part;
  if (format.kind !== "shard" || !format.sharding.per) return part;
  return { ...part, format: { kind: "shard", sharding: { counts: [countsOf(format.sharding, row)[0] ?? 1] } } };
};

/**
 * The key of a row, or undefined if a field is undefined or null: never a partial key. The caller checks the length: 2048
 * bytes for a partition key, 1024 for a sort key (ServiceQuotas).
 *
 * @throws {keys.empty} when a field is an empty text
 * @throws {keys.wrongType} when a value's type is not its format's
 * @throws {keys.notEncodable} when a format has no text for its value
 * @throws {keys.delimiter} when a value contains an adopted layout's delimiter
 */
export const renderTemplate = (template: Template, row: Row): string | undefined => {
  let text = "";
  for (const part of template.parts) {
    if (part.kind === "literal") {
      text += part.text;
      continue;
    }
    const value = fieldValue(row, part.steps);
    if (value === undefined) return part.mayEnd && text !== "" ? text : undefined;
    text += encodeStrictly(template, forWriters(part, row), value);
  }
  return text;
};

/** Whether a row has the key at all. */
export const hasKey = ({ when }: Template, row: Row): boolean =>
  when === undefined ||
  when.every(({ path, values }) => {
    // Null is a value, as it is for the conditions of DynamoDB.
    const value = valueAt(row, path);
    return values ? values.some((one) => sameValue(one, value)) : value !== undefined;
  });

/**
 * The longest known beginning of a row's key; a leading literal counts.
 *
 * @throws what {@link renderTemplate} throws, for the known fields
 */
export const renderPrefix = (template: Template, row: Row): Prefix => {
  let text = "";
  const used: string[] = [];
  for (const part of template.parts) {
    if (part.kind === "literal") {
      text += part.text;
      continue;
    }
    const value = fieldValue(row, part.steps);
    if (value === undefined) return { text, complete: false, next: part.path, used };
    text += encodeStrictly(template, forWriters(part, row), value);
    if (!used.includes(part.path)) used.push(part.path);
  }
  return { text, complete: true, next: undefined, used };
};

/**
 * The shards that a reader queries, ascending: those of one value if it is known, else all.
 *
 * @returns undefined when the value has no shard
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
 * Every partition key that rows with these values may have: one if the template has no shard or the sharded value is known,
 * else one for each shard. Undefined if another field is unknown.
 *
 * @throws what {@link renderTemplate} throws, for the known fields
 */
export const renderPartitions = (template: Template, row: Row): readonly Partition[] | undefined => {
  const growth = growthOf(template);
  const smallest = growth?.counts[0];
  let found: readonly { readonly text: string; readonly shard: number }[] = [{ text: "", shard: 0 }];
  for (const part of template.parts) {
    if (part.kind === "field" && part.format.kind === "shard") {
      const value = fieldValue(row, part.steps);
      // Throws for an empty or unfit value, as in a key.
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

/** Reads a key from left to right; fills `row` if one is given. Returns false if the template did not make the key. */
const readInto = (template: Template, text: string, row?: Record<string, unknown>): boolean => {
  if (template.joined) return text.startsWith(leadOf(template));
  let at = 0;
  for (const part of template.parts) {
    if (part.kind === "literal") {
      if (!text.startsWith(part.text, at)) return false;
      at += part.text.length;
      continue;
    }
    if (part.mayEnd && at === text.length) return true;
    const found = text.indexOf(template.delimiter, at);
    const end = found === -1 ? text.length : found;
    const value = end === at ? undefined : decodePart(part, text.slice(at, end), template);
    if (value === undefined) return false;
    at = end;
    if (row === undefined || isOneWay(part.format) || part.within !== undefined) continue;
    if (!template.repeats || !(part.path in row)) row[part.path] = value;
    else if (!sameValue(row[part.path], value)) return false;
  }
  return at === text.length;
};

/**
 * The values in a key, by path (`to.courseId` stays one flat name); undefined if the template did not make the key. One-way
 * formats give no value. Never throws.
 */
export const readTemplate = (template: Template, text: string): Record<string, unknown> | undefined => {
  const row: Record<string, unknown> = {};
  return readInto(template, text, row) ? row : undefined;
};

/** True if the template may have made this key: exactly when {@link readTemplate} reads it. */
export const templateMatches = (template: Template, text: string): boolean => readInto(template, text, template.repeats ? {} : undefined);

/** One piece of a key's text: a literal of its template, or a field with its path. */
export interface KeyPiece {
  readonly text: string;
  /** The path of the field that wrote the text, such as `to.courseId`; undefined for a literal. */
  readonly path: string | undefined;
}

/** A key's text in the pieces of its template, which together are the text; undefined if the template did not make the key. */
export const splitKey = (template: Template, text: string): readonly KeyPiece[] | undefined => {
  if (template.joined || !templateMatches(template, text)) return undefined;
  let at = 0;
  return template.parts.map((part) => {
    const from = at;
    if (part.kind === "literal") at += part.text.length;
    else {
      const found = text.indexOf(template.delimiter, at);
      at = found === -1 ? text.length : found;
    }
    return { text: text.slice(from, at), path: part.kind === "literal" ? undefined : part.path };
  });
};

/** Reads one field of a key's text; undefined if the template did not make it. */
type FieldReader = (text: string) => unknown;

/** A field that ends every key of a template. */
export interface EndingField {
  /** The fixed beginning of every key. */
  readonly beginning: string;
  /** Reads the field from the text behind the beginning. */
  readonly read: FieldReader;
}

/**
 * The field that ends a template's keys, if it can be read without the fields before it; undefined if another field ends the
 * keys, or if the fields before it have to be read too.
 */
export const endingField = (template: Template, path: string): EndingField | undefined => {
  const [first, ...others] = template.parts;
  const beginning = leadOf(template);
  const rest = first?.kind === "literal" ? others : template.parts;
  const field = rest.at(-1);
  if (field?.kind !== "field" || field.path !== path || isOneWay(field.format)) return undefined;
  const { delimiter } = template;
  if (rest.length === 1)
    return { beginning, read: (text) => (text === "" || text.includes(delimiter) ? undefined : decodePart(field, text, template)) };
  const before = rest.at(-2);
  if (!template.escapes || before?.kind !== "literal" || before.text !== delimiter) return undefined;
  const read: FieldReader = (text) => {
    // Escaped values contain no delimiter: the field follows the last one.
    const at = text.lastIndexOf(delimiter);
    return at < 1 || at === text.length - 1 ? undefined : decodePart(field, text.slice(at + 1), template);
  };
  return { beginning, read };
};

/**
 * A reader of one field, for walks that read millions of keys.
 *
 * @param path one of the template's `fields` that it carries
 */
export const fieldReader = (template: Template, path: string): FieldReader => {
  const ending = endingField(template, path);
  if (!ending) return (text) => readTemplate(template, text)?.[path];
  const { beginning, read } = ending;
  return (text) => (text.startsWith(beginning) ? read(text.slice(beginning.length)) : undefined);
};
