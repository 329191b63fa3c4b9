import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import {
  encodeKeyField,
  encodeKeyPrefix,
  exactText,
  isWellFormed,
  keyBytes,
  parseTemplate,
  readTemplate,
  renderTemplate,
  type Template,
} from "../keys/template.ts";
import type { Catalog } from "../schema/catalog.ts";
import { checkNodeId } from "../schema/check-values.ts";
import { sameDecimals } from "../util/decimal.ts";
import { defined, unreachable } from "../util/invariant.ts";
import { jsonText } from "../util/json-text.ts";
import type { Row } from "../util/row.ts";
import type { Field, FieldInput, FieldType, FieldValue, NodeId } from "../client/field-types.ts";
import { readJsonCell, writeJsonCell } from "./json-cells.ts";

/** Texts are ordered by so many bytes of theirs; those that begin alike, by their rows. */
const ORDERED_BYTES = 160;

// A place in a column: the value, then the row's own order, then the row.
const templateOf = (value: string, dialect = { delimiter: "#", escapes: true }): Template =>
  parseTemplate(`${value}#{order}#{row}`, dialect);
const TEXTS = templateOf("{value}");
const NUMBERS = templateOf("{value:number}");
const templates: Readonly<Record<FieldType, Template>> = {
  text: TEXTS,
  number: NUMBERS,
  date: TEXTS,
  boolean: templateOf("{value:boolean}"),
  choice: templateOf("{value:4}"),
  choices: TEXTS,
  reference: TEXTS,
};

const beginningOf = (text: string): string => {
  if (text.length * 3 <= ORDERED_BYTES) return text;
  let kept = "";
  let bytes = 0;
  for (const character of text) {
    // The character in which the limit lies is kept, or a text would sort before lesser ones that share the rest.
    if (bytes >= ORDERED_BYTES) break;
    bytes += keyBytes(character);
    kept += character;
  }
  return kept;
};

/** Letters without case and accents: what a reader takes for equal is ordered as equal. */
const lettersOf = (text: string): string => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

const referenceKey = (catalog: Catalog, node: string, id: NodeId): string => {
  const entry = defined(catalog.nodes[node], node);
  return defined(renderTemplate(defined(entry.shape.keys[catalog.index.partitionKey], "key"), id), "key");
};

/** What a value is ordered by, as the field's template takes it. */
const orderedValue = (catalog: Catalog, field: Field, value: FieldValue["value"]): unknown => {
  switch (field.type) {
    case "text":
      return beginningOf(field.order === "letters" ? lettersOf(value as string) : (value as string)) || "\u0000";
    case "number":
    case "boolean":
    case "date":
      return value;
    case "choice":
      return field.choices.indexOf(value as string);
    case "choices":
      return beginningOf(
        field.choices
          .flatMap((choice, at) => ((value as readonly string[]).includes(choice) ? [String(at).padStart(4, "0")] : []))
          .join("."),
      );
    case "reference":
      return beginningOf(referenceKey(catalog, field.node, value as NodeId));
    default:
      return unreachable(field);
  }
};

/** A row's place among the rows of its parent, and its name: ends each place in a column. */
export interface RowPlace {
  readonly order: string;
  readonly row: string;
}

/** What the text begins with that orders rows by this value: rows whose values are ordered as equal have the same. */
export const valueText = (catalog: Catalog, field: Field, value: FieldValue["value"]): string =>
  encodeKeyField(templates[field.type], "value", orderedValue(catalog, field, value));

/** The text that orders a row by its value of a field: the value, then the row's own place. */
export const sortText = (catalog: Catalog, field: Field, value: FieldValue["value"], place: RowPlace): string =>
  defined(renderTemplate(templates[field.type], { value: orderedValue(catalog, field, value), ...place }), "the place of a value");

/** The {@link valueText} in a text that {@link sortText} made: a delimiter in a value is escaped. */
export const valueTextIn = (sort: string): string => sort.slice(0, sort.indexOf("#"));

/** The row's own place, of a text that {@link sortText} made for the field. */
export const placeIn = (field: Field, sort: string): RowPlace => {
  const { order, row } = defined(readTemplate(templates[field.type], sort), "the place of a value");
  return { order: order as string, row: row as string };
};

/** Where the places of a value begin and end in its column: from `low` on, below `high`. */
export interface Bounds {
  readonly low?: string;
  readonly high?: string;
}

/** The least text above every place of a value: its delimiter sorts below all that may stand in a value. */
export const behind = (text: string): string => `${text}$`;

const LAST_CHARACTER = 0x10ffff;
const SURROGATES = { before: 0xd7ff, after: 0xe000 };

/** The least text above every text that begins with this one; undefined where there is none. */
const textAfter = (text: string): string | undefined => {
  const characters = Array.from(text);
  while (characters.length > 0) {
    const code = characters.pop()?.codePointAt(0) ?? LAST_CHARACTER;
    if (code === LAST_CHARACTER) continue;
    return characters.join("") + String.fromCodePoint(code === SURROGATES.before ? SURROGATES.after : code + 1);
  }
  return undefined;
};

/**
 * Where the rows lie that pass a comparison; undefined where it says nothing about the order. They may lie a little too
 * wide, for texts are ordered by their beginning: each row is checked as well.
 */
export const boundsOf = (catalog: Catalog, field: Field, operator: string, operand: unknown): Bounds | undefined => {
  const template = templates[field.type];
  const at = (value: unknown): string => encodeKeyField(template, "value", orderedValue(catalog, field, value as FieldValue["value"]));
  switch (operator) {
    case "eq":
      return { low: at(operand), high: behind(at(operand)) };
    case "gte":
    case "gt":
      return { low: at(operand) };
    case "lte":
    case "lt":
      return { high: behind(at(operand)) };
    case "between": {
      const [low, high] = operand as readonly [unknown, unknown];
      return { low: at(low), high: behind(at(high)) };
    }
    case "beginsWith": {
      const text = beginningOf(field.type === "text" && field.order === "letters" ? lettersOf(operand as string) : (operand as string));
      if (text === "") return undefined;
      const low = encodeKeyPrefix(template, "value", text);
      const high = textAfter(low);
      return { low, ...(high === undefined ? {} : { high }) };
    }
    default:
      return undefined;
  }
};

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z$/;

/** A day or a moment as it is stored; undefined for any other text. */
const dateOf = (text: string): string | undefined => {
  const isDay = DAY.test(text);
  if (!isDay && !MOMENT.test(text)) return undefined;
  const date = new Date(text);
  // 2023-02-30 is read as the second of March.
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== text.slice(0, 10)) return undefined;
  return isDay ? text : date.toISOString();
};

/** Part of a date to compare with, such as a month: a whole moment as it is stored. Undefined for any other text. */
export const partOfDate = (text: string): string | undefined => dateOf(text) ?? (PART_OF_DATE.test(text) ? text : undefined);

const PART_OF_DATE = /^\d{4}(?:-\d{2}(?:-\d{2}(?:T[\d:.]*)?)?)?$/;

/** The magnitudes of numbers that DynamoDB stores, beside 0 (Developer Guide, data types). */
const LEAST_NUMBER = 1e-130;
const BEYOND_NUMBERS = 1e126;

const isStorable = (value: unknown): value is number => {
  if (typeof value !== "number") return false;
  const magnitude = Math.abs(value);
  return magnitude === 0 || (magnitude >= LEAST_NUMBER && magnitude < BEYOND_NUMBERS);
};

const listed = (field: { readonly choices: readonly string[] }): string => {
  const shown = field.choices.slice(0, 10).map((choice) => jsonText(choice));
  return shown.join(", ") + (field.choices.length > shown.length ? " and others" : "");
};

/** What a field takes, for messages. */
export const takes = (field: Field): string => {
  switch (field.type) {
    case "text":
      return "a text";
    case "number":
      return "a number that DynamoDB stores: 0, or of a magnitude from 1e-130 to below 1e126";
    case "date":
      return 'a day such as "2023-05-01", or a moment in UTC such as "2023-05-01T10:00:00Z"';
    case "boolean":
      return "true or false";
    case "choice":
      return `one of ${listed(field)}`;
    case "choices":
      return `a list of ${listed(field)}, each once`;
    case "reference":
      return `the id of a "${field.node}"`;
    default:
      return unreachable(field);
  }
};

/** A value as it is stored; undefined where it does not fit the field. */
const fitted = (catalog: Catalog, field: Field, value: unknown): FieldValue["value"] | undefined => {
  switch (field.type) {
    case "text":
      return typeof value === "string" && isWellFormed(value) ? value : undefined;
    case "number":
      return isStorable(value) ? (value === 0 ? 0 : value) : undefined;
    case "date":
      return typeof value === "string" ? dateOf(value) : undefined;
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "choice":
      return field.choices.includes(value as string) ? (value as string) : undefined;
    case "choices": {
      if (!Array.isArray(value) || new Set(value).size < value.length) return undefined;
      return value.every((one) => field.choices.includes(one as string))
        ? field.choices.filter((choice) => value.includes(choice))
        : undefined;
    }
    case "reference":
      try {
        const id = checkNodeId(catalog, defined(catalog.nodes[field.node], field.node), value) as NodeId;
        // Rows are ordered by the key: an id of which none can be made is the id of no node.
        referenceKey(catalog, field.node, id);
        return id;
      } catch (error) {
        if (isEdgetableError(error)) return undefined;
        throw error;
      }
    default:
      return unreachable(field);
  }
};

/** True for what takes a value away: null, undefined, an empty text, an empty list. */
export const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);

/** Bytes of a text value: an item holds 400 KB (ServiceQuotas), beside its keys and other values. */
const MOST_BYTES = 100_000;

const isTooLong = (text: string): boolean => text.length * 3 > MOST_BYTES && keyBytes(text) > MOST_BYTES;

/**
 * A value as it is stored.
 *
 * @param row the row that it is for, for the message
 * @throws {grid.invalidValue} when it does not fit the field
 */
export const checkValue = (catalog: Catalog, field: Field, value: unknown, row?: Row): FieldValue["value"] => {
  const fits = fitted(catalog, field, value);
  const tooLong = typeof fits === "string" && isTooLong(fits);
  if (fits !== undefined && !tooLong) return fits;
  const where = row ? ` of the row ${exactText(row)}` : "";
  const why = tooLong ? `has more than ${MOST_BYTES} bytes` : `is not ${takes(field)}`;
  const text = typeof value === "number" ? String(value) : jsonText(value);
  const shown = text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
  throw new EdgetableError(
    "grid.invalidValue",
    `The value ${shown} for the ${field.type} field "${field.name}" (${field.fieldId})${where} ${why}.`,
    {
      details: { row, field: field.fieldId, name: field.name, type: field.type, value },
    },
  );
};

const MOST_SHOWN = 80;

/** Separates the choices of one cell: a comma would be quoted in most CSV files, and stands in many choices. */
const BETWEEN_CHOICES = ";";

const escapeChoice = (choice: string): string => choice.replaceAll(/[\\;]/g, String.raw`\$&`);

/** The parts of a cell, between separators that have no backslash before them. */
export const splitChoices = (text: string): readonly string[] =>
  (text.match(/(?:^|;)(?:[^\\;]|\\[^]?)*/g) ?? [])
    .map((part) => part.replace(/^;/, "").replaceAll(/\\([^])/g, "$1"))
    .filter((part) => part.trim() !== "");

/** A value as a text that {@link readText} reads back as the same value. */
export const writeText = (catalog: Catalog, from: Field, value: FieldValue["value"]): string => {
  if (from.type === "choices") return (value as readonly string[]).map(escapeChoice).join(BETWEEN_CHOICES);
  if (from.type !== "reference") return `${value as string | number | boolean}`;
  const { idFields } = defined(catalog.nodes[from.node], from.node);
  const [only] = idFields;
  return only !== undefined && idFields.length === 1 ? String((value as NodeId)[only]) : writeJsonCell(value);
};

const readReference = (catalog: Catalog, field: Field & { readonly type: "reference" }, text: string): FieldInput | undefined => {
  const { idFields } = defined(catalog.nodes[field.node], field.node);
  const [only = ""] = idFields;
  if (idFields.length > 1) return fitted(catalog, field, readJsonCell(text));
  const trimmed = text.trim();
  // A whole number that a number would round is the id of another row.
  const whole = /^[+-]?\d+$/.test(trimmed) ? BigInt(trimmed) : undefined;
  for (const one of [text, trimmed, readNumber(trimmed) ?? whole]) {
    const found = one === undefined ? undefined : fitted(catalog, field, { [only]: one });
    if (found !== undefined) return found;
  }
  return undefined;
};

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** A text as a number; undefined where it is none, or a whole number of more digits than a number keeps. */
export const readNumber = (text: string): number | undefined => {
  if (!NUMBER.test(text)) return undefined;
  const value = Number(text);
  const isRounded = /^[+-]?\d+$/.test(text) && Number.isFinite(value) && !sameDecimals(text.replace("+", ""), String(value));
  return isRounded ? undefined : value;
};

/** A text read as a value of a field, as from a CSV file; undefined where it is none. */
export const readText = (catalog: Catalog, field: Field, text: string): FieldInput | undefined => {
  const trimmed = text.trim();
  switch (field.type) {
    case "text":
      return isWellFormed(text) && !isTooLong(text) ? text : undefined;
    case "number": {
      const value = readNumber(trimmed);
      return isStorable(value) ? value : undefined;
    }
    case "date":
      return dateOf(trimmed);
    case "boolean":
      return /^true$/i.test(trimmed) ? true : /^false$/i.test(trimmed) ? false : undefined;
    case "choice":
      return [text, trimmed].find((one) => field.choices.includes(one));
    case "choices": {
      const named = (parts: readonly string[]): readonly string[] => [
        ...new Set(parts.map((part) => (field.choices.includes(part) ? part : part.trim())).filter((part) => part !== "")),
      ];
      const parts = fitted(catalog, field, named(splitChoices(text)));
      if (parts !== undefined) return parts;
      return field.choices.includes(trimmed) ? [trimmed] : fitted(catalog, field, named(text.split(",")));
    }
    case "reference":
      return readReference(catalog, field, text);
    default:
      return unreachable(field);
  }
};

/** Why a text is no value of a field, as the end of a sentence. */
export const unfitText = ({ type, name }: Field, text: string): string => {
  const field = `the ${type} field ${jsonText(name)}`;
  return type === "text" && isTooLong(text) ? `has more than ${MOST_BYTES} bytes, too many for ${field}` : `is not a value of ${field}`;
};

/** A value of one field as a value of another type; undefined where it does not survive. */
export const convert = (catalog: Catalog, from: Field, to: Field, value: FieldValue["value"]): FieldInput | undefined => {
  const same = fitted(catalog, to, value);
  if (same !== undefined) return same;
  if (to.type === "boolean" && from.type === "number") return value === 0 ? false : value === 1 ? true : undefined;
  if (to.type === "number" && from.type === "boolean") return value === true ? 1 : 0;
  // A user did not write the id of a node as text.
  if (from.type === "reference" && to.type !== "text") return undefined;
  const text = from.type === "reference" ? referenceKey(catalog, from.node, value as NodeId) : writeText(catalog, from, value);
  return readText(catalog, to, text);
};

/** A text as filters compare it: as the field orders it. */
export const comparable = (field: Field, value: FieldValue["value"]): FieldValue["value"] =>
  field.type === "text" && field.order === "letters" ? lettersOf(value as string) : value;
