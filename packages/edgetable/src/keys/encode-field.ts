import { EdgetableError } from "../errors/edgetable-error.ts";
import { unreachable, defined } from "../util/invariant.ts";
import { type FieldFormat, type KeyDialect, type Refusal, refusal, type FieldPart, type Template } from "./key-template.ts";
import { decodeShard, encodeShard, mostShards } from "./shard.ts";
import {
  decodeDate,
  encodeDate,
  decodeText,
  encodeText,
  decodePadded,
  decodePlain,
  encodePadded,
  encodePlain,
  decodeNumber,
  encodeNumber,
  encodeStoredNumber,
  sameValue,
} from "./value-text.ts";

const formatFor = (value: unknown): string => {
  if (typeof value === "number" || typeof value === "bigint") return "Write {field:number}, or give a text.";
  if (typeof value === "boolean") return "Write {field:boolean}, or give a text.";
  if (value instanceof Date) return "Write {field:date}, or give a text.";
  return "Give a text.";
};

// Stands behind a text that else would read as a format before it ("o" as 0). No escape has this character, and it is
// below whatever could follow the text, so that order stays.
const AS_TEXT = "$-";

const encodeEither = (formats: readonly FieldFormat[], value: unknown, dialect: KeyDialect): string | Refusal => {
  let best: Refusal | undefined;
  for (const format of formats) {
    const text = encodeFormat(format, value, dialect);
    if (typeof text !== "string") {
      // A format that knows the type but not the value has more to say than one that knows neither.
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

/** Writes a value, or says why it cannot; an empty text is written as nothing. */
const encodeFormat = (format: FieldFormat, value: unknown, dialect: KeyDialect): string | Refusal => {
  switch (format.kind) {
    case "text":
      return typeof value === "string" ? encodeText(value, dialect) : refusal("keys.wrongType", "is not a text", formatFor(value));
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
    case "shard":
      return encodeShard(value, format.sharding.counts[0] ?? 1);
    case "either":
      return encodeEither(format.formats, value, dialect);
    default:
      return unreachable(format);
  }
};

/** With what the keys of Edgetable's own items begin, and no other. */
const OWN_HEAD = "~";

/** The text of a field that keys begin with: with escapes a leading `~` is doubled, which keeps the order of texts. */
const encodeHead = (text: string, { escapes }: KeyDialect): string => (escapes && text.startsWith(OWN_HEAD) ? OWN_HEAD + text : text);

const decodeBoolean = (text: string): boolean | undefined => (text === "true" ? true : text === "false" ? false : undefined);

/** Reads a value, a shard as its number; undefined when the text is not what the format writes. */
export const decodeFormat = (format: FieldFormat, text: string, dialect: KeyDialect): unknown => {
  switch (format.kind) {
    case "text":
      return decodeText(text, dialect);
    case "number":
      return decodeNumber(text);
    case "padded":
      return decodePadded(text, format.width);
    case "plain":
      return decodePlain(text);
    case "date":
      return decodeDate(text);
    case "boolean":
      return decodeBoolean(text);
    case "shard":
      return decodeShard(text, mostShards(format.sharding));
    case "either":
      return decodeEither(format.formats, text, dialect);
    default:
      return unreachable(format);
  }
};

/** Reads the value at a place of a key; undefined when the template did not write this, as where the key is one of Edgetable's own items. */
export const decodePart = ({ format, leads }: FieldPart, text: string, dialect: KeyDialect): unknown => {
  if (!leads || !text.startsWith(OWN_HEAD)) return decodeFormat(format, text, dialect);
  if (!dialect.escapes) return dialect.reserves ? undefined : decodeFormat(format, text, dialect);
  return text.startsWith(OWN_HEAD, OWN_HEAD.length) ? decodeFormat(format, text.slice(OWN_HEAD.length), dialect) : undefined;
};

const longestShown = 80;

const show = (value: unknown): string => {
  if (typeof value === "string") return JSON.stringify(value.length > longestShown ? `${value.slice(0, longestShown)}…` : value);
  if (typeof value === "bigint") return `${value}n`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  return typeof value === "number" || typeof value === "boolean" ? String(value) : `of type ${typeof value}`;
};

const refuse = (template: Template, part: FieldPart, rejected: { readonly value: unknown; readonly why: Refusal }): never => {
  const { code, problem, mend } = rejected.why;
  const place = `{${part.path}} in the key template ${JSON.stringify(template.source)}`;
  const message = `the value ${show(rejected.value)} of ${place} ${problem}. ${mend.replace("{field:", `{${part.path}:`)}`;
  throw new EdgetableError(code, message, { details: { template: template.source, field: part.path, value: rejected.value } });
};

const containsDelimiter = (delimiter: string): Refusal =>
  refusal(
    "keys.delimiter",
    `contains the delimiter ${JSON.stringify(delimiter)}`,
    "This layout leaves no room to escape it: give a value without it, or choose a layout with another delimiter.",
  );

const isReserved = refusal(
  "keys.reserved",
  `begins with "${OWN_HEAD}"`,
  "Edgetable's own items have keys that begin so, and this layout leaves no room to escape it: give a value that begins otherwise.",
);

const isEmpty = refusal(
  "keys.empty",
  "is empty",
  "Give at least one character: an empty id would share its key's prefix with every other.",
);

/** Writes one place's value, empty texts included. */
const encodePart = (template: Template, part: FieldPart, value: unknown): string => {
  const written = encodeFormat(part.format, value, template);
  if (typeof written !== "string") return refuse(template, part, { value, why: written });
  const text = part.leads ? encodeHead(written, template) : written;
  if (template.escapes || !text.includes(template.delimiter)) return text;
  return refuse(template, part, { value, why: containsDelimiter(template.delimiter) });
};

/** Writes one place's value as it stands in a whole key: an empty text is refused. */
export const encodeStrictly = (template: Template, part: FieldPart, value: unknown): string => {
  if (value === "") return refuse(template, part, { value, why: isEmpty });
  const text = encodePart(template, part, value);
  return template.reserves && part.leads && text.startsWith(OWN_HEAD) ? refuse(template, part, { value, why: isReserved }) : text;
};

const placeOf = (template: Template, path: string): FieldPart => {
  const place = template.parts.find((part) => part.kind === "field" && part.path === path);
  return defined(place?.kind === "field" ? place : undefined, `{${path}} in the key template ${JSON.stringify(template.source)}`);
};

/**
 * The text of one field alone, for the bounds of a range on the field that follows a known prefix.
 * Unlike a whole key it takes an empty text, which sorts below every other.
 *
 * @param path one of the template's `fields`
 * @throws {keys.wrongType} when the value's type is not the format's
 * @throws {keys.notEncodable} when the format has no text for the value
 * @throws {keys.delimiter} when an adopted layout's delimiter occurs in the value
 */
export const encodeField = (template: Template, path: string, value: unknown): string =>
  encodePart(template, placeOf(template, path), value);

/** With what the key texts of all values begin that begin with this text: a choice of formats takes it as text, whatever else it reads as. */
export const encodePrefix = (template: Template, path: string, value: unknown): string => {
  const place = placeOf(template, path);
  return encodePart(template, place.format.kind === "either" ? { ...place, format: { kind: "text" } } : place, value);
};

/** Reads what {@link encodeField} wrote; undefined when it did not write this. A shard reads as its number. */
export const decodeField = (template: Template, path: string, text: string): unknown =>
  text.includes(template.delimiter) ? undefined : decodePart(placeOf(template, path), text, template);
