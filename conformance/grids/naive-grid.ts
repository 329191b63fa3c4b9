import type { FieldInput, FieldValue } from "edgetable";

/** A field of the reference: what of a definition decides over order and comparisons. */
export interface NaiveField {
  readonly fieldId: string;
  readonly type: "text" | "number" | "date" | "boolean" | "choice" | "choices" | "reference";
  readonly choices?: readonly string[];
  readonly letters?: boolean;
}

/** A row of the reference. */
export interface NaiveRow {
  readonly issueId: string;
  readonly num: number;
  readonly name: string;
  readonly state: string;
  readonly estimate?: number;
  readonly values: Map<string, FieldValue["value"]>;
}

/** A condition on a column. */
export interface NaiveFilter {
  readonly column: string;
  readonly operator: string;
  readonly operand: unknown;
}

/** Conditions: all of them, at least one (`or`), or not all (`not`). */
export type NaiveCondition = NaiveFilter | { readonly or: readonly NaiveCondition[] } | { readonly not: readonly NaiveCondition[] };

/** What is asked of a grid. */
export interface NaiveAsk {
  /** Up to two columns. */
  readonly sort: readonly { readonly column: string; readonly descending: boolean }[];
  readonly filters: readonly NaiveCondition[];
  readonly empties: "last" | "first" | "without";
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
const letters = (text: string): string => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** The value of a column, as filters compare it. */
const valueOf = (fields: readonly NaiveField[], row: NaiveRow, column: string): unknown => {
  if (!column.startsWith("field:")) return row[column as "name"];
  const field = fields.find(({ fieldId }) => `field:${fieldId}` === column);
  const value = row.values.get(column.slice(6));
  return field?.letters && typeof value === "string" ? letters(value) : value;
};

/** What a value is ordered by. */
const rankOf = (field: NaiveField | undefined, value: unknown): string | number => {
  if (field?.type === "choice") return field.choices?.indexOf(value as string) ?? -1;
  if (field?.type === "choices") {
    const places = (field.choices ?? []).flatMap((choice, at) => ((value as readonly string[]).includes(choice) ? [at] : []));
    return places.map((place) => String(place).padStart(4, "0")).join(".");
  }
  if (field?.type === "reference") return (value as { readonly personId: string }).personId;
  return typeof value === "boolean" ? Number(value) : (value as string | number);
};

const compare = (a: string | number, b: string | number): number =>
  typeof a === "string" && typeof b === "string" ? byBytes(a, b) : Number(a) - Number(b);

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const holds = (value: unknown, { operator, operand }: NaiveFilter): boolean => {
  const order = (to: unknown): number => compare(value as string, to as string);
  switch (operator) {
    case "exists":
      return (value !== undefined) === operand;
    case "ne":
      return !same(value, operand);
    case "eq":
      return same(value, operand);
    case "in":
      return (operand as readonly unknown[]).some((one) => same(one, value));
    case "contains":
      return value !== undefined && (value as string).includes(operand as string);
    case "beginsWith":
      return value !== undefined && (value as string).startsWith(operand as string);
    case "gte":
      return value !== undefined && order(operand) >= 0;
    case "gt":
      return value !== undefined && order(operand) > 0;
    case "lt":
      return value !== undefined && order(operand) < 0;
    case "lte":
      return value !== undefined && order(operand) <= 0;
    default: {
      const [low, high] = operand as readonly [unknown, unknown];
      return value !== undefined && order(low) >= 0 && order(high) <= 0;
    }
  }
};

/** The ids of the rows of the answer, in order. */
export const naiveAnswer = (
  fields: readonly NaiveField[],
  rows: readonly NaiveRow[],
  { sort, filters, empties }: NaiveAsk,
): readonly string[] => {
  const passes = (row: NaiveRow, filter: NaiveCondition): boolean => {
    if ("or" in filter) return filter.or.some((one) => passes(row, one));
    if ("not" in filter) return !filter.not.every((one) => passes(row, one));
    return holds(valueOf(fields, row, filter.column), filter);
  };
  const own = (a: NaiveRow, b: NaiveRow): number => a.num - b.num || byBytes(a.issueId, b.issueId);
  const isEmpty = (row: NaiveRow, column: string): boolean => valueOf(fields, row, column) === undefined;
  const order = (a: NaiveRow, b: NaiveRow, [first, ...more]: NaiveAsk["sort"], descending = false): number => {
    // The order of rows with equal values turns with the direction of the last column.
    if (!first) return descending ? -own(a, b) : own(a, b);
    const { column } = first;
    if (isEmpty(a, column) !== isEmpty(b, column)) return isEmpty(a, column) === (empties === "first") ? -1 : 1;
    if (isEmpty(a, column)) return order(a, b, more);
    const field = fields.find(({ fieldId }) => `field:${fieldId}` === column);
    const rank = (row: NaiveRow): string | number => rankOf(field, valueOf(fields, row, column));
    const compared = compare(rank(a), rank(b));
    return (first.descending ? -compared : compared) || order(a, b, more, first.descending);
  };
  return rows
    .filter((row) => filters.every((filter) => passes(row, filter)))
    .filter((row) => empties !== "without" || sort.every(({ column }) => !isEmpty(row, column)))
    .toSorted((a, b) => order(a, b, sort))
    .map(({ issueId }) => issueId);
};

/** How many rows of the answer have each value of a column: in its order, those without one last. */
export const naiveGroups = (
  fields: readonly NaiveField[],
  rows: readonly NaiveRow[],
  ask: NaiveAsk & { readonly column: string },
): readonly (readonly [rank: string | number | undefined, rows: number])[] => {
  const { column } = ask;
  const passing = new Set(naiveAnswer(fields, rows, ask));
  const field = fields.find(({ fieldId }) => `field:${fieldId}` === column);
  const groups = new Map<string | number | undefined, number>();
  for (const row of rows) {
    if (!passing.has(row.issueId)) continue;
    const value = valueOf(fields, row, column);
    const rank = value === undefined ? undefined : rankOf(field, value);
    groups.set(rank, (groups.get(rank) ?? 0) + 1);
  }
  return [...groups].toSorted(([a], [b]) => (a === undefined ? 1 : b === undefined ? -1 : compare(a, b)));
};

/** The rank of a value by which a group is known. */
export const naiveRank = (fields: readonly NaiveField[], column: string, value: unknown): string | number | undefined => {
  const field = fields.find(({ fieldId }) => `field:${fieldId}` === column);
  return value === undefined ? undefined : rankOf(field, field?.letters ? letters(value as string) : value);
};

/** Values that fit a field, hostile ones included. */
export const fittingValues = (field: NaiveField): readonly NonNullable<FieldInput>[] => {
  switch (field.type) {
    case "text":
      return ["a", "a#", "a$", "a b", "A", "ä", "b", "~", "~a", "\u0001", "z".repeat(40), "𝄞", "\uffff", "ab"];
    case "number":
      return [0, -1, 1, 10, 2, -10.5, 0.1, 1e21, -1e-7, 42];
    case "date":
      return ["2023-05-01", "2023-05-02", "2023-05-01T10:00:00.000Z", "1999-12-31", "2024-02-29"];
    case "boolean":
      return [true, false];
    case "choice":
      return field.choices ?? [];
    case "choices":
      return [["small"], ["large", "small"], ["large"], ["medium", "large"]]
        .map((some) => (field.choices ?? []).filter((one) => some.includes(one)))
        .filter((some) => some.length > 0);
    default:
      return [{ personId: "p1" }, { personId: "p10" }, { personId: "p2" }, { personId: "p#" }];
  }
};
