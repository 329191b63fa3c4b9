import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { didYouMean, type Catalog } from "edgetable";
import { usageError } from "../failure.ts";
import { isTooDeep } from "../output/json.ts";
import { isRow } from "../row.ts";

/** Where a value comes from: the name of a column, or a constant. */
export type Source = string | { readonly value: unknown };
export type Sources = Readonly<Record<string, Source>>;

/** How one record becomes one row of the graph: a row of `db.load` with columns in place of values. */
export interface Target {
  readonly kind: "node" | "part" | "edge";
  readonly name: string;
  /** Undefined: every column that is not of an end, under its own name; of an edge in a mapping, where no end is given. */
  readonly row: Sources | undefined;
  /** For a part. Undefined: the columns that are called like the owner's id fields. */
  readonly owner: Sources | undefined;
  /** For an edge. Undefined: the columns `from.<id>`, or those that are called like the id fields. */
  readonly from: Sources | undefined;
  readonly to: Sources | undefined;
  /** The row is left out where this column is empty. */
  readonly when: string | undefined;
}

const kinds = ["node", "part", "edge"] as const;
const members = { node: "nodes", part: "parts", edge: "edges" } as const;

const checkName = (catalog: Catalog, kind: Target["kind"], name: string): void => {
  const known = Object.keys(catalog[members[kind]]);
  if (!known.includes(name)) throw usageError(`There is no ${kind} "${name}".${didYouMean(name, known)}`);
};

const isSource = (value: unknown): value is Source => typeof value === "string" || (isRow(value) && "value" in value);

const sourcesIn = (target: Readonly<Record<string, unknown>>, field: string, where: string): Sources | undefined => {
  const given = target[field];
  if (given === undefined) return undefined;
  if (isRow(given) && Object.values(given).every(isSource)) return given as Sources;
  throw usageError(
    `${where}: "${field}" must give a column for each attribute, such as { "name": "Full name" } or { "source": { "value": "import" } }.`,
  );
};

const fieldsOf = {
  node: ["node", "row", "when"],
  part: ["part", "owner", "row", "when"],
  edge: ["edge", "from", "to", "attributes", "when"],
} as const;

const parseTarget = (given: unknown, where: string, catalog: Catalog): Target => {
  const target = isRow(given) ? given : {};
  const kind = kinds.find((one) => typeof target[one] === "string");
  if (!kind) throw usageError(`${where} says neither node, part nor edge, such as { "node": "student", "row": { "studentId": "ID" } }.`);
  const stranger = Object.keys(target).find((field) => !(fieldsOf[kind] as readonly string[]).includes(field));
  if (stranger !== undefined) throw usageError(`${where} has an unknown "${stranger}".${didYouMean(stranger, fieldsOf[kind])}`);
  const name = target[kind] as string;
  checkName(catalog, kind, name);
  const sources = (field: string): Sources | undefined => sourcesIn(target, field, where);
  // Where the ends have columns of their own, the others belong to other rows.
  const none = target["from"] === undefined && target["to"] === undefined ? undefined : {};
  return {
    kind,
    name,
    row: kind === "edge" ? (sources("attributes") ?? none) : sources("row"),
    owner: sources("owner"),
    from: sources("from"),
    to: sources("to"),
    when: target["when"] as string | undefined,
  };
};

const parseFile = (path: string): unknown => {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (isTooDeep(value)) throw usageError(`${path} is nested deeper than any row can be stored.`);
    return value;
  } catch (error) {
    if (error instanceof SyntaxError) throw usageError(`${path} is no JSON: ${error.message}.`);
    throw error;
  }
};

/** Reads a mapping file: one target, or a list of them. @throws {cli.usage} with the place of the mistake. */
export const readMapping = (file: string, cwd: string, catalog: Catalog): readonly Target[] => {
  const value = parseFile(resolve(cwd, file));
  if (!Array.isArray(value)) return [parseTarget(value, file, catalog)];
  return value.map((one: unknown, at) => parseTarget(one, `${file}[${at}]`, catalog));
};

const split = (columns: Sources, prefix: string): Sources | undefined => {
  const own = Object.entries(columns).flatMap(([attribute, column]) =>
    attribute.startsWith(prefix) ? [[attribute.slice(prefix.length), column] as const] : [],
  );
  return own.length === 0 ? undefined : Object.fromEntries(own);
};

const withoutEnds = (columns: Sources): Sources =>
  Object.fromEntries(Object.entries(columns).filter(([attribute]) => !/^(?:from|to|owner)\./.test(attribute)));

/** The target of `--node`, `--part` or `--edge` with `--columns attribute=column,…`. @throws {cli.usage} */
export const targetOf = ({ kind, name }: Pick<Target, "kind" | "name">, columns: readonly string[], catalog: Catalog): Target => {
  checkName(catalog, kind, name);
  const none = { kind, name, row: undefined, owner: undefined, from: undefined, to: undefined, when: undefined };
  if (columns.length === 0) return none;
  const pairs = columns
    .flatMap((one) => one.split(","))
    .map((one): readonly [string, string] => {
      const at = one.indexOf("=");
      return at < 0 ? [one, one] : [one.slice(0, at), one.slice(at + 1)];
    });
  const sources: Sources = Object.fromEntries(pairs);
  return { ...none, row: withoutEnds(sources), from: split(sources, "from."), to: split(sources, "to."), owner: split(sources, "owner.") };
};

/** Every column that targets name. */
export const columnsOf = (targets: readonly Target[]): readonly string[] =>
  targets
    .flatMap(({ row, owner, from, to, when }) => [when, ...[row, owner, from, to].flatMap((sources) => Object.values(sources ?? {}))])
    .filter((source) => typeof source === "string");
