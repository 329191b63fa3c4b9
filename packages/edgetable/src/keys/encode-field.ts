import { EdgetableError } from "../errors/edgetable-error.ts";
import { defined } from "../util/invariant.ts";
import { decodePart, encodeFormat, encodeHead, OWN_HEAD } from "./field-codec.ts";
import { type Refusal, refusal } from "./field-format.ts";
import type { FieldPart, Template } from "./key-template.ts";

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
