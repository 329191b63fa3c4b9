import { isDeepStrictEqual } from "node:util";
import type { WireCell } from "@edgetable/studio";
import type { StandardSchema } from "edgetable";
import { usageError } from "../failure.ts";
import { fromJson, isRow, type Row, toExactJson } from "../output/json.ts";
import { fitTexts, isoDate, problemsOf } from "../text/fit-texts.ts";

/** A value as a cell shows it. */
const cellText = (value: unknown): string => {
  if (value === undefined) return "";
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (value instanceof Set) return [...value].map(cellText).join(", ");
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return String(value);
  return typeof value === "string" ? value : toExactJson(value);
};

/** Why a write was refused whose cells no longer hold what was seen. */
export const CHANGED = "Somebody changed it meanwhile. The cells show what is stored now: change them again.";

type Comparison = "gte" | "lte" | "ne" | "gt" | "lt" | "eq";
type Holds = (order: number) => boolean;

const comparisons: readonly (readonly [sign: string, comparison: Comparison, holds: Holds])[] = [
  [">=", "gte", (order) => order >= 0],
  ["<=", "lte", (order) => order <= 0],
  ["!=", "ne", (order) => order !== 0],
  [">", "gt", (order) => order > 0],
  ["<", "lt", (order) => order < 0],
  ["=", "eq", (order) => order === 0],
];

/** A filter as a person writes it: a comparison, if it begins with a sign, and the value that is wanted, without the space around it. */
export const readFilter = (
  filter: string,
): {
  readonly comparison: Comparison | undefined;
  readonly holds: Holds | undefined;
  readonly wanted: string;
  /** What follows the sign, as it was written. */
  readonly written: string;
} => {
  const [sign = "", comparison, holds] = comparisons.find(([one]) => filter.startsWith(one)) ?? [];
  const written = filter.slice(sign.length);
  return { comparison, holds, wanted: written.trim(), written };
};

/**
 * Whether a cell has what a filter asks for: `=`, `!=`, `<`, `<=`, `>` or `>=` and a value, compared as numbers if both are;
 * without a sign, a text that the cell contains in any case. `=` alone finds cells without a value.
 */
export const matches = (value: unknown, filter: string): boolean => {
  const text = cellText(value);
  const { comparison, holds, wanted, written } = readFilter(filter);
  if (!holds) return text.toLowerCase().includes(filter.toLowerCase());
  if (comparison === "eq" && written !== "" && text === written) return true;
  const isWhole = (one: string): boolean => /^-?\d+$/.test(one);
  if (isWhole(text) && isWhole(wanted)) {
    // Every digit counts, also of numbers that a double cannot hold.
    const [one, other] = [BigInt(text), BigInt(wanted)];
    return holds(one < other ? -1 : one > other ? 1 : 0);
  }
  const [left, right] = [Number(text), Number(wanted)];
  if (text !== "" && wanted !== "" && !Number.isNaN(left) && !Number.isNaN(right)) return holds(left - right);
  if (text === "" && wanted !== "" && comparison !== "ne") return false;
  return holds(text < wanted ? -1 : text > wanted ? 1 : 0);
};

/** A number as it was written: an integer of any size, or a fraction that a number keeps. @throws {cli.usage} */
export const readNumber = (text: string): number | bigint => {
  if (/^[+-]?\d+$/.test(text)) {
    const whole = BigInt(text);
    return Number.isSafeInteger(Number(whole)) ? Number(whole) : whole;
  }
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) throw usageError(`"${text}" is not a number.`);
  const digits = text.replace(/e.*$/i, "").replaceAll(/[^\d]/g, "").replace(/^0+/, "");
  // Of the fractions of more digits, those are kept that a number is written as.
  if (digits.length > 15 && String(Number(text)) !== text) throw usageError(`${text} has ${digits.length} digits; a fraction keeps 15.`);
  return Number(text);
};

/** Members with commas between them; a JSON list where a member has a comma itself. */
const members = (text: string): readonly string[] => {
  if (text.startsWith("["))
    try {
      const list: unknown = JSON.parse(text);
      if (Array.isArray(list)) return list.map(String);
    } catch {
      // A text that begins with a bracket.
    }
  return text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
};

const readBytes = (text: string): Uint8Array => {
  const bytes = Buffer.from(text, "base64");
  if (bytes.toString("base64").replace(/=+$/, "") !== text.replace(/=+$/, "")) throw usageError("Bytes are written in base64.");
  return new Uint8Array(bytes);
};

const readBoolean = (text: string): boolean => {
  const value = new Map([
    ["true", true],
    ["false", false],
  ]).get(text.toLowerCase());
  if (value === undefined) throw usageError(`"${text}" is neither true nor false.`);
  return value;
};

const readDate = (text: string): Date => {
  const date = isoDate(text);
  if (!date) throw usageError(`"${text}" is not a date, such as 2024-05-06T07:08:09Z.`);
  return date;
};

const readJson = (text: string): unknown => {
  try {
    return fromJson(text);
  } catch (error) {
    throw usageError(`This is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
};

/** Reads a text as a value of the kind that the cell held; undefined if it held no value, or a text. */
const readAs = (was: unknown, text: string): unknown => {
  if (typeof was === "boolean") return readBoolean(text.trim());
  if (typeof was === "number" || typeof was === "bigint") return readNumber(text.trim());
  if (was instanceof Set) {
    const [first] = was;
    return new Set(members(text).map((one) => (first === undefined ? one : (readAs(first, one) ?? one))));
  }
  if (was instanceof Uint8Array) return readBytes(text.trim());
  if (was instanceof Date) return readDate(text.trim());
  if (typeof was === "object" && was !== null) return readJson(text);
  return undefined;
};

/** The value that a person means by a text in a cell, of the type that the cell held or else one that the schema accepts. */
export const readCell = async (schema: StandardSchema | undefined, name: string, text: string, was: unknown): Promise<unknown> => {
  if (typeof was === "string") return text;
  // Null is shown as this text.
  if (was === null && text.trim() === "null") return null;
  const fits = async (value: unknown): Promise<boolean> => !(await problemsOf(schema, { [name]: value })).has(name);
  const known = readAs(was, text);
  // A model may want a bigint where the cell held a number, or the reverse.
  if (known !== undefined) return typeof known === "number" && !(await fits(known)) && Number.isSafeInteger(known) ? BigInt(known) : known;
  if (!schema || (await fits(text))) return text;
  const [plain, texts] = [text.trim(), members(text)];
  const candidates = [
    () => readNumber(plain),
    () => BigInt(plain),
    async () => (await fitTexts(schema, { [name]: plain }, new Set([name])))[name],
    () => new Set(texts),
    () => new Set(texts.map(readNumber)),
    () => texts,
    () => readBytes(plain),
  ];
  for (const candidate of candidates)
    try {
      const value: unknown = await candidate();
      if (await fits(value)) return value;
    } catch {
      // Not of that kind.
    }
  return text;
};

/** Whether two values are stored as the same: members of sets and maps come in any order. Undefined stands for none. */
export const isSame = (one: unknown, other: unknown): boolean =>
  (one === undefined) === (other === undefined) && isDeepStrictEqual(fromJson(toExactJson([one])), fromJson(toExactJson([other])));

/** A cell as a page sends it. @throws {cli.usage} for anything else */
export const cellIn = (name: string, cell: unknown): WireCell => {
  if (cell === null || (isRow(cell) && (typeof cell["text"] === "string" || "value" in cell))) return cell as WireCell;
  throw usageError(`The cell "${name}" must be null, { "text": … } or { "value": … }.`);
};

/** What a cell holds after a change: null removes, and so does an empty text, unless the cell held a text. */
export const cellOf = async (schema: StandardSchema | undefined, name: string, given: unknown, was: unknown): Promise<unknown> => {
  const cell = cellIn(name, given);
  if (cell === null) return undefined;
  if (!("text" in cell)) return cell.value;
  return cell.text === "" && typeof was !== "string" ? undefined : readCell(schema, name, cell.text, was);
};

/** The values that cells of something new mean; empty texts have none. */
export const valuesOf = async (schema: StandardSchema | undefined, cells: Row): Promise<Row> => {
  const values: Record<string, unknown> = {};
  for (const [name, cell] of Object.entries(cells)) {
    const value = await cellOf(schema, name, cell, undefined);
    if (value !== undefined && value !== "") values[name] = value;
  }
  return values;
};
