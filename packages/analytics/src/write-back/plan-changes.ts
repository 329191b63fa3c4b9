import { didYouMean, EdgetableError, type Catalog, type StandardSchema } from "edgetable";
import { type ColumnType, isSetAttribute, sqlTypes } from "../column-type.ts";
import { literal, parquet } from "../duckdb.ts";
import { type Lake, type StoredColumn, type StoredTable, tableOf } from "../lake.ts";

/** For each node, edge or part that is written: its attributes, and the column of the result that each is taken from. */
export type Targets = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** How the changes of a result are found. */
export interface ChangeSettings {
  readonly to: Targets;
  /** The rows of a result that belong to a table, as a table or a SELECT in parentheses. @default the result */
  readonly rowsOf?: ((result: string, table: StoredTable) => string) | undefined;
  readonly absent: "keep" | "remove";
  readonly tolerance: number;
}

/** An attribute that is written. */
export interface TargetAttribute {
  readonly attribute: string;
  readonly type: ColumnType;
  /** True if the model makes it a set; the lake and results have lists. */
  readonly isSet: boolean;
}

/** One table of the lake whose rows are changed. */
export interface Target {
  readonly table: StoredTable;
  readonly attributes: readonly TargetAttribute[];
  /** Key columns after the leading ones (`node`; `source` and `target`; `owner`). */
  readonly keys: readonly StoredColumn[];
  /** The column with the version, if the model keeps one. */
  readonly version: string | undefined;
  /** Rows of the result that belong to the table. */
  readonly matched: number;
  readonly changes: number;
  /** The Parquet file with the changes, in the order of their column `place`, from 0. */
  readonly file: string;
}

const leadingColumns = { node: ["node"], edge: ["source", "target"], part: ["owner"], cells: ["node", "field_id"] } as const;

const refuse = (message: string, details: Readonly<Record<string, unknown>>): never => {
  throw new EdgetableError("analytics.result", message, { details });
};

const writable: ReadonlySet<ColumnType> = new Set(["text", "integer", "whole", "number", "boolean", "timestamp", "texts", "numbers"]);

interface Definition {
  /** Attributes of the item's own key. */
  readonly keys: readonly string[];
  readonly fixed: readonly string[];
  readonly version?: boolean | undefined;
  readonly schema?: StandardSchema | undefined;
}

/** The parts of the catalog that say what may be written to a definition. */
const definitionOf = ({ nodes, edges, parts }: Catalog, { kind, name, definition }: StoredTable): Definition => {
  if (kind === "cells")
    return refuse(`The values of users' fields (${name}) cannot be written by a batch job: set them by db.${definition}.values().`, {
      definition,
    });
  if (kind === "node") return { keys: [], fixed: nodes[definition]?.idFields ?? [], ...nodes[definition]?.definition };
  if (kind === "part") return { keys: parts[definition]?.idFields ?? [], fixed: [], ...parts[definition]?.definition };
  const entry = edges[definition];
  if (entry?.definition.stored === "reference")
    return refuse(`"${definition}" is stored inside its node "${entry.from.join(" or ")}". Write the attribute of that node.`, {
      definition,
    });
  return { keys: entry?.key ?? [], fixed: [], ...entry?.definition };
};

const columnNamed = (table: StoredTable, attribute: string): StoredColumn => {
  const columns = table.columns.filter(({ within }) => !within);
  const found = columns.find((column) => column.attribute === attribute);
  if (found) return found;
  const known = columns.flatMap((column) => column.attribute ?? []);
  return refuse(
    `"${table.definition}" has no attribute "${attribute}".${didYouMean(attribute, known)} Add it to the schema, as optional, and extract again.`,
    { definition: table.definition, attribute, known },
  );
};

/** SQL types of a result's columns, by name. */
const resultTypes = async (lake: Lake, result: string): Promise<ReadonlyMap<string, string>> =>
  new Map((await lake.query(`describe select * from ${result}`)).map((row) => [String(row["column_name"]), String(row["column_type"])]));

const inferred = (sqlType: string): ColumnType => {
  if (/^(HUGEINT|U?BIGINT|U?INTEGER|U?SMALLINT|U?TINYINT)$/.test(sqlType)) return "integer";
  if (/^DECIMAL\(\d+,0\)$/.test(sqlType)) return "whole";
  if (/^(DOUBLE|FLOAT|DECIMAL)/.test(sqlType)) return "number";
  if (sqlType === "BOOLEAN") return "boolean";
  if (sqlType.startsWith("TIMESTAMP")) return "timestamp";
  return sqlType === "VARCHAR[]" ? "texts" : "text";
};

const numeric: ReadonlySet<ColumnType> = new Set(["integer", "whole", "number"]);

/**
 * The type of an attribute: the schema's or that of its values; where there is neither, the result's. So it is with numbers that the
 * job itself derives: the values until now may all have been whole ones.
 */
const attributeType = async (
  lake: Lake,
  { name }: StoredTable,
  { column, resultType, isDerived }: { column: StoredColumn; resultType: string; isDerived: boolean },
): Promise<ColumnType> => {
  const ofResult = inferred(resultType);
  if (isDerived && numeric.has(column.type) && numeric.has(ofResult)) return ofResult;
  if (column.type !== "text") return column.type;
  const [row] = await lake.query(`select count(${column.name}) as filled from ${name}`);
  return Number(row?.["filled"]) === 0 ? ofResult : column.type;
};

/** A condition that holds for values that an attribute cannot hold: of another type, with a fraction, or beyond DynamoDB's numbers. */
const unfit = (type: ColumnType, value: string): string => {
  const cast = `try_cast(${value} as ${sqlTypes[type]})`;
  const number = `try_cast(${value} as double)`;
  const own = `${cast} is null`;
  // A date of DynamoDB is of the years 0 to 9999.
  if (type === "timestamp") return `(${own} or not isfinite(${cast}) or year(${cast}) not between 0 and 9999)`;
  if (type === "numbers") return `(${own} or len(list_filter(${cast}, lambda x: not isfinite(x))) > 0)`;
  if (type === "integer" || type === "whole") return `(${own} or ${number} <> cast(${cast} as double))`;
  if (type !== "number") return own;
  return `(${own} or not isfinite(${number}) or abs(${number}) >= 1e126 or (${number} <> 0 and abs(${number}) < 1e-130))`;
};

/** @throws {analytics.result} naming the first value that its attribute cannot hold */
const checkValues = async (
  lake: Lake,
  { from, select }: { readonly from: string; readonly select: readonly string[] },
  {
    attribute,
    type,
    definition,
    column,
  }: { readonly attribute: string; readonly type: ColumnType; readonly definition: string; readonly column: string },
): Promise<void> => {
  const value = `r.${column}`;
  const [wrong] = await lake.query(
    `select ${[...select, `cast(${value} as varchar) as wrong`].join(", ")} from ${from} where ${value} is not null and ${unfit(type, value)} limit 1`,
  );
  if (!wrong) return;
  const { wrong: shown, ...item } = wrong;
  refuse(
    `The column "${column}" does not fit "${attribute}" of "${definition}", which is of type ${type}: it is ${String(shown)} for ${Object.values(item).map(String).join(" > ")}.`,
    { definition, attribute, column, value: shown, row: item },
  );
};

/** The share by which sums of the same doubles in another order may differ. */
const ROUNDING = 1e-12;

const changed = (before: string, after: string, { type, tolerance }: { readonly type: ColumnType; readonly tolerance: number }): string => {
  const differs = `${after} is distinct from ${before}`;
  const share = type === "number" ? Math.max(tolerance, ROUNDING) : type === "integer" || type === "whole" ? tolerance : 0;
  if (share === 0) return differs;
  const [x, y] = [`cast(${before} as double)`, `cast(${after} as double)`];
  return `(${differs} and coalesce(abs(${y} - ${x}) > ${share.toExponential()} * greatest(abs(${x}), abs(${y})), true))`;
};

/** What is declared to make the values of an attribute out of other rows; copies aside. */
const factsOf = ({ facts: { aggregates, summaries } }: Catalog, name: string, attribute: string) =>
  [...summaries.filter(({ edge }) => edge === name), ...aggregates.filter(({ node }) => node === name)].filter(
    (fact) => fact.attribute === attribute,
  );

/** True for an attribute that follows from other rows and is not computed in batch. */
const isKeptElsewhere = (catalog: Catalog, name: string, attribute: string): boolean =>
  catalog.facts.copies.some((copy) => copy.onto.name === name && copy.attribute === attribute) ||
  factsOf(catalog, name, attribute).some(({ freshness }) => freshness !== "batch");

/** What an attribute holds in the lake and in the result, in one form. */
const comparedValues = (
  [stored, given]: readonly [string, string],
  { type, isSet }: Omit<TargetAttribute, "attribute">,
): { readonly before: string; readonly after: string } => {
  const cast = `cast(${given} as ${sqlTypes[type]})`;
  if (isSet) {
    const members = `list_sort(list_distinct(${cast}))`;
    // DynamoDB has no empty set: a row has members, or no such attribute.
    return { before: `list_sort(${stored})`, after: `case when len(${members}) > 0 then ${members} end` };
  }
  // A date is stored by the millisecond.
  return { before: stored, after: type === "timestamp" ? `date_trunc('milliseconds', ${cast})` : cast };
};

/** Finds the changes of one table, and writes them to a file. */
const planTarget = async (
  source: { readonly lake: Lake; readonly catalog: Catalog; readonly result: string; readonly types: ReadonlyMap<string, string> },
  [named, attributes]: readonly [string, Readonly<Record<string, string>>],
  { absent, tolerance, file }: Omit<ChangeSettings, "to"> & { readonly file: string },
): Promise<Target> => {
  const { lake, catalog, result, types } = source;
  const table = tableOf(lake, named);
  const name = table.definition;
  const { keys: keyNames, fixed, version: keepsVersion, schema }: Definition = definitionOf(catalog, table);
  const keys = keyNames.map((key) => columnNamed(table, key));
  const columnOf = (column: string): string =>
    types.get(column) ??
    refuse(`The result has no column "${column}".${didYouMean(column, [...types.keys()])}`, {
      column,
      known: [...types.keys()],
    });
  const join = [...leadingColumns[table.kind], ...keys.map((key) => key.name)];
  for (const column of join) columnOf(column);
  const on = join.map((column) => `r.${column} = t.${column}`).join(" and ");
  const chosen: (TargetAttribute & { readonly before: string; readonly after: string })[] = [];
  for (const [attribute, from] of Object.entries(attributes)) {
    const column = columnNamed(table, attribute);
    const isDerived = factsOf(catalog, name, attribute).some(({ freshness }) => freshness === "batch");
    const type = await attributeType(lake, table, { column, resultType: columnOf(from), isDerived });
    if (isKeptElsewhere(catalog, name, attribute))
      refuse(`"${attribute}" of "${name}" is derived, and not in batch: it follows from other rows and cannot be written.`, {
        definition: name,
        attribute,
      });
    if (!writable.has(type) || fixed.includes(attribute) || keyNames.includes(attribute) || attribute === "version")
      refuse(
        `"${attribute}" of "${name}" cannot be written by a batch job: it is ${writable.has(type) ? "part of a key or counted" : `of type ${type}`}.`,
        {
          definition: name,
          attribute,
        },
      );
    const isSet = isSetAttribute(schema, attribute);
    await checkValues(
      lake,
      { from: `${result} as r join ${table.name} as t on ${on}`, select: join.map((key) => `t.${key}`) },
      { attribute, type, definition: name, column: from },
    );
    chosen.push({ attribute, type, isSet, ...comparedValues([`t.${column.name}`, `r.${from}`], { type, isSet }) });
  }
  const [twice] = await lake.query(
    `select ${join.join(", ")} from ${result} as r semi join ${table.name} as t on ${on} group by all having count(*) > 1 limit 1`,
  );
  if (twice)
    refuse(`The result has several rows for ${Object.values(twice).join(" > ")}. Give each row of "${name}" at most one.`, {
      definition: name,
      row: twice,
    });
  const version = keepsVersion ? columnNamed(table, "version").name : undefined;
  const values = chosen.map(({ before, after }, at) => `${before} as before_${at}, ${after} as after_${at}`);
  const selected = [...join.map((column) => `t.${column}`), ...(version === undefined ? [] : [`t.${version} as at_version`]), ...values];
  const differences = chosen.map(({ before, after, type }) => changed(before, after, { type, tolerance })).join(" or ");
  const present = absent === "remove" ? "left join" : "join";
  await lake.query(
    `copy (select row_number() over (order by ${join.map((column) => `t.${column}`).join(", ")}) - 1 as place, ${selected.join(", ")}
      from ${table.name} as t ${present} ${result} as r on ${on} where ${differences} order by place) to ${literal(file)} (format parquet)`,
  );
  const [counted] = await lake.query(`select count(*) as changes from ${parquet(file)}`);
  const [matched] = await lake.query(`select count(*) as matched from ${result} as r semi join ${table.name} as t on ${on}`);
  return {
    table,
    attributes: chosen.map(({ attribute, type, isSet }) => ({ attribute, type, isSet })),
    keys,
    version: version === undefined ? undefined : "at_version",
    matched: Number(matched?.["matched"]),
    changes: Number(counted?.["changes"]),
    file,
  };
};

/** The rows of a result with their ends in both orders: the lake has an edge without direction in one of them. */
const eitherWay = (result: string): string =>
  `(select * from ${result} as given union all
    select * replace (target as source, source as target) from ${result} as given where source <> target)`;

/**
 * Compares a result with the lake and writes what differs, one Parquet file for each table.
 *
 * @param result a table or a SELECT in parentheses, with the columns `node`, or `source` and `target`, or `owner`, and those of own keys
 * @param fileOf the file of the changes of a table
 * @throws {analytics.result} if the result does not fit the model, or has two rows for one item
 */
export const planChanges = async (
  lake: Lake,
  catalog: Catalog,
  {
    result,
    settings,
    fileOf,
  }: { readonly result: string; readonly settings: ChangeSettings; readonly fileOf: (table: StoredTable) => string },
): Promise<readonly Target[]> => {
  const entries = Object.entries(settings.to);
  if (entries.length === 0) refuse("Name what to write: a node, edge or part with its attributes.", {});
  const targets: Target[] = [];
  for (const entry of entries) {
    const table = tableOf(lake, entry[0]);
    const given = settings.rowsOf?.(result, table) ?? result;
    const rows = table.symmetric ? eitherWay(given) : given;
    const source = { lake, catalog, result: rows, types: await resultTypes(lake, rows) };
    targets.push(await planTarget(source, entry, { ...settings, file: fileOf(table) }));
  }
  return targets;
};
