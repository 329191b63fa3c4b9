import type { Catalog, StandardSchema } from "edgetable";
import { attributeTypes, type ColumnType } from "./column-type.ts";

/** One column of a table in the lake. */
export interface Column {
  /** Plain lower-case words, so that the same SQL means the same in DuckDB and Spark. */
  readonly name: string;
  /** The attribute of the model; undefined for `node`, `source`, `target` and `owner`. */
  readonly attribute: string | undefined;
  /** Undefined if only the values tell. */
  readonly type: ColumnType | undefined;
}

/** One table of the lake: the rows of one node, edge or part of the model. */
export interface LakeTable {
  readonly name: string;
  readonly kind: "node" | "edge" | "part";
  /** Its name in the model. */
  readonly definition: string;
  readonly columns: readonly Column[];
}

// Words that DuckDB or Spark (ANSI mode) rejects as an unquoted name of a table or column.
const reserved = new Set(
  `all and anti any array as asc authorization between both by case cast check collate column constraint create cross current_date
  current_time current_timestamp current_user deferrable desc describe distinct do else end escape except false fetch filter for foreign from full
  glob grant group having ilike in initially inner intersect interval into is isnull join lambda lateral leading left like limit map
  minus natural not notnull null offset on only or order outer overlaps pivot pivot_longer pivot_wider placing positional primary
  qualify references returning right rows select semi session_user show similar some struct summarize table tablesample then time to
  trailing true union unique unknown unpivot user using values variadic verbose when where window with within`.split(/\s+/),
);

/** A name of the model as a plain SQL name: `yearLevel` becomes `year_level`, `order` becomes `order_`. */
const sqlName = (name: string): string => {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
    .replaceAll(/[^A-Za-z\d]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")
    .toLowerCase();
  const safe = /^[a-z]/.test(words) ? words : `x_${words}`;
  return reserved.has(safe) ? `${safe}_` : safe;
};

/** Makes names unique: a second name of the same words gets a number. */
const namer = (taken: Iterable<string> = []): ((name: string) => string) => {
  const used = new Set(taken);
  return (name) => {
    const plain = sqlName(name);
    let free = plain;
    for (let at = 2; used.has(free); at++) free = `${plain}_${at}`;
    used.add(free);
    return free;
  };
};

interface Definition {
  readonly schema?: StandardSchema | undefined;
  readonly version?: boolean | undefined;
}

const attributesOf = ({ schema, version }: Definition): ReadonlyMap<string, ColumnType | undefined> => {
  const types = new Map(schema ? attributeTypes(schema) : []);
  if (version) types.set("version", "integer");
  return types;
};

/** The tables of a model: one for each node, edge and part, with the columns of their schemas. */
export const lakeTables = ({ nodes, edges, parts }: Catalog): readonly LakeTable[] => {
  const tableName = namer();
  const idColumns = (type: string): readonly (readonly [string, ColumnType | undefined])[] => {
    const types = attributesOf(nodes[type]?.definition ?? {});
    return nodes[type]?.idFields.map((field) => [field, types.get(field)] as const) ?? [];
  };
  const columnsOf = (given: readonly Column[], attributes: ReadonlyMap<string, ColumnType | undefined>): readonly Column[] => {
    const columnName = namer(given.map(({ name }) => name));
    return [...given, ...[...attributes].map(([attribute, type]): Column => ({ name: columnName(attribute), attribute, type }))];
  };
  const text = (name: string): Column => ({ name, attribute: undefined, type: "text" });
  return [
    ...Object.values(nodes).map(({ name, definition }): LakeTable => ({
      name: tableName(name),
      kind: "node",
      definition: name,
      columns: columnsOf([text("node")], attributesOf(definition)),
    })),
    ...Object.values(edges).map(({ name, definition }): LakeTable => ({
      name: tableName(name),
      kind: "edge",
      definition: name,
      columns: columnsOf([text("source"), text("target")], attributesOf(definition)),
    })),
    ...Object.values(parts).map(({ name, definition }): LakeTable => ({
      name: tableName(name),
      kind: "part",
      definition: name,
      columns: columnsOf([text("owner")], new Map([...idColumns(definition.of), ...attributesOf(definition)])),
    })),
  ];
};

type Id = Readonly<Record<string, unknown>>;

const fieldText = (value: unknown): string => {
  if (value instanceof Date) return `=@${value.toISOString()}`;
  if (typeof value !== "string") return `=${String(value)}`;
  try {
    return encodeURIComponent(value);
  } catch {
    // A lone surrogate has no percent-encoding; JSON escapes it.
    return `=${JSON.stringify(value)}`;
  }
};

/**
 * A text that identifies a node across all node types: `student:S1`, `place:US/TX/Austin`. Text is percent-encoded, and other
 * values begin with `=`, so that no two nodes have the same text.
 */
export const nodeText = (type: string, fields: readonly string[], id: Id): string =>
  `${type}:${fields.map((field) => fieldText(id[field])).join("/")}`;
