import type { Catalog, StandardSchema } from "edgetable";
import { createFitter, type Fitter } from "../text/fit-texts.ts";
import type { Source, Sources, Target } from "./mapping.ts";
import type { FileRecord } from "./record.ts";
import { isRow, type Row } from "../row.ts";

/** A row as `db.load` takes it. */
export type LoadRow = Row;

const valueAt = (record: Row, column: string): unknown => {
  if (Object.hasOwn(record, column)) return record[column];
  const dot = column.indexOf(".");
  const inner = dot < 0 ? undefined : record[column.slice(0, dot)];
  return isRow(inner) ? valueAt(inner, column.slice(dot + 1)) : undefined;
};

const take = (record: Row, sources: Sources): Row => {
  const value = (source: Source): unknown => (typeof source === "string" ? valueAt(record, source) : source.value);
  return Object.fromEntries(
    Object.entries(sources).flatMap(([attribute, source]) => (value(source) === undefined ? [] : [[attribute, value(source)]])),
  );
};

const ownNames = (names: readonly string[]): Sources => Object.fromEntries(names.map((name) => [name, name]));

const endSources = (record: Row, end: "from" | "to" | "owner", fields: readonly string[]): Sources => {
  const dotted = fields.filter((field) => valueAt(record, `${end}.${field}`) !== undefined);
  return dotted.length > 0 ? Object.fromEntries(dotted.map((field) => [field, `${end}.${field}`])) : ownNames(fields);
};

/** Turns records into rows: takes the columns, and gives texts the types that the schemas want. */
export interface RowFitter {
  fit(record: FileRecord, target: Target | undefined): Promise<LoadRow>;
}

interface Fitting {
  readonly catalog: Catalog;
  readonly fitter: (schema: StandardSchema | undefined) => Fitter;
}

const nodeSchema = (catalog: Catalog, types: readonly string[]): StandardSchema | undefined =>
  types.length === 1 ? catalog.nodes[types[0] ?? ""]?.definition.schema : undefined;
const idFields = (catalog: Catalog, types: readonly string[]): readonly string[] =>
  types.length === 1 ? (catalog.nodes[types[0] ?? ""]?.idFields ?? []) : [];

const fitEdge = async ({ catalog, fitter }: Fitting, record: FileRecord, target: Target): Promise<LoadRow> => {
  const entry = catalog.edges[target.name];
  const schemaOf = (end: "from" | "to"): Fitter => fitter(nodeSchema(catalog, entry?.[end] ?? []));
  const sources = {
    from: target.from ?? endSources(record.value, "from", idFields(catalog, entry?.from ?? [])),
    to: target.to ?? endSources(record.value, "to", idFields(catalog, entry?.to ?? [])),
  };
  const used = new Set([...Object.values(sources.from), ...Object.values(sources.to), "from", "to"]);
  const attributes = target.row ?? ownNames(Object.keys(record.value).filter((name) => !used.has(name)));
  return {
    edge: target.name,
    from: await schemaOf("from")(take(record.value, sources.from), record.texts),
    to: await schemaOf("to")(take(record.value, sources.to), record.texts),
    attributes: await fitter(entry?.definition.schema)(take(record.value, attributes), record.texts),
  };
};

const fitNode = async ({ catalog, fitter }: Fitting, { value, texts }: FileRecord, target: Target): Promise<LoadRow> => {
  const sources = target.row ?? ownNames(Object.keys(value));
  return { node: target.name, row: await fitter(catalog.nodes[target.name]?.definition.schema)(take(value, sources), texts) };
};

const fitPart = async ({ catalog, fitter }: Fitting, { value, texts }: FileRecord, target: Target): Promise<LoadRow> => {
  const entry = catalog.parts[target.name];
  const owners = entry ? [entry.definition.of] : [];
  const owner = target.owner ?? endSources(value, "owner", idFields(catalog, owners));
  const used = new Set([...Object.values(owner), "owner"]);
  const row = target.row ?? ownNames(Object.keys(value).filter((name) => !used.has(name)));
  return {
    part: target.name,
    owner: await fitter(nodeSchema(catalog, owners))(take(value, owner), texts),
    row: await fitter(entry?.definition.schema)(take(value, row), texts),
  };
};

const fits = { node: fitNode, part: fitPart, edge: fitEdge } as const;

/** What a row that says itself what it is may hold, by its kind; what its attributes stand in comes last. */
const members = {
  node: ["node", "row"],
  part: ["part", "owner", "row"],
  edge: ["edge", "from", "to", "reverse", "attributes"],
} as const;

const kindOf = (row: Row): keyof typeof members | undefined => (["edge", "node", "part"] as const).find((kind) => row[kind] !== undefined);

/** What is wrong with the members of a row that says itself what it is: one that nobody would read. */
export const strayMember = ({ value }: FileRecord): string | undefined => {
  const kind = kindOf(value);
  const known: readonly string[] = kind ? members[kind] : [];
  const stray = Object.keys(value).find((name) => !known.includes(name));
  return kind && stray !== undefined
    ? `"${stray}" is no member of a row that says "${kind}": attributes stand in its "${known.at(-1) ?? ""}".`
    : undefined;
};

/** The schema of each member of a row that says itself what it is. */
const declaredSchemas = (catalog: Catalog, value: Row): Readonly<Record<string, StandardSchema | undefined>> => {
  const ends = (types: Readonly<Record<string, readonly string[]>>): Readonly<Record<string, StandardSchema | undefined>> =>
    Object.fromEntries(
      Object.entries(types).map(([end, named]) => {
        const id = value[end];
        return [end, nodeSchema(catalog, isRow(id) && typeof id["type"] === "string" ? [id["type"]] : named)];
      }),
    );
  const [edge, part] = [catalog.edges[String(value["edge"])], catalog.parts[String(value["part"])]];
  if (edge) return { attributes: edge.definition.schema, ...ends({ from: edge.from, to: edge.to }) };
  if (part) return { row: part.definition.schema, ...ends({ owner: [part.definition.of] }) };
  return { row: catalog.nodes[String(value["node"])]?.definition.schema };
};

/** Rows that say themselves what they are: only dates are still texts. */
const fitDeclared = async ({ catalog, fitter }: Fitting, { value }: FileRecord): Promise<LoadRow> => {
  const fitted: Record<string, unknown> = { ...value };
  for (const [name, schema] of Object.entries(declaredSchemas(catalog, value))) {
    const member = value[name];
    if (isRow(member)) fitted[name] = await fitter(schema)(member, "dates");
  }
  return fitted;
};

/** A fitter for one load; it learns each column's type from the first rows. */
export const createRowFitter = (catalog: Catalog): RowFitter => {
  const fitters = new Map<unknown, Fitter>();
  const fitter = (schema: StandardSchema | undefined): Fitter => {
    const known = fitters.get(schema) ?? createFitter(schema);
    fitters.set(schema, known);
    return known;
  };
  const fitting: Fitting = { catalog, fitter };
  return { fit: (record, target) => (target ? fits[target.kind](fitting, record, target) : fitDeclared(fitting, record)) };
};
