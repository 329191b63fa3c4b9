import { EdgetableError, type Catalog } from "edgetable";
import { factWhere, type Condition } from "edgetable/check";
import { columnText, type ColumnType, fits, sqlTypes } from "../column-type.ts";
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

/** A text as a literal. Spark reads a backslash in one as the beginning of an escape. */
const text = (value: string): string => {
  const pieces = value.split("\\").map((piece) => `'${piece.replaceAll("'", "''")}'`);
  return pieces.length === 1 ? pieces.join("") : `concat(${pieces.join(", chr(92), ")})`;
};

const constant = (type: ColumnType, value: unknown): string => {
  if (typeof value === "string") return text(value);
  if (typeof value === "number" || typeof value === "bigint") {
    // As a whole number, 2.5 would be 3.
    const isWhole = (type === "integer" || type === "whole") && fits(type, value);
    return `cast(${text(String(value))} as ${sqlTypes[isWhole ? type : "number"]})`;
  }
  if (typeof value === "boolean") return String(value);
  if (value instanceof Date) return `cast(${text(value.toISOString().replace("T", " ").replace("Z", ""))} as timestamp)`;
  throw new EdgetableError("plan.unsupported", `A batch job cannot compare an attribute with ${JSON.stringify(value)}.`, {
    details: { value },
  });
};

/** A value that is compared: its SQL and its type. */
interface Compared {
  readonly sql: string;
  readonly type: ColumnType;
}

/** One comparison in SQL. A value that is absent meets only `ne` and `exists: false`, as in DynamoDB. */
const comparison = ({ sql, type }: Compared, operator: string, operand: unknown): string => {
  const one = (value: unknown): string => constant(type, value);
  const list = operand as readonly unknown[];
  const order = { lt: "<", lte: "<=", gt: ">", gte: ">=" }[operator];
  if (order !== undefined) return `${sql} ${order} ${one(operand)}`;
  switch (operator) {
    case "eq":
      return `${sql} = ${one(operand)}`;
    case "ne":
      return `(${sql} is null or ${sql} <> ${one(operand)})`;
    case "between":
      return `${sql} between ${one(list[0])} and ${one(list[1])}`;
    case "in":
      return `${sql} in (${list.map(one).join(", ")})`;
    case "beginsWith":
      return `substr(${sql}, 1, ${Array.from(String(operand)).length}) = ${one(operand)}`;
    case "exists":
      return `${sql} is ${operand === true ? "not " : ""}null`;
    case "contains":
      if (type === "text") return `position(${one(operand)} in ${sql}) > 0`;
      return `array_contains(${sql}, ${type === "numbers" ? `cast(${text(String(operand))} as double)` : one(operand)})`;
    default:
      throw new EdgetableError("plan.unsupported", `A batch job does not know the comparison "${operator}".`, { details: { operator } });
  }
};

/** A comparison with a column of values of several types, which are JSON texts: those of another type than the operand's are unlike it. */
const mixedComparison = (sql: string, operator: string, operand: unknown): string => {
  const [first] = Array.isArray(operand) ? (operand as readonly unknown[]) : [operand];
  const isObject = typeof first === "object" && !(first instanceof Date);
  if (operator === "exists" || operator === "contains" || isObject) return comparison({ sql, type: "json" }, operator, operand);
  if (operator === "in") return `(${(operand as readonly unknown[]).map((one) => mixedComparison(sql, "eq", one)).join(" or ")})`;
  if (typeof first === "number" || typeof first === "bigint")
    return comparison({ sql: `try_cast(${sql} as double)`, type: "number" }, operator, operand);
  if (typeof first === "boolean") return comparison({ sql, type: "text" }, operator, String(first));
  const inner = (value: unknown): string => columnText("json", value).slice(1, -1);
  const quoted = `case when substr(${sql}, 1, 1) = '"' then substr(${sql}, 2, length(${sql}) - 2) end`;
  return comparison({ sql: quoted, type: "text" }, operator, Array.isArray(operand) ? operand.map(inner) : inner(operand));
};

/** A field of the node at an end of an edge, out of its text: absent where nodes of its type have no such field. */
const endField = ({ ends }: Catalog, types: readonly string[], { column, field }: { readonly column: string; readonly field: string }) => {
  const type = `split_part(${column}, ':', 1)`;
  const id = `substr(${column}, position(':' in ${column}) + 1)`;
  const cases = types.flatMap((one) => {
    const at = ends[one]?.idFields.indexOf(field) ?? -1;
    return at < 0 ? [] : [`when ${text(one)} then split_part(${id}, '/', ${at + 1})`];
  });
  const stored = cases.length === 0 ? "cast(null as string)" : `case ${type} ${cases.join(" ")} end`;
  return (operand: unknown): Compared => {
    if (field === "type") return { sql: type, type: "text" };
    const [first] = Array.isArray(operand) ? (operand as readonly unknown[]) : [operand];
    // Text is percent-encoded; other values begin with "=".
    const other = `case when substr(${stored}, 1, 1) = '=' then substr(${stored}, 2) end`;
    if (typeof first === "number" || typeof first === "bigint") return { sql: `cast(${other} as double)`, type: "number" };
    if (typeof first === "boolean") return { sql: `cast(${other} as boolean)`, type: "boolean" };
    return { sql: `url_decode(case when substr(${stored}, 1, 1) <> '=' then ${stored} end)`, type: "text" };
  };
};

/** The rows that a condition is put to, as `e`. */
interface Ranged {
  readonly catalog: Catalog;
  readonly table: StoredTable;
  readonly values: readonly unknown[];
}

/** One condition on the rows `e` in SQL, of the same form as those that transactions and streams judge rows by. */
const conditionSql = (ranged: Ranged, { path, steps, operator, slot, of = [] }: Condition): string => {
  const { catalog, table, values } = ranged;
  if (operator === "or" || operator === "not") {
    const any = of.map((all) => `(${all.map((one) => conditionSql(ranged, one)).join(" and ")})`).join(" or ");
    // A comparison with an absent value is unknown in SQL, and does not hold in DynamoDB.
    return operator === "or" ? `(${any})` : `not coalesce(${any}, false)`;
  }
  const edge = table.kind === "edge" ? catalog.edges[table.definition] : undefined;
  const end = edge && !steps ? (["from", "to"] as const).find((one) => path.startsWith(`${one}.`)) : undefined;
  if (edge && end) {
    // An edge without direction leads from the node that it counts at.
    const ends = edge.definition.symmetric ? { from: "e.near__", to: "e.far__" } : { from: "e.source", to: "e.target" };
    const of = endField(catalog, edge[end], { column: ends[end], field: path.slice(end.length + 1) });
    return comparison(of(operator === "exists" ? "" : values[slot]), operator, values[slot]);
  }
  const { name, type } = attributeColumn(table, path);
  if (type === "json") return mixedComparison(`e.${name}`, operator, values[slot]);
  return comparison({ sql: `e.${name}`, type }, operator, values[slot]);
};

const measure = ({ operation, of }: Pick<AggregateFact, "operation" | "of">, table: StoredTable): string => {
  if (operation === "count") return "count(*)";
  if (operation === "distinct" && of === undefined) return "count(distinct e.far__)";
  const { name, type } = attributeColumn(table, of ?? "");
  const column = `e.${name}`;
  if (operation === "distinct") return `count(distinct ${column})`;
  if (operation === "sum" && type === "json") return `sum(try_cast(${column} as double))`;
  if (operation === "sum") return type === "number" ? `sum(${column})` : `sum(cast(${column} as decimal(38,0)))`;
  if (operation !== "average") return `${operation}(${column})`;
  // The mean of doubles, as the library keeps it: a mean of decimals would be rounded in Spark. Of mixed values, whose texts
  // are in quotes, only numbers count.
  const number = `${type === "json" ? "try_cast" : "cast"}(${column} as double)`;
  return `sum(${number}) / count(${number})`;
};

// Columns of a lake have no two underscores in a row, so no attribute is called as the ends that are added here.

/** The rows of a table that count towards a fact, as a condition on `e`. */
const counted = (catalog: Catalog, table: StoredTable, fact: AggregateFact | SummaryFact): string => {
  const where = factWhere(fact);
  const filters = where?.conditions.map((one) => conditionSql({ catalog, table, values: where.values }, one)) ?? [];
  if (fact.of !== undefined) filters.push(`e.${attributeColumn(table, fact.of).name} is not null`);
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
  const ends = (near: string, far: string): string => `select *, ${near} as near__, ${far} as far__ from ${table.name}`;
  const source =
    fact.over.kind === "part"
      ? ends("owner", "owner")
      : // An edge without direction counts at both of its ends, one from a node to itself once: as in transactions.
        isSymmetric(catalog, fact.over)
        ? bothWays(ends)
        : fact.over.direction === "in"
          ? ends("target", "source")
          : ends("source", "target");
  const totals = `select e.near__, ${measure(fact, table)} as value from (${source}) as e${counted(catalog, table, fact)} group by e.near__`;
  return `select n.node, ${valueOf(fact, nodes)} as value from ${nodes.name} as n left join (${totals}) as totals on totals.near__ = n.node`;
};

/**
 * The SELECT that computes a summary for every edge that has it: `source`, `target`, the edge's own key and `value`. Parallel
 * edges each have what agrees with their key.
 */
export const summarySelect = (lake: Tables, catalog: Catalog, fact: SummaryFact): string => {
  const edges = tableOf(lake, fact.edge, "edge");
  const table = tableOf(lake, fact.over.name, "edge");
  const ends = (near: string, far: string): string => `select *, ${near} as near__, ${far} as far__ from ${table.name}`;
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
  const by = ["e.near__", "e.far__", ...keys.map(({ other }) => `e.${other}`)];
  const named = ["e.near__", "e.far__", ...keys.map(({ other }, at) => `e.${other} as key_${at}`)];
  const totals = `select ${named.join(", ")}, ${measure(fact, table)} as value from (${source}) as e${counted(catalog, table, fact)} group by ${by.join(", ")}`;
  const on = ["totals.near__ = n.source", "totals.far__ = n.target", ...keys.map(({ own }, at) => `totals.key_${at} = n.${own}`)];
  const shown = ["n.source", "n.target", ...keys.map(({ own }) => `n.${own}`)];
  return `select ${shown.join(", ")}, ${valueOf(fact, edges)} as value from ${edges.name} as n left join (${totals}) as totals on ${on.join(" and ")}`;
};
