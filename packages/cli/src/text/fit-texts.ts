import type { StandardSchema } from "edgetable";
import { fromJson, isExact, isRow, numberFrom, type Row } from "../output/json.ts";

/**
 * Reads an ISO date such as 2024-05-06 or 2024-05-06T07:08:09Z; undefined if that day or time does not exist, and for a time without
 * its zone, which would be another moment on another machine.
 */
export const isoDate = (text: string): Date | undefined => {
  const [day] = /^\d{4}-\d{2}-\d{2}(?=T.*(?:Z|[+-]\d{2}:?\d{2})$|$)/.exec(text) ?? [];
  if (day === undefined) return undefined;
  const date = new Date(text);
  // JavaScript reads the 30th of February as the 1st of March.
  const noon = new Date(`${day}T12:00:00Z`);
  return Number.isNaN(date.getTime()) || !noon.toISOString().startsWith(day) ? undefined : date;
};

const asSet = (value: unknown): ReadonlySet<unknown> | undefined => (Array.isArray(value) ? new Set(value) : undefined);

const jsonOf = (text: string): unknown => {
  if (!/^[[{"]/.test(text)) return undefined;
  try {
    return fromJson(text);
  } catch {
    return undefined;
  }
};

/** Values that a text can represent, the most likely first. Each reading returns undefined if it does not apply. */
const readings = {
  number: (text: string) => (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? numberFrom(text) : undefined),
  bigint: (text: string) => (/^[+-]?\d+$/.test(text) ? BigInt(text) : undefined),
  boolean: (text: string) => (/^(?:true|false)$/i.test(text) ? text.toLowerCase() === "true" : undefined),
  nothing: (text: string) => (text === "null" ? null : undefined),
  date: isoDate,
  json: jsonOf,
  set: (text: string) => asSet(jsonOf(text)),
} as const;

type Reading = keyof typeof readings;
const everyReading = Object.keys(readings) as readonly Reading[];

/** Which texts may stand for other values. `all`: any, as in CSV; `dates`: only dates, as in JSON; a set: these fields. */
export type Texts = "all" | "dates" | ReadonlySet<string>;

/**
 * Converts the texts and bigints of a row to the types that the schema accepts. Values that fit in no reading stay unchanged.
 *
 * @param nullable attributes that the row lacks. They become null if the schema requires them and null is one of their values
 */
export type Fitter = (row: Row, texts: Texts, nullable?: readonly string[]) => Promise<Row>;

/** Validates a row. Returns the schema's message for each attribute that it rejects. */
export const problemsOf = async (schema: StandardSchema | undefined, row: Row): Promise<ReadonlyMap<string, string>> => {
  const { issues = [] } = (await schema?.["~standard"].validate(row)) ?? {};
  const problems = new Map<string, string>();
  for (const { path, message } of issues) {
    const step = path?.[0];
    if (step !== undefined) problems.set(String(typeof step === "object" ? step.key : step), message);
  }
  return problems;
};

/** A value with its bigints as numbers: those that a double holds exactly, or all. */
const toNumbers = (value: unknown, all = false): unknown => {
  if (typeof value === "bigint") return all || isExact(value) ? Number(value) : value;
  if (Array.isArray(value)) return value.map((inner) => toNumbers(inner, all));
  if (value instanceof Set) return new Set([...value].map((inner) => toNumbers(inner, all)));
  return isRow(value) ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toNumbers(inner, all)])) : value;
};

/**
 * A fitter for one schema. A schema does not tell its types, so the fitter tries other readings of a text that the schema
 * rejects, and tries the accepted one first in the next row.
 */
export const createFitter = (schema: StandardSchema | undefined): Fitter => {
  const learnt = new Map<string, Reading>();
  return async (row, texts, nullable = []) => {
    if (!schema || (typeof texts !== "string" && texts.size === 0)) return row;
    const mayConvert = (field: string): boolean => typeof texts === "string" || texts.has(field);
    const fitted: Record<string, unknown> = { ...row };
    const nulls: string[] = [];
    const accepts = async (field: string, value: unknown): Promise<boolean> =>
      !(await problemsOf(schema, { ...fitted, [field]: value })).has(field);
    for (const [field, reading] of learnt) {
      const text = row[field];
      if (typeof text === "string" && mayConvert(field)) fitted[field] = readings[reading](text) ?? text;
    }
    for (const field of (await problemsOf(schema, fitted)).keys()) {
      const text = row[field];
      if (text !== undefined) fitted[field] = text;
      else if (nullable.includes(field) && (await accepts(field, null))) {
        fitted[field] = null;
        nulls.push(field);
      }
      if (typeof text === "bigint" || typeof text === "object") {
        // DynamoDB has one number type: the number 1e21 is read, and dumped, as a bigint. JSON has no sets.
        for (const form of [toNumbers(text), asSet(text)]) {
          if (form === undefined || !(await accepts(field, form))) continue;
          fitted[field] = form;
          break;
        }
      }
      if (typeof text !== "string" || !mayConvert(field)) continue;
      for (const reading of texts === "dates" ? (["date"] as const) : everyReading) {
        const value = readings[reading](text);
        // A write keeps all digits of a whole number where the schema takes numbers.
        if (value === undefined || !((await accepts(field, value)) || (await accepts(field, toNumbers(value, true))))) continue;
        fitted[field] = value;
        learnt.set(field, reading);
        break;
      }
    }
    if (nulls.length > 0) {
      // A schema that coerces accepts null, and makes 0 or a day of 1970 of it.
      const made = await schema["~standard"].validate(fitted);
      if (!made.issues) for (const field of nulls) if ((made.value as Row)[field] !== null) delete fitted[field];
    }
    return fitted;
  };
};

/** {@link createFitter} for a single row. */
export const fitTexts = (schema: StandardSchema | undefined, row: Row, texts: ReadonlySet<string>): Promise<Row> =>
  createFitter(schema)(row, texts);
