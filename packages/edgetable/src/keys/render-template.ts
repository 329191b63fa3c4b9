// Makes keys from rows and reads them back, each field by its format.
import { EdgetableError } from "../errors/edgetable-error.ts";
import { defined, unreachable } from "../util/invariant.ts";
import { type Row, valueAt } from "../util/row.ts";
import {
  refusal,
  type Alphabet,
  type FieldFormat,
  type FieldPart,
  type KeyDialect,
  type OneWayText,
  type Refusal,
  type Sharding,
  type Template,
} from "./key-template.ts";
import {
  decodeDate,
  decodeNumber,
  decodePadded,
  decodePlain,
  decodeShard,
  decodeText,
  encodeDate,
  encodeNumber,
  encodePadded,
  encodePlain,
  encodeShard,
  encodeStoredNumber,
  encodeText,
  fieldValue,
  isWellFormed,
  sameValue,
} from "./value-text.ts";

const MAX_SHOWN = 80;

const shownValue = (value: unknown): string => {
  if (typeof value === "string") return JSON.stringify(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value);
  if (typeof value === "bigint") return `${value}n`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  return typeof value === "number" || typeof value === "boolean" ? String(value) : `of type ${typeof value}`;
};

const throwRefusal = (template: Template, part: FieldPart, rejected: { readonly value: unknown; readonly why: Refusal }): never => {
  const { code, problem, mend } = rejected.why;
  const place = `{${part.path}} in the key template ${JSON.stringify(template.source)}`;
  const message = `the value ${shownValue(rejected.value)} of ${place} ${problem}. ${mend.replace("{field:", `{${part.path}:`)}`;
  throw new EdgetableError(code, message, { details: { template: template.source, field: part.path, value: rejected.value } });
};

const notText = (value: unknown): Refusal => {
  let mend = "Give a text.";
  if (typeof value === "number" || typeof value === "bigint") mend = "Write {field:number}, or give a text.";
  if (typeof value === "boolean") mend = "Write {field:boolean}, or give a text.";
  if (value instanceof Date) mend = "Write {field:date}, or give a text.";
  return refusal("keys.wrongType", "is not a text", mend);
};

// Ends a text that an earlier format of the choice would read as its own ("o" as 0). No escape contains this character, and
// it sorts below whatever may follow the text, which keeps the order.
const AS_TEXT = "$-";

const encodeEither = (formats: readonly FieldFormat[], value: unknown, dialect: KeyDialect): string | Refusal => {
  let best: Refusal | undefined;
  for (const format of formats) {
    const text = encodeFormat(format, value, dialect);
    if (typeof text !== "string") {
      // The reason of a format that accepts the type but not the value is more helpful.
      if (best === undefined || best.code === "keys.wrongType") best = text;
      continue;
    }
    const back = decodeFirst(formats, text, dialect);
    if (sameValue(value, back)) return text;
    if (format.kind === "text" && dialect.escapes) return text + AS_TEXT;
    return refusal(
      "keys.notEncodable",
      `reads back as the ${typeof back} ${String(back)}`,
      "Give each value in the type it is to be read in.",
    );
  }
  return best ?? refusal("keys.wrongType", "fits no format", "Give a value of one of the formats.");
};

const decodeFirst = (formats: readonly FieldFormat[], text: string, dialect: KeyDialect): unknown => {
  for (const format of formats) {
    const value = decodeFormat(format, text, dialect);
    if (value !== undefined) return value;
  }
  return undefined;
};

const decodeEither = (formats: readonly FieldFormat[], text: string, dialect: KeyDialect): unknown => {
  if (!dialect.escapes || !text.endsWith(AS_TEXT)) return decodeFirst(formats, text, dialect);
  const marked = text.slice(0, -AS_TEXT.length);
  const other = decodeFirst(formats, marked, dialect);
  if (other === undefined || typeof other === "string" || formats.every(({ kind }) => kind !== "text")) return undefined;
  return decodeText(marked, dialect);
};

/** True for a format that is never read back. */
export const isOneWay = ({ kind }: FieldFormat): boolean => kind === "lower" || kind === "upper" || kind === "written" || kind === "shard";

// Not toLocaleLowerCase: a key must not depend on where the program runs.
const inCase = (kind: OneWayText, text: string): string =>
  kind === "lower" ? text.toLowerCase() : kind === "upper" ? text.toUpperCase() : text;

/**
 * A value in the case in which a key contains it; unchanged if the key keeps its case. Two values with the same result make the
 * same key.
 */
export const inKeysCase = (form: OneWayText | undefined, value: unknown): unknown =>
  form !== undefined && typeof value === "string" ? inCase(form, value) : value;

const encodeOneWay = (kind: OneWayText, value: unknown): string | Refusal => {
  const isText = typeof value === "string" || typeof value === "boolean" || typeof value === "bigint";
  if (!isText && (typeof value !== "number" || !Number.isFinite(value)))
    return refusal("keys.wrongType", "is neither text, a finite number nor a boolean", "Give one of these.");
  const text = inCase(kind, String(value));
  return isWellFormed(text)
    ? text
    : refusal("keys.notEncodable", "contains half of a surrogate pair, which UTF-8 cannot store", "Repair the text with toWellFormed().");
};

/** The texts of some formats. */
export const ALPHABETS: Readonly<Record<Alphabet, RegExp>> = { digits: /^[0-9]*$/, letters: /^[A-Za-z]*$/ };

const encodeAlphabet = (kind: Alphabet, value: unknown): string | Refusal => {
  if (typeof value !== "string") return refusal("keys.wrongType", "is not a text", "Give a text.");
  if (ALPHABETS[kind].test(value)) return value;
  const of = kind === "digits" ? "digits, 0 to 9" : "letters, A to Z and a to z";
  return refusal("keys.notEncodable", `does not consist of ${of}, by which such an id is told from others`, "Give an id of this kind.");
};

/** All counts, for a reader that does not know the row's fields. */
export const allCounts = ({ counts, hot = {} }: Sharding): readonly number[] => [...counts, ...Object.values(hot).flat()];

/** The largest number of shards of any value. */
export const mostShards = (sharding: Sharding): number => Math.max(...allCounts(sharding));

/** Writes a value, or returns why it cannot; an empty text gives an empty text. */
const encodeFormat = (format: FieldFormat, value: unknown, dialect: KeyDialect): string | Refusal => {
  switch (format.kind) {
    case "text":
      return typeof value === "string" ? encodeText(value, dialect) : notText(value);
    case "digits":
    case "letters":
      return encodeAlphabet(format.kind, value);
    case "number":
      return dialect.type === "N" ? encodeStoredNumber(value) : encodeNumber(value);
    case "padded":
      return encodePadded(value, format.width);
    case "plain":
      return encodePlain(value);
    case "date":
      return encodeDate(value);
    case "boolean":
      return typeof value === "boolean" ? String(value) : refusal("keys.wrongType", "is not a boolean", "Give true or false.");
    case "lower":
    case "upper":
    case "written":
      return format.width === undefined ? encodeOneWay(format.kind, value) : encodePadded(value, format.width);
    case "shard":
      return encodeShard(value, format.sharding.counts[0] ?? 1);
    case "either":
      return encodeEither(format.formats, value, dialect);
    default:
      return unreachable(format);
  }
};

/** The beginning of the keys of Edgetable's own items. No other keys begin with it. */
const OWN_HEAD = "~";

/** Reads a value, a shard as its number and other one-way formats as their text; undefined if the format does not write this text. */
export const decodeFormat = (format: FieldFormat, text: string, dialect: KeyDialect): unknown => {
  switch (format.kind) {
    case "text":
      return decodeText(text, dialect);
    case "digits":
    case "letters":
      return ALPHABETS[format.kind].test(text) ? text : undefined;
    case "number":
      return decodeNumber(text);
    case "padded":
      return decodePadded(text, format.width);
    case "plain":
      return decodePlain(text);
    case "date":
      return decodeDate(text);
    case "boolean":
      return text === "true" ? true : text === "false" ? false : undefined;
    case "lower":
    case "upper":
    case "written":
      if (format.width !== undefined) return decodePadded(text, format.width) === undefined ? undefined : text;
      return isWellFormed(text) && inCase(format.kind, text) === text ? text : undefined;
    case "shard":
      return decodeShard(text, mostShards(format.sharding));
    case "either":
      return decodeEither(format.formats, text, dialect);
    default:
      return unreachable(format);
  }
};

/** Reads the value of a field of a key; undefined if the template did not write it, for example in keys of Edgetable's own items. */
export const decodePart = ({ format, leads }: FieldPart, text: string, dialect: KeyDialect): unknown => {
  if (!leads || !text.startsWith(OWN_HEAD)) return decodeFormat(format, text, dialect);
  if (!dialect.escapes) return dialect.reserves ? undefined : decodeFormat(format, text, dialect);
  return text.startsWith(OWN_HEAD, OWN_HEAD.length) ? decodeFormat(format, text.slice(OWN_HEAD.length), dialect) : undefined;
};

/** Writes one field's value; an empty text gives an empty text. */
const encodePart = (template: Template, part: FieldPart, value: unknown): string => {
  const written = encodeFormat(part.format, value, template);
  if (typeof written !== "string") return throwRefusal(template, part, { value, why: written });
  // With escapes a leading "~" is doubled, which keeps the order of texts.
  const text = part.leads && template.escapes && written.startsWith(OWN_HEAD) ? OWN_HEAD + written : written;
  if (template.escapes || !text.includes(template.delimiter)) return text;
  if (template.loose) return text;
  const why = refusal(
    "keys.delimiter",
    `contains the delimiter ${JSON.stringify(template.delimiter)}`,
    "This layout has no escapes: give a value without the delimiter, or choose a layout with another delimiter.",
  );
  return throwRefusal(template, part, { value, why });
};

const EMPTY = refusal(
  "keys.empty",
  "is empty",
  "Give at least one character: no key holds an empty text. In an index, leave the attribute out and declare the entry sparse.",
);

/** Writes one field's value for a whole key. Refuses an empty text, and a reserved beginning. */
export const encodeStrictly = (template: Template, part: FieldPart, value: unknown): string => {
  // DynamoDB rejects an empty key, so a value may only be empty if the key has other parts.
  if (value === "" && !template.verbatim && (!template.loose || template.parts.length === 1))
    return throwRefusal(template, part, { value, why: EMPTY });
  const text = encodePart(template, part, value);
  if (!template.reserves || !part.leads || !text.startsWith(OWN_HEAD)) return text;
  const why = refusal(
    "keys.reserved",
    `begins with "${OWN_HEAD}"`,
    "Keys of Edgetable's own items begin with it, and this layout has no escapes: give a value that begins differently.",
  );
  return throwRefusal(template, part, { value, why });
};

const findField = (template: Template, path: string): FieldPart => {
  const found = template.parts.find((part) => part.kind === "field" && part.path === path);
  return defined(found?.kind === "field" ? found : undefined, `{${path}} in the key template ${JSON.stringify(template.source)}`);
};

/**
 * The text of one field alone, for the bounds of a range on the field that follows a known prefix. Unlike in a whole key, an empty
 * text is allowed: it sorts below every other.
 *
 * @param path one of the template's `fields`
 * @throws {keys.wrongType} if the value's type is not the format's
 * @throws {keys.notEncodable} if the format has no text for the value
 * @throws {keys.delimiter} if the value contains an adopted layout's delimiter
 */
export const encodeKeyField = (template: Template, path: string, value: unknown): string =>
  encodePart(template, findField(template, path), value);

/** The common prefix of the key texts of all values that begin with this text. A choice of formats writes it as text. */
export const encodeKeyPrefix = (template: Template, path: string, value: unknown): string => {
  const field = findField(template, path);
  // The lower case of a sigma depends on what follows it.
  if (field.format.kind === "lower" && typeof value === "string") return encodePart(template, field, value.split("Σ")[0]);
  return encodePart(template, field.format.kind === "either" ? { ...field, format: { kind: "text" } } : field, value);
};

/** Reads what {@link encodeKeyField} wrote, a shard as its number; undefined for any other text. */
export const decodeKeyField = (template: Template, path: string, text: string): unknown =>
  text.includes(template.delimiter) ? undefined : decodePart(findField(template, path), text, template);

/** The fixed beginning of every key of a template; empty if a field comes first. */
export const leadOf = (template: Template | undefined): string => {
  const first = template?.parts[0];
  return first?.kind === "literal" ? first.text : "";
};

/** The part of a key that is known, from the left. */
export interface Prefix {
  /**
   * The known text. If not `complete`, it ends with the literal after the last known field, so that `begins_with` never matches a
   * longer id. If `complete`, it is a whole key, to be compared by `=`.
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
 * The key of a row, or undefined if a field is undefined or null: never a partial key. The caller checks the length: 2048 bytes for
 * a partition key, 1024 for a sort key (ServiceQuotas).
 *
 * @throws {keys.empty} if a field is an empty text
 * @throws {keys.wrongType} if a value's type is not its format's
 * @throws {keys.notEncodable} if a format has no text for its value
 * @throws {keys.delimiter} if a value contains an adopted layout's delimiter
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
    // If several fields follow each other without a delimiter, all of them may be empty.
    if (text === "" && part === template.parts.at(-1) && !template.verbatim) throwRefusal(template, part, { value, why: EMPTY });
  }
  return text;
};

/** True if a row has the key. */
export const hasKey = ({ when, any }: Pick<Template, "when" | "any">, row: Row): boolean =>
  (any === undefined || any.some((path) => (valueAt(row, path) ?? null) !== null)) &&
  (when === undefined ||
    when.every(({ path, values }) => {
      // Null is a value, as in DynamoDB's conditions.
      const value = valueAt(row, path);
      return values ? values.some((one) => sameValue(one, value)) : value !== undefined;
    }));

/**
 * The longest known beginning of a row's key; a leading literal counts.
 *
 * @throws the errors of {@link renderTemplate}, for the known fields
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

/** The paths that influence a template's partition only by the choice of a shard. */
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

/** A change of a template's number of shards that is in progress. */
export interface Growth {
  /** All counts, ascending. */
  readonly counts: readonly number[];
  /** The position of the writers' count. */
  readonly writers: number;
}

/** The growth in progress in a template; undefined if each list of counts has one member. */
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
    const value = end === at && !template.verbatim ? undefined : decodePart(part, text.slice(at, end), template);
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
