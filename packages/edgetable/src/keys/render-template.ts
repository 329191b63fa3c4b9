// Makes keys of rows and reads them back.
import { type Row, valueAt } from "../util/row.ts";
import { decodePart, encodeStrictly, isOneWay } from "./encode-field.ts";
import type { FieldPart, Sharding, Template } from "./key-template.ts";
import { fieldValue, sameValue } from "./value-text.ts";

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
export const countsOf = ({ counts, per, hot = {} }: Sharding, row: Row): readonly number[] => {
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
