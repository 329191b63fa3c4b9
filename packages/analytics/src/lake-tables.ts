import type { AnyNode, Catalog, StandardSchema } from "edgetable";
import { factWhere, type Condition, type PathSteps } from "edgetable/check";
import { attributeTypes, type ColumnType } from "./column-type.ts";

/** One column of a table in the lake. */
export interface Column {
  /** Plain lower-case words, so that the same SQL means the same in DuckDB and Spark. */
  readonly name: string;
  /** The attribute of the model; undefined for `node`, `source`, `target` and `owner`. */
  readonly attribute: string | undefined;
  /** Undefined if only the values tell. */
  readonly type: ColumnType | undefined;
  /** Of a value within an attribute, which `attribute` names by its path: the path as steps. */
  readonly within?: PathSteps | undefined;
}

/** One table of the lake: the rows of one node, edge or part of the model. */
export interface LakeTable {
  readonly name: string;
  readonly kind: "node" | "edge" | "part";
  /** Its name in the model. */
  readonly definition: string;
  /** Columns that tell two rows with the same ends or owner apart: an edge's own key, a part's id. */
  readonly key: readonly string[];
  readonly columns: readonly Column[];
}

// Words that DuckDB or Spark (ANSI mode) rejects as an unquoted name of a table or column.
const reserved = new Set(
  `all analyse analyze and anti any array as asc asof asymmetric at authorization between binary both by case cast check collate
  collation column concurrently constraint create cross current_date current_time current_timestamp current_user default
  deferrable desc describe distinct do else end escape except false fetch filter for foreign freeze from full glob grant
  group having ilike in initially inner intersect interval into is isnull join lambda lateral leading left like limit map
  minus natural not notnull null offset on only or order outer overlaps pivot pivot_longer pivot_wider placing positional
  primary qualify references returning right rows select semi session_user show similar some struct summarize symmetric table
  tablesample then time to trailing true union unique unknown unpack unpivot user using values variadic verbose when where
  window with within`.split(/\s+/),
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

/** Makes names unique: a name that is taken gets a number. */
export const freeName = (taken: Iterable<string> = []): ((name: string) => string) => {
  const used = new Set(taken);
  return (name) => {
    let free = name;
    for (let at = 2; used.has(free); at++) free = `${name}_${at}`;
    used.add(free);
    return free;
  };
};

/** Makes unique SQL names. */
export const namer = (taken?: Iterable<string>): ((name: string) => string) => {
  const free = freeName(taken);
  return (name) => free(sqlName(name));
};

type Kind = "node" | "edge" | "part";

interface Definition {
  readonly kind: Kind;
  readonly schema?: StandardSchema | undefined;
  readonly version?: boolean | undefined;
  readonly timestamps?: AnyNode["timestamps"] | undefined;
}

type Types = Map<string, ColumnType | undefined>;

const timeTypes: Readonly<Record<string, ColumnType>> = { text: "text", seconds: "integer", milliseconds: "integer", date: "timestamp" };

/** What a definition's rows have beside the attributes that the library computes from other rows. */
const ownTypes = ({ schema, version, timestamps = false }: Definition): Types => {
  const types: Types = new Map(schema ? attributeTypes(schema) : []);
  if (version) types.set("version", "integer");
  if (timestamps === false) return types;
  const { created = "created", modified = "modified", as = "text" } = timestamps === true ? {} : timestamps;
  for (const name of [created, modified]) if (name !== false) types.set(name, timeTypes[as]);
  return types;
};

/** The attributes of a definition's rows that the library computes from other rows, each with what tells its type. */
const derivedTypes = (catalog: Catalog, kind: Kind, name: string): ReadonlyMap<string, () => ColumnType | undefined> => {
  const { aggregates, summaries, copies } = catalog.facts;
  const facts =
    kind === "node"
      ? aggregates.filter((fact) => fact.node === name)
      : kind === "edge"
        ? summaries.filter((fact) => fact.edge === name)
        : [];
  const ofFacts = facts.map(({ attribute, operation, over, of = "" }) => {
    const type = (): ColumnType | undefined => {
      if (operation === "count" || operation === "distinct") return "integer";
      return operation === "average" ? "number" : typeOf(catalog, over.kind, [over.name, of]);
    };
    return [attribute, type] as const;
  });
  const ofCopies = copies.flatMap(({ attribute, onto, end, of }) => {
    if (onto.kind !== kind || onto.name !== name) return [];
    const node = kind === "part" ? catalog.parts[name]?.definition.of : catalog.edges[name]?.[end][0];
    return [[attribute, () => typeOf(catalog, "node", [node ?? "", of])] as const];
  });
  return new Map([...ofFacts, ...ofCopies]);
};

/**
 * The type of an attribute of a definition, derived ones included; undefined where only values tell. No attribute follows from
 * itself, so this ends: a node may add up what an edge copies from it.
 */
const typeOf = (catalog: Catalog, kind: Kind, [name, attribute]: readonly [string, string]): ColumnType | undefined => {
  const derived = derivedTypes(catalog, kind, name).get(attribute);
  if (derived) return derived();
  const definition = { node: catalog.nodes, edge: catalog.edges, part: catalog.parts }[kind][name]?.definition;
  return definition && ownTypes(definition).get(attribute);
};

const attributesOf = (catalog: Catalog, name: string, definition: Definition): Types => {
  const types = ownTypes(definition);
  for (const [attribute, type] of derivedTypes(catalog, definition.kind, name)) types.set(attribute, type());
  return types;
};

/** The values within attributes of edges or parts by which derived attributes choose what counts, by path. */
const comparedPaths = ({ facts }: Catalog, kind: Kind, name: string): ReadonlyMap<string, PathSteps> => {
  const pathsIn = ({ path, steps, of = [] }: Condition): readonly (readonly [string, PathSteps])[] =>
    steps ? [[path, steps]] : of.flatMap((all) => all.flatMap(pathsIn));
  const over = [...facts.aggregates, ...facts.summaries].filter((fact) => fact.over.kind === kind && fact.over.name === name);
  return new Map(over.flatMap((fact) => factWhere(fact)?.conditions.flatMap(pathsIn) ?? []));
};

/** The tables of a model: one for each node, edge and part, with the columns of their schemas. */
export const lakeTables = (catalog: Catalog): readonly LakeTable[] => {
  const { nodes, edges, parts } = catalog;
  const tableName = namer();
  const idColumns = (type: string): readonly (readonly [string, ColumnType | undefined])[] => {
    const entry = nodes[type];
    const types: Types = entry ? attributesOf(catalog, type, entry.definition) : new Map();
    return entry?.idFields.map((field) => [field, types.get(field)] as const) ?? [];
  };
  // A schema may not list its attributes, such as that of the parts that hold users' fields: the fields of a key are known.
  const keyFields = (fields: readonly string[]): Types => new Map(fields.map((field) => [field, undefined] as const));
  const columnsOf = (
    given: readonly Column[],
    attributes: ReadonlyMap<string, ColumnType | undefined>,
    paths: ReadonlyMap<string, PathSteps> = new Map(),
  ): readonly Column[] => {
    // `more` holds what the schema does not list.
    const columnName = namer([...given.map(({ name }) => name), "more"]);
    const plain = [...attributes].map(([attribute, type]): Column => ({ name: columnName(attribute), attribute, type }));
    const inner = [...paths].map(([path, within]): Column => ({ name: columnName(path), attribute: path, type: undefined, within }));
    return [...given, ...plain, ...inner];
  };
  const keyOf = (columns: readonly Column[], attributes: readonly string[]): Pick<LakeTable, "key" | "columns"> => ({
    key: attributes.flatMap((key) => columns.filter(({ attribute }) => attribute === key).map(({ name }) => name)),
    columns,
  });
  const text = (name: string): Column => ({ name, attribute: undefined, type: "text" });
  return [
    ...Object.values(nodes).map(({ name, definition, idFields: own }): LakeTable => {
      // A row of a grid names its parent.
      const parent = nodes[definition.fields?.of ?? ""]?.idFields ?? [];
      const attributes = new Map([...keyFields([...own, ...parent]), ...attributesOf(catalog, name, definition)]);
      return { name: tableName(name), kind: "node", definition: name, ...keyOf(columnsOf([text("node")], attributes), []) };
    }),
    ...Object.values(edges).map(({ name, definition, key }): LakeTable => ({
      name: tableName(name),
      kind: "edge",
      definition: name,
      ...keyOf(
        columnsOf(
          [text("source"), text("target")],
          new Map([...keyFields(key), ...attributesOf(catalog, name, definition)]),
          comparedPaths(catalog, "edge", name),
        ),
        key,
      ),
    })),
    ...Object.values(parts).map(({ name, definition, idFields }): LakeTable => {
      const attributes = new Map([...idColumns(definition.of), ...keyFields(idFields), ...attributesOf(catalog, name, definition)]);
      // One that edges lead to is named as their ends name it.
      const leading = catalog.ends[name] ? [text("owner"), text("node")] : [text("owner")];
      return {
        name: tableName(name),
        kind: "part",
        definition: name,
        ...keyOf(columnsOf(leading, attributes, comparedPaths(catalog, "part", name)), idFields),
      };
    }),
  ];
};
