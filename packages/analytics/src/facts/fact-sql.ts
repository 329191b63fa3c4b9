import { EdgetableError, type Catalog } from "edgetable";
import { type ColumnType, sqlTypes } from "../column-type.ts";
import { type StoredColumn, type StoredTable, tableOf } from "../lake.ts";

/** A declared aggregate of a node's edges or parts. */
export type AggregateFact = Catalog["facts"]["aggregates"][number];
/** A declared summary: an aggregate, on an edge, of the edges of another type between the same two nodes. */
export type SummaryFact = Catalog["facts"]["summaries"][number];

interface Tables {
  readonly tables: readonly StoredTable[];
}

/** The column of an attribute. */
export const attributeColumn = (table: StoredTable, attribute: string): StoredColumn => {
  const found = table.columns.find((column) => column.attribute === attribute);
  if (found) return found;
  throw new EdgetableError(
    "analytics.lake",
    `The lake has no column for "${attribute}" of "${table.definition}": it is older than the model. Extract it again.`,
    { details: { table: table.name, attribute } },
  );
};

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;

const constant = (type: ColumnType, value: unknown): string => {
  if (typeof value === "string") return text(value);
  if (typeof value === "number" || typeof value === "bigint")
    return `cast(${text(String(value))} as ${sqlTypes[type === "integer" || type === "whole" ? type : "number"]})`;
  if (typeof value === "boolean") return String(value);
  if (value instanceof Date) return `cast(${text(value.toISOString().replace("T", " ").replace("Z", ""))} as timestamp)`;
  throw new EdgetableError("plan.unsupported", `A batch job cannot compare an attribute with ${JSON.stringify(value)}.`, {
    details: { value },
  });
};

/** One comparison in SQL. An attribute that is absent meets only `ne` and `exists: false`, as in DynamoDB. */
const comparison = ({ name, type }: StoredColumn, operator: string, operand: unknown): string => {
  const column = `e.${name}`;
  const one = (value: unknown): string => constant(type, value);
  const list = operand as readonly unknown[];
  const order = { lt: "<", lte: "<=", gt: ">", gte: ">=" }[operator];
  if (order !== undefined) return `${column} ${order} ${one(operand)}`;
  switch (operator) {
    case "eq":
      return `${column} = ${one(operand)}`;
    case "ne":
      return `(${column} is null or ${column} <> ${one(operand)})`;
    case "between":
      return `${column} between ${one(list[0])} and ${one(list[1])}`;
    case "in":
      return `${column} in (${list.map(one).join(", ")})`;
    case "beginsWith":
      return `substr(${column}, 1, ${Array.from(String(operand)).length}) = ${one(operand)}`;
    case "exists":
      return `${column} is ${operand === true ? "not " : ""}null`;
    case "contains":
      if (type === "text") return `position(${one(operand)} in ${column}) > 0`;
      return `array_contains(${column}, ${type === "numbers" ? `cast(${text(String(operand))} as double)` : one(operand)})`;
    default:
      throw new EdgetableError("plan.unsupported", `A batch job does not know the comparison "${operator}".`, { details: { operator } });
  }
};

const isComparisons = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** The conditions of a fact in SQL. */
const conditions = (table: StoredTable, where: AggregateFact["where"]): readonly string[] =>
  Object.entries(where ?? {}).flatMap(([attribute, value]) => {
    if (attribute === "from" || attribute === "to")
      throw new EdgetableError(
        "plan.unsupported",
        `A batch job cannot compute a fact with a condition on "${attribute}" (${table.definition}).`,
        {
          details: { attribute },
        },
      );
    const column = attributeColumn(table, attribute);
    const all = isComparisons(value) ? Object.entries(value) : [["eq", value] as const];
    return all.map(([operator, operand]) => comparison(column, operator, operand));
  });

const measure = ({ operation, of }: Pick<AggregateFact, "operation" | "of">, table: StoredTable): string => {
  if (operation === "count") return "count(*)";
  if (operation === "distinct" && of === undefined) return "count(distinct e.far)";
  const { name, type } = attributeColumn(table, of ?? "");
  const column = `e.${name}`;
  if (operation === "distinct") return `count(distinct ${column})`;
  if (operation === "sum") return type === "number" ? `sum(${column})` : `sum(cast(${column} as decimal(38,0)))`;
  // The mean of doubles, as the library keeps it: a mean of decimals would be rounded in Spark.
  return operation === "average" ? `sum(cast(${column} as double)) / count(${column})` : `${operation}(${column})`;
};

/** The rows of a table that count towards a fact, as a condition on `e`. */
const counted = (table: StoredTable, { where, of }: Pick<AggregateFact, "where" | "of">): string => {
  const filters = [...conditions(table, where), ...(of === undefined ? [] : [`e.${attributeColumn(table, of).name} is not null`])];
  return filters.length === 0 ? "" : ` where ${filters.join(" and ")}`;
};

/** The value of a fact where it is joined as `totals`: counts and sums of nothing are 0, the others null. */
const valueOf = ({ operation, attribute }: Pick<AggregateFact, "operation" | "attribute">, holder: StoredTable): string => {
  const startsAtZero = operation === "count" || operation === "sum" || operation === "distinct";
  const zero = attributeColumn(holder, attribute).type === "number" ? "0e0" : "0";
  return startsAtZero ? `coalesce(totals.value, ${zero})` : "totals.value";
};

const isSymmetric = ({ edges }: Catalog, { kind, name }: { readonly kind: string; readonly name: string }): boolean =>
  kind === "edge" && edges[name]?.definition.symmetric === true;

/** Both readings of rows: as they are, and with their ends exchanged. A row from a node to itself has one. */
const bothWays = (read: (near: string, far: string) => string): string =>
  `${read("source", "target")} union all ${read("target", "source")} where source <> target`;

/**
 * The SELECT that computes an aggregate for every node of its type: `node` and `value`. Counts and sums of nothing are 0, the
 * others null. The SQL means the same in DuckDB and Spark.
 */
export const factSelect = (lake: Tables, catalog: Catalog, fact: AggregateFact): string => {
  const nodes = tableOf(lake, fact.node, "node");
  const table = tableOf(lake, fact.over.name, fact.over.kind);
  const ends = (near: string, far: string): string => `select *, ${near} as near, ${far} as far from ${table.name}`;
  const source =
    fact.over.kind === "part"
      ? ends("owner", "owner")
      : // An edge without direction counts at both of its ends, one from a node to itself once: as in transactions.
        isSymmetric(catalog, fact.over)
        ? bothWays(ends)
        : fact.over.direction === "in"
          ? ends("target", "source")
          : ends("source", "target");
  const totals = `select e.near, ${measure(fact, table)} as value from (${source}) as e${counted(table, fact)} group by e.near`;
  return `select n.node, ${valueOf(fact, nodes)} as value from ${nodes.name} as n left join (${totals}) as totals on totals.near = n.node`;
};

/**
 * The SELECT that computes a summary for every edge that has it: `source`, `target`, the edge's own key and `value`. Parallel
 * edges each have what agrees with their key.
 */
export const summarySelect = (lake: Tables, catalog: Catalog, fact: SummaryFact): string => {
  const edges = tableOf(lake, fact.edge, "edge");
  const table = tableOf(lake, fact.over.name, "edge");
  const ends = (near: string, far: string): string => `select *, ${near} as near, ${far} as far from ${table.name}`;
  // An edge without direction counts for the edge from either end to the other.
  const source =
    fact.over.direction === "between" || isSymmetric(catalog, fact.over)
      ? bothWays(ends)
      : fact.over.direction === "along"
        ? ends("source", "target")
        : ends("target", "source");
  const keys = catalog.edges[fact.edge]!.key.map((field) => ({
    own: attributeColumn(edges, field).name,
    other: attributeColumn(table, field).name,
  }));
  const by = ["e.near", "e.far", ...keys.map(({ other }) => `e.${other}`)];
  const named = ["e.near", "e.far", ...keys.map(({ other }, at) => `e.${other} as key_${at}`)];
  const totals = `select ${named.join(", ")}, ${measure(fact, table)} as value from (${source}) as e${counted(table, fact)} group by ${by.join(", ")}`;
  const on = ["totals.near = n.source", "totals.far = n.target", ...keys.map(({ own }, at) => `totals.key_${at} = n.${own}`)];
  const shown = ["n.source", "n.target", ...keys.map(({ own }) => `n.${own}`)];
  return `select ${shown.join(", ")}, ${valueOf(fact, edges)} as value from ${edges.name} as n left join (${totals}) as totals on ${on.join(" and ")}`;
};
