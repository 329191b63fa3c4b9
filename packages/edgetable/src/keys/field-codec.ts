import { unreachable } from "../util/invariant.ts";
import { decodeDate, encodeDate } from "./date-text.ts";
import { decodeText, encodeText } from "./escape-text.ts";
import { type FieldFormat, type KeyDialect, type Refusal, refusal } from "./field-format.ts";
import { decodePadded, decodePlain, encodePadded, encodePlain } from "./integer-text.ts";
import type { FieldPart } from "./key-template.ts";
import { decodeNumber, encodeNumber, encodeStoredNumber } from "./number-text.ts";
import { sameValue } from "./same-value.ts";
import { decodeShard, encodeShard } from "./shard.ts";
import { mostShards } from "./sharding.ts";

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
export const encodeFormat = (format: FieldFormat, value: unknown, dialect: KeyDialect): string | Refusal => {
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
export const OWN_HEAD = "~";

/** The text of a field that keys begin with: with escapes a leading `~` is doubled, which keeps the order of texts. */
export const encodeHead = (text: string, { escapes }: KeyDialect): string =>
  escapes && text.startsWith(OWN_HEAD) ? OWN_HEAD + text : text;

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
