import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { didYouMean, type Catalog } from "edgetable";
import { usageError } from "../failure.ts";
import { isRow, isTooDeep, parseJson, revive } from "../output/json.ts";

/** The origin of a value: the name of a column, or a constant. */
export type Source = string | { readonly value: unknown };
export type Sources = Readonly<Record<string, Source>>;

/** How one record becomes one row of the graph: a row of `db.load` with columns in place of values. */
export interface Target {
  readonly kind: "node" | "part" | "edge";
  readonly name: string;
  /** Undefined: every column that does not belong to an end, under its own name. For an edge in a mapping file, only if no end is given. */
  readonly row: Sources | undefined;
  /** For a part. Undefined: the columns named like the owner's id fields. */
  readonly owner: Sources | undefined;
  /** For an edge. Undefined: the columns `from.<id>`, or those named like the id fields. */
  readonly from: Sources | undefined;
  readonly to: Sources | undefined;
  /** The row is skipped if this column is empty. */
  readonly when: string | undefined;
}

const kinds = ["node", "part", "edge"] as const;

const fieldsOf = {
  node: ["node", "row", "when"],
  part: ["part", "owner", "row", "when"],
  edge: ["edge", "from", "to", "attributes", "when"],
} as const;

const checkName = (catalog: Catalog, kind: Target["kind"], name: string): void => {
  const known = Object.keys(catalog[`${kind}s`]);
  if (!known.includes(name)) throw usageError(`There is no ${kind} "${name}".${didYouMean(name, known)}`);
};

const parseTarget = (given: unknown, where: string, catalog: Catalog): Target => {
  const target = isRow(given) ? given : {};
  const kind = kinds.find((one) => typeof target[one] === "string");
  if (!kind) throw usageError(`${where} needs "node", "part" or "edge", as in { "node": "student", "row": { "studentId": "ID" } }.`);
  const unknown = Object.keys(target).find((field) => !(fieldsOf[kind] as readonly string[]).includes(field));
  if (unknown !== undefined) throw usageError(`${where} has an unknown field "${unknown}".${didYouMean(unknown, fieldsOf[kind])}`);
  const name = target[kind] as string;
  checkName(catalog, kind, name);
  const sources = (field: string): Sources | undefined => {
    const value = target[field];
    if (value === undefined) return undefined;
    if (isRow(value) && Object.values(value).every((one) => typeof one === "string" || (isRow(one) && "value" in one)))
      return value as Sources;
    throw usageError(
      `${where}: "${field}" must give a column for each attribute, such as { "name": "Full name" } or { "source": { "value": "import" } }.`,
    );
  };
  const { when } = target;
  if (when !== undefined && typeof when !== "string") throw usageError(`${where}: "when" must name a column, such as "Course".`);
  // If the ends have their own columns, the other columns belong to other rows.
  const others = target["from"] === undefined && target["to"] === undefined ? undefined : {};
  return {
    kind,
    name,
    row: kind === "edge" ? (sources("attributes") ?? others) : sources("row"),
    owner: sources("owner"),
    from: sources("from"),
    to: sources("to"),
    when,
  };
};

/** The mapping with its constants as a row has them: with dates, sets and all digits of whole numbers. */
const reviveConstants = (value: unknown, path: string): unknown => {
  try {
    return revive(value);
  } catch (error) {
    if (error instanceof SyntaxError) throw usageError(`${path}: ${error.message}.`);
    throw error;
  }
};

/** Reads a mapping file: one target, or a list of them. @throws {cli.usage} with the place of the error */
export const readMapping = (file: string, cwd: string, catalog: Catalog): readonly Target[] => {
  const path = resolve(cwd, file);
  let value: unknown;
  try {
    value = parseJson(readFileSync(path, "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) throw usageError(`${path} is not valid JSON: ${error.message}.`);
    throw error;
  }
  if (isTooDeep(value)) throw usageError(`${path} is nested more deeply than a row can be stored.`);
  value = reviveConstants(value, path);
  if (!Array.isArray(value)) return [parseTarget(value, file, catalog)];
  return value.map((one: unknown, at) => parseTarget(one, `${file}[${at}]`, catalog));
};

const endsOf: Readonly<Record<Target["kind"], readonly string[]>> = { node: [], part: ["owner"], edge: ["from", "to"] };

/** The fields of an end's id; none if the end may have several types. */
const idOfEnd = ({ edges, parts, ends }: Catalog, name: string, end: string): readonly string[] => {
  const types = end === "owner" ? [parts[name]?.definition.of ?? ""] : (edges[name]?.[end as "from" | "to"] ?? []);
  const [type] = types;
  return types.length === 1 && type !== undefined ? (ends[type]?.idFields ?? []) : [];
};

/** The target of `--node`, `--part` or `--edge` with `--columns attribute=column,…`. @throws {cli.usage} */
export const targetOf = ({ kind, name }: Pick<Target, "kind" | "name">, columns: readonly string[], catalog: Catalog): Target => {
  checkName(catalog, kind, name);
  if (columns.length === 0) return { kind, name, row: undefined, owner: undefined, from: undefined, to: undefined, when: undefined };
  const row: Record<string, string> = {};
  const ends: Record<string, Record<string, string>> = {};
  for (const one of columns.flatMap((list) => list.split(","))) {
    const at = one.indexOf("=");
    const [attribute, column] = at < 0 ? [one, one] : [one.slice(0, at), one.slice(at + 1)];
    const [, end, field] = /^(from|to|owner)\.(.*)$/s.exec(attribute) ?? [];
    if (end === undefined || field === undefined || !endsOf[kind].includes(end)) row[attribute] = column;
    else (ends[end] ??= {})[field] = column;
  }
  // An end whose fields are not named so takes them by their names alone.
  const unnamed = endsOf[kind].filter((end) => !ends[end]).map((end) => [end, idOfEnd(catalog, name, end)] as const);
  for (const [end, fields] of unnamed) {
    const given = fields.filter((field) => Object.hasOwn(row, field));
    const shared = given.find((field) => unnamed.some(([other, others]) => other !== end && others.includes(field)));
    if (shared !== undefined) throw usageError(`"${shared}" is in the id of both ends: give from.${shared} and to.${shared}.`);
    if (given.length > 0) ends[end] = Object.fromEntries(fields.map((field) => [field, row[field] ?? field]));
    for (const field of given) delete row[field];
  }
  return { kind, name, row, from: ends["from"], to: ends["to"], owner: ends["owner"], when: undefined };
};

/** All columns that the targets use. */
export const columnsOf = (targets: readonly Target[]): readonly string[] => {
  const columns: string[] = [];
  for (const { row, owner, from, to, when } of targets) {
    if (when !== undefined) columns.push(when);
    for (const source of Object.values({ ...row }).concat(
      Object.values({ ...owner }),
      Object.values({ ...from }),
      Object.values({ ...to }),
    ))
      if (typeof source === "string") columns.push(source);
  }
  return columns;
};
