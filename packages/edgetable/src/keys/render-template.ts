import type { Row } from "../util/row.ts";
import { encodeStrictly, decodePart } from "./encode-field.ts";
import { fieldValue, type FieldPart, type Template, leadOf } from "./key-template.ts";
import { writtenCount, growthOf, readShards, turnOf } from "./shard.ts";
import { sameValue } from "./value-text.ts";

/** As much of a key as is known, from the left. */
export interface Prefix {
  /**
   * The known text. When not `complete` it ends with the literal behind the last known field, so that
   * `begins_with` never meets a longer id; when `complete` it is a whole key, to be compared by `=`.
   */
  readonly text: string;
  readonly complete: boolean;
  /** The path of the first unknown field. */
  readonly next: string | undefined;
  /** The distinct paths whose values are in the text. */
  readonly used: readonly string[];
}

// The number of a writer's shards may depend on another field of the row.
const inRow = (part: FieldPart, row: Row): FieldPart => {
  const { format } = part;
  if (format.kind !== "shard" || !format.sharding.per) return part;
  return { ...part, format: { kind: "shard", sharding: { counts: [writtenCount(format.sharding, row)] } } };
};

/**
 * The key of a row, or undefined when a field is undefined or null: never a partial key. The caller
 * checks the length: 2048 bytes for a partition key, 1024 for a sort key (ServiceQuotas).
 *
 * @throws {keys.empty} when a field is an empty text
 * @throws {keys.wrongType} when a value's type is not its format's
 * @throws {keys.notEncodable} when a format has no text for its value
 * @throws {keys.delimiter} when an adopted layout's delimiter occurs in a value
 */
export const renderTemplate = (template: Template, row: Row): string | undefined => {
  let text = "";
  for (const part of template.parts) {
    if (part.kind === "literal") {
      text += part.text;
      continue;
    }
    const value = fieldValue(row, part.steps);
    if (value === undefined) return undefined;
    text += encodeStrictly(template, inRow(part, row), value);
  }
  return text;
};

/**
 * The longest part of a row's key that is known from the left; a leading literal counts.
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
    text += encodeStrictly(template, inRow(part, row), value);
    if (!used.includes(part.path)) used.push(part.path);
  }
  return { text, complete: true, next: undefined, used };
};

/** One of the keys over which a sharded template spreads the items of one value. */
export interface Partition {
  readonly text: string;
  /** The shard's number; 0 where the template has none. */
  readonly shard: number;
  /** While shards grow: only items of one family change places with each other, and go to later turns. */
  readonly family: number;
  readonly turn: number;
}

/**
 * Every key under which rows with these values may lie: one, where the template has no shard or the
 * sharded value is known, else one for each shard; undefined when another field is unknown.
 *
 * @throws what `renderTemplate` throws, for the known fields
 */
export const renderPartitions = (template: Template, row: Row): readonly Partition[] | undefined => {
  const growth = growthOf(template);
  const smallest = growth?.counts[0];
  let found: readonly { readonly text: string; readonly shard: number }[] = [{ text: "", shard: 0 }];
  for (const part of template.parts) {
    if (part.kind === "field" && part.format.kind === "shard") {
      const value = fieldValue(row, part.steps);
      // An empty or unfit value is refused as in a key.
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

/** Walks the text once; fills `row` where one is given. */
const scan = (template: Template, text: string, row?: Record<string, unknown>): boolean => {
  let at = 0;
  for (const part of template.parts) {
    if (part.kind === "literal") {
      if (!text.startsWith(part.text, at)) return false;
      at += part.text.length;
      continue;
    }
    const found = text.indexOf(template.delimiter, at);
    const end = found === -1 ? text.length : found;
    const value = end === at ? undefined : decodePart(part, text.slice(at, end), template);
    if (value === undefined) return false;
    at = end;
    if (row === undefined || part.format.kind === "shard") continue;
    if (!template.repeats || !(part.path in row)) row[part.path] = value;
    else if (!sameValue(row[part.path], value)) return false;
  }
  return at === text.length;
};

/**
 * The values in a key, by path (`to.courseId` stays one flat name); undefined when the template did
 * not make this key. A shard carries nothing. Never throws.
 */
export const readTemplate = (template: Template, text: string): Record<string, unknown> | undefined => {
  const row: Record<string, unknown> = {};
  return scan(template, text, row) ? row : undefined;
};

/** Whether the template may have made this key: true exactly when {@link readTemplate} reads it. */
export const templateMatches = (template: Template, text: string): boolean => scan(template, text, template.repeats ? {} : undefined);

/** Reads one field of keys, without a row: undefined when the template did not make the key. */
type FieldReader = (text: string) => unknown;

/** A field that ends every key of a template. */
export interface EndingField {
  /** What every key begins with. */
  readonly beginning: string;
  /** Reads the field from what follows the beginning. */
  readonly read: FieldReader;
}

const onlyField = (template: Template, field: FieldPart): FieldReader => {
  return (rest) => (rest === "" || rest.includes(template.delimiter) ? undefined : decodePart(field, rest, template));
};

// Escaped values hold no delimiter: whatever stands before the last one, the field follows it.
const lastField = (template: Template, field: FieldPart): FieldReader => {
  return (rest) => {
    const at = rest.lastIndexOf(template.delimiter);
    return at < 1 || at === rest.length - 1 ? undefined : decodePart(field, rest.slice(at + 1), template);
  };
};

/**
 * The field that ends a template's keys, read without the fields before it; undefined where another
 * field ends them, or where what stands before it has to be read to be sure.
 */
export const endingField = (template: Template, path: string): EndingField | undefined => {
  const [first, ...others] = template.parts;
  const beginning = leadOf(template);
  const rest = first?.kind === "literal" ? others : template.parts;
  const field = rest.at(-1);
  if (field?.kind !== "field" || field.path !== path || field.format.kind === "shard") return undefined;
  if (rest.length === 1) return { beginning, read: onlyField(template, field) };
  const before = rest.at(-2);
  if (!template.escapes || before?.kind !== "literal" || before.text !== template.delimiter) return undefined;
  return { beginning, read: lastField(template, field) };
};

/**
 * A reader of one field, for a walk that looks at millions of keys.
 *
 * @param path one of the template's `fields`
 */
export const fieldReader = (template: Template, path: string): FieldReader => {
  const ending = endingField(template, path);
  if (!ending) return (text) => readTemplate(template, text)?.[path];
  const { beginning, read } = ending;
  return (text) => (text.startsWith(beginning) ? read(text.slice(beginning.length)) : undefined);
};
