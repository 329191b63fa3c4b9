// The plain side: what rows of a drawn layout are, which of them an index holds, and which a search finds.
import type { Random } from "@edgetable/testing";
import { type Drawn, KINDS, pickOf, type Row, valueFor } from "./draw.ts";

export const chance = (random: Random, share: number): boolean => random() < share;

const at = (row: Row, path: string): unknown => {
  let value: unknown = row;
  for (const step of path.split(".")) value = typeof value === "object" && value !== null ? (value as Row)[step] : undefined;
  return value;
};

const pathsIn = (template: string): readonly string[] => [...template.matchAll(/\{([^{}:]+)(?::[^{}]*)?\}/g)].map(([, name = ""]) => name);

export const pathsOf = (template: string): readonly string[] => pathsIn(template).map((path) => path.replace("?", ""));

/** Whether a row has what a template needs: behind a field that may end the key, nothing is needed where it does. */
const isMade = (template: string, row: Row): boolean => {
  for (const path of pathsIn(template)) {
    if (at(row, path.replace("?", "")) !== undefined) continue;
    return path.endsWith("?") && !template.startsWith("{" + path);
  }
  return true;
};

/** What a source of a filled field makes of a row. */
const filledBy = (source: Drawn["fills"][number]["sources"][number], row: Row): string | undefined => {
  const { with: needed, value } = typeof source === "string" ? { with: undefined, value: source } : source;
  if (needed !== undefined && at(row, needed) === undefined) return undefined;
  if (pathsIn(value).some((path) => at(row, path) === undefined)) return undefined;
  return value.replaceAll(/\{([^{}]+)\}/g, (_, path: string) => String(at(row, path)));
};

/** A row as reads give it. */
export const shown = ({ fills }: Drawn, row: Row): Row => {
  const all: Record<string, unknown> = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined));
  for (const { field, sources } of fills) {
    delete all[field];
    for (const source of sources) {
      const value = filledBy(source, row);
      if (value === undefined) continue;
      all[field] = value;
      break;
    }
  }
  return all;
};

const fits = (row: Row, when: Row): boolean =>
  Object.entries(when).every(([field, wanted]) => {
    const value = row[field];
    if (Array.isArray(wanted)) return wanted.includes(value);
    if (typeof wanted === "object" && wanted !== null) return (value !== undefined) === (wanted as { exists: boolean }).exists;
    return value === wanted;
  });

/** Whether an index holds a row's item. */
export const isIn = (drawn: Drawn, name: string, row: Row): boolean => {
  const index = drawn.indexes.find((one) => one.name === name)!;
  const keys = [index.partitionKey, ...(index.sortKey ? [index.sortKey] : [])];
  const when = keys.map((key) => drawn.when[key]).find((one) => one !== undefined);
  // Where all fields of both keys may be missing, one of them has to be there.
  const templates = keys.map((key) => drawn.ticketKeys[key] ?? "{id}");
  const paths = templates.flatMap(pathsIn);
  if (paths.every((path) => path.endsWith("?")) && pathsOf(templates.join()).every((path) => row[path] === undefined)) return false;
  return keys.every((key) => {
    const template = drawn.ticketKeys[key];
    if (template === undefined) return key in KINDS && row[key] !== undefined;
    return (when === undefined || fits(row, when)) && isMade(template, row);
  });
};

const plain = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value);
const compare = (a: unknown, b: unknown): number | undefined => {
  const [left, right] = [plain(a), plain(b)];
  if (typeof left === "number" && typeof right === "number") return left - right;
  return typeof left === "string" && typeof right === "string" ? Buffer.compare(Buffer.from(left), Buffer.from(right)) : undefined;
};
const same = (a: unknown, b: unknown): boolean => JSON.stringify(plain(a)) === JSON.stringify(plain(b));

const holds = (value: unknown, operator: string, operand: unknown): boolean => {
  const order = value === undefined || Array.isArray(operand) ? undefined : compare(value, operand);
  switch (operator) {
    case "eq":
      return value !== undefined && same(value, operand);
    case "ne":
      return value === undefined || !same(value, operand);
    case "exists":
      return (value !== undefined) === operand;
    case "in":
      return (operand as readonly unknown[]).some((one) => same(one, value));
    case "beginsWith":
      return typeof value === "string" && value.startsWith(operand as string);
    case "between": {
      const [low, high] = operand as readonly [unknown, unknown];
      const [a, b] = [compare(value, low), compare(value, high)];
      return a !== undefined && b !== undefined && a >= 0 && b <= 0;
    }
    case "gt":
      return order !== undefined && order > 0;
    case "gte":
      return order !== undefined && order >= 0;
    case "lt":
      return order !== undefined && order < 0;
    default:
      return order !== undefined && order <= 0;
  }
};

export type Where = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export const drawCondition = (random: Random, field: string, rows: readonly Row[]): Readonly<Record<string, unknown>> => {
  const held = rows.map((row) => at(row, field)).filter((value) => value !== undefined);
  const [base] = field.split(".");
  const value = (): unknown =>
    held.length > 0 && chance(random, 0.8) ? pickOf(random, held) : field.includes(".") ? "a" : valueFor(random, base!);
  const kind = KINDS[base!] ?? "text";
  const isText = kind === "text" || field.includes(".");
  const operators = ["eq", "in", "exists", "ne"];
  if (kind !== "flag") operators.push("gt", "gte", "lt", "lte", "between", "between");
  if (isText) operators.push("beginsWith", "beginsWith");
  const operator = pickOf(random, operators);
  if (operator === "exists") return { exists: chance(random, 0.7) };
  if (operator === "in")
    return { in: [value(), value()].filter((one, index, all) => all.findIndex((other) => same(one, other)) === index) };
  if (operator === "between") return { between: [value(), value()] };
  if (operator === "beginsWith") return { beginsWith: String(value()).slice(0, 1 + Math.floor(random() * 2)) };
  return { [operator]: value() };
};

export const meets = (row: Row, where: Where): boolean =>
  Object.entries(where).every(([path, condition]) =>
    Object.entries(condition).every(([operator, operand]) => holds(at(row, path), operator, operand)),
  );

export const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) =>
    typeof one === "object" && one !== null && !Array.isArray(one) && !(one instanceof Date)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
export const sorted = (rows: readonly unknown[]): readonly string[] => rows.map(textOf).toSorted();
