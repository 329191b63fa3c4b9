import type { StandardSchema } from "edgetable";
import { isTooDeep } from "../output/json.ts";
import { isoDate } from "./iso-date.ts";
import { isRow, type Row } from "../row.ts";

const asJson = (text: string): unknown => {
  if (!/^[[{"]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isTooDeep(value) ? undefined : value;
  } catch {
    return undefined;
  }
};

/** What a text may stand for beside itself, the likeliest first; each gives undefined where it does not. */
const readings = {
  number: (text: string) => (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined),
  bigint: (text: string) => (/^[+-]?\d+$/.test(text) ? BigInt(text) : undefined),
  boolean: (text: string) => (/^(?:true|false)$/i.test(text) ? text.toLowerCase() === "true" : undefined),
  nothing: (text: string) => (text === "null" ? null : undefined),
  date: isoDate,
  json: asJson,
} as const;

type Reading = keyof typeof readings;
const everyReading = Object.keys(readings) as readonly Reading[];

/** `all`: any text may stand for something else, as in CSV; `dates`: only dates are texts, as in JSON. */
export type Texts = "all" | "dates" | ReadonlySet<string>;

/** Gives the texts of a row, and its bigints, the types that its schema wants; what no reading makes fit stays as it is. */
export type Fitter = (row: Row, texts: Texts) => Promise<Row>;

/** What a schema has against the attributes of a row, by their names. */
export const problemsOf = async (schema: StandardSchema | undefined, row: Row): Promise<ReadonlyMap<string, string>> => {
  const { issues = [] } = (await schema?.["~standard"].validate(row)) ?? {};
  return new Map(
    issues.flatMap(({ path, message }) => {
      const step = path?.[0];
      return step === undefined ? [] : [[String(typeof step === "object" ? step.key : step), message] as const];
    }),
  );
};

const isText = (texts: Texts, field: string): boolean => typeof texts === "string" || texts.has(field);

const inNumbers = (value: unknown): unknown => {
  if (typeof value === "bigint") return Number.isFinite(Number(value)) && BigInt(Number(value)) === value ? Number(value) : value;
  if (Array.isArray(value)) return value.map(inNumbers);
  if (value instanceof Set) return new Set([...value].map(inNumbers));
  return isRow(value) ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, inNumbers(inner)])) : value;
};

// DynamoDB has one type for both: what was written as the number 1e21 is read, and dumped, as a bigint.
const fitNumbers = async (schema: StandardSchema, row: Record<string, unknown>, field: string): Promise<void> => {
  const value = inNumbers(row[field]);
  if (!(await problemsOf(schema, { ...row, [field]: value })).has(field)) row[field] = value;
};

/**
 * A fitter for one schema. A schema cannot be asked for its types, so a text that it refuses is offered
 * in other readings, and the one that it took is tried first in the next row.
 */
export const createFitter = (schema: StandardSchema | undefined): Fitter => {
  const learnt = new Map<string, Reading>();
  const fitField = async (row: Record<string, unknown>, field: string, texts: Texts): Promise<void> => {
    const text = row[field];
    if (schema && (typeof text === "bigint" || typeof text === "object")) return fitNumbers(schema, row, field);
    if (typeof text !== "string" || !isText(texts, field) || !schema) return;
    for (const reading of texts === "dates" ? (["date"] as const) : everyReading) {
      const value = readings[reading](text);
      if (value === undefined || (await problemsOf(schema, { ...row, [field]: value })).has(field)) continue;
      row[field] = value;
      learnt.set(field, reading);
      return;
    }
  };
  const asLearnt = (row: Row, texts: Texts): Record<string, unknown> => {
    const fitted: Record<string, unknown> = { ...row };
    for (const [field, reading] of learnt) {
      const text = row[field];
      if (typeof text === "string" && isText(texts, field)) fitted[field] = readings[reading](text) ?? text;
    }
    return fitted;
  };
  return async (row, texts) => {
    if (!schema || (typeof texts !== "string" && texts.size === 0)) return row;
    const fitted = asLearnt(row, texts);
    for (const field of (await problemsOf(schema, fitted)).keys()) {
      if (row[field] !== undefined) fitted[field] = row[field];
      await fitField(fitted, field, texts);
    }
    return fitted;
  };
};

/** {@link createFitter} for a single row. */
export const fitTexts = (schema: StandardSchema | undefined, row: Row, texts: ReadonlySet<string>): Promise<Row> =>
  createFitter(schema)(row, texts);
