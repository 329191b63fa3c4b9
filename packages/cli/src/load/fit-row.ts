import type { Catalog, StandardSchema } from "edgetable";
import { isRow, type Row } from "../output/json.ts";
import { createFitter, type Fitter, type Texts } from "../text/fit-texts.ts";
import type { Sources, Target } from "./mapping.ts";
import type { FileRecord } from "./read-file.ts";

/** The value of a column; `a.b` is the member b of the value a. */
export const valueAt = (record: Row, column: string): unknown => {
  if (Object.hasOwn(record, column)) return record[column];
  const dot = column.indexOf(".");
  const inner = dot < 0 ? undefined : record[column.slice(0, dot)];
  return isRow(inner) ? valueAt(inner, column.slice(dot + 1)) : undefined;
};

const take = (record: Row, sources: Sources): Row => {
  const taken = Object.entries(sources).map(
    ([attribute, source]) => [attribute, typeof source === "string" ? valueAt(record, source) : source.value] as const,
  );
  return Object.fromEntries(taken.filter(([, value]) => value !== undefined));
};

const ownNames = (names: readonly string[]): Sources => Object.fromEntries(names.map((name) => [name, name]));

/** The columns of an end's id: `from.studentId` if there are such columns, else `studentId`. */
const endSources = (record: Row, end: "from" | "to" | "owner", fields: readonly string[]): Sources => {
  const dotted = fields.filter((field) => valueAt(record, `${end}.${field}`) !== undefined);
  return dotted.length > 0 ? Object.fromEntries(dotted.map((field) => [field, `${end}.${field}`])) : ownNames(fields);
};

const members = {
  node: ["node", "row"],
  part: ["part", "owner", "row"],
  edge: ["edge", "from", "to", "reverse", "attributes"],
} as const;

/** The problem with a row that says itself what it is, if it has a member that would be ignored. */
export const unknownMember = ({ value }: FileRecord): string | undefined => {
  const kind = (["edge", "node", "part"] as const).find((one) => value[one] !== undefined);
  if (!kind) return undefined;
  const known: readonly string[] = members[kind];
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  return unknown === undefined
    ? undefined
    : `"${unknown}" is not allowed in a row with "${kind}": put attributes in its "${known.at(-1) ?? ""}".`;
};

/** Turns a record into a row of `db.load`: takes the columns of the target and converts texts to the types of the schemas. */
export type RowFitter = (record: FileRecord, target: Target | undefined) => Promise<Row>;

/** A fitter for one load. It learns the type of each column from the first rows. */
export const createRowFitter = (catalog: Catalog): RowFitter => {
  const { nodes, edges, parts, ends } = catalog;
  const fitters = new Map<unknown, Fitter>();
  const fitter = (schema: StandardSchema | undefined): Fitter => {
    const known = fitters.get(schema) ?? createFitter(schema);
    fitters.set(schema, known);
    return known;
  };
  /** The type of an end: the only one, or of several the one that its id names. */
  const typeOf = (types: readonly string[], named: unknown): string | undefined =>
    types.length === 1 ? types[0] : types.find((one) => one === named);
  const idFields = (types: readonly string[], record: Row, end: "from" | "to" | "owner"): readonly string[] => {
    const fields = ends[typeOf(types, valueAt(record, `${end}.type`)) ?? ""]?.idFields ?? [];
    return types.length > 1 && fields.length > 0 ? ["type", ...fields] : fields;
  };
  /** Fits the id of an end. That of a part has the fields of its node's id, which the node's schema types, before its own. */
  const fitId = async (types: readonly string[], id: Row, texts: Texts): Promise<Row> => {
    const type = typeOf(types, id["type"]) ?? "";
    const part = parts[type];
    if (!part) return fitter(nodes[type]?.definition.schema)(id, texts);
    const { idFields: own, definition } = part;
    const pick = (isOwn: boolean): Row => Object.fromEntries(Object.entries(id).filter(([field]) => own.includes(field) === isOwn));
    return { ...(await fitId([definition.of], pick(false), texts)), ...(await fitter(definition.schema)(pick(true), texts)) };
  };

  const fitTarget = async ({ value, texts, empty = [] }: FileRecord, target: Target): Promise<Row> => {
    const { kind, name } = target;
    const fit = (schema: StandardSchema | undefined, sources: Sources): Promise<Row> => {
      const nullable = Object.keys(sources).filter((attribute) => (empty as readonly unknown[]).includes(sources[attribute]));
      return fitter(schema)(take(value, sources), texts, nullable);
    };
    const unused = (used: readonly unknown[]): Sources =>
      ownNames([...Object.keys(value), ...empty].filter((column) => !used.includes(column)));
    if (kind === "node") return { node: name, row: await fit(nodes[name]?.definition.schema, target.row ?? unused([])) };
    if (kind === "part") {
      const part = parts[name]?.definition;
      const owners = part ? [part.of] : [];
      const owner = target.owner ?? endSources(value, "owner", idFields(owners, value, "owner"));
      const row = target.row ?? unused([...Object.values(owner), "owner"]);
      return { part: name, owner: await fitId(owners, take(value, owner), texts), row: await fit(part?.schema, row) };
    }
    const { from = [], to = [], definition } = edges[name] ?? {};
    const source = target.from ?? endSources(value, "from", idFields(from, value, "from"));
    const sink = target.to ?? endSources(value, "to", idFields(to, value, "to"));
    return {
      edge: name,
      from: await fitId(from, take(value, source), texts),
      to: await fitId(to, take(value, sink), texts),
      attributes: await fit(definition?.schema, target.row ?? unused([...Object.values(source), ...Object.values(sink), "from", "to"])),
    };
  };

  /** For a row that says itself what it is, only dates are still text. */
  const fitDeclared = async ({ value }: FileRecord): Promise<Row> => {
    const [edge, part] = [edges[String(value["edge"])], parts[String(value["part"])]];
    const own = (edge ?? part ?? nodes[String(value["node"])])?.definition.schema;
    const member = edge ? "attributes" : "row";
    const ids = edge ? { from: edge.from, to: edge.to } : part ? { owner: [part.definition.of] } : {};
    const fitted: Record<string, unknown> = { ...value };
    if (isRow(value[member])) fitted[member] = await fitter(own)(value[member], "dates");
    for (const [end, types] of Object.entries(ids)) {
      const id = value[end];
      if (isRow(id)) fitted[end] = await fitId(types, id, "dates");
    }
    return fitted;
  };

  return (record, target) => (target ? fitTarget(record, target) : fitDeclared(record));
};
