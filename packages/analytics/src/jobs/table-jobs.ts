import { didYouMean, EdgetableError } from "edgetable";
import { freeName } from "../lake-tables.ts";
import { edgeRows, type Program, type Step, type StoredTable, tableOf } from "../lake.ts";

interface Tables {
  readonly tables: readonly StoredTable[];
}

/** The column of an attribute, by its name in the model or in SQL. */
const columnOf = ({ name, definition, columns }: StoredTable, wanted: string): string => {
  const found = columns.find((column) => column.name === wanted || column.attribute === wanted);
  if (found) return found.name;
  const known = columns.map((column) => column.attribute ?? column.name);
  throw new EdgetableError("analytics.lake", `"${definition}" has no column "${wanted}" (table ${name}).${didYouMean(wanted, known)}`, {
    details: { table: name, column: wanted, known },
  });
};

// Whole numbers add up exactly; in Spark a sum of doubles and one of decimals would differ in type. Texts of numbers may have a fraction.
const summed = ({ columns }: StoredTable, column: string, alias: string): string => {
  const type = columns.find(({ name }) => name === column)?.type;
  const value = `${alias}.${column}`;
  if (type === "number") return value;
  return type === "integer" || type === "whole" ? `cast(${value} as decimal(38,0))` : `cast(${value} as double)`;
};

/** One hop of a chain: an edge, followed forwards or backwards. */
export interface ChainHop {
  readonly edge: string;
  /** @default "out" */
  readonly direction?: "out" | "in";
}

export interface RollUpOptions {
  /** The node type whose attribute is summed. */
  readonly node: string;
  /** A numeric attribute of it. */
  readonly sum: string;
  /** The edges from those nodes to the ones that get the sums, in order: bill to invoice, invoice to customer. */
  readonly along: readonly ChainHop[];
}

/** Sums, counts and extremes of an attribute, rolled up along a chain of edges. A path that reaches a node twice counts twice. */
export const rollUp = (lake: Tables, { node, sum, along }: RollUpOptions): Program => {
  const start = tableOf(lake, node, "node");
  const column = columnOf(start, sum);
  const steps = along.map(({ edge, direction = "out" }, at): Step => {
    const rows = edgeRows(tableOf(lake, edge, "edge"));
    const [near, far] = direction === "out" ? ["source", "target"] : ["target", "source"];
    const from = at === 0 ? `(select n.node as reached, ${summed(start, column, "n")} as amount from ${start.name} as n)` : `hop_${at}`;
    return {
      kind: "table",
      name: `hop_${at + 1}`,
      select: `select e.${far} as reached, before.amount from ${from} as before join ${rows} as e on e.${near} = before.reached`,
    };
  });
  if (steps.length === 0)
    throw new EdgetableError("plan.invalidOption", "A roll-up needs at least one edge to follow.", { details: { option: "along" } });
  return {
    job: "rollUp",
    what: `${sum} of ${node}, summed along ${along.map(({ edge }) => edge).join(", ")}.`,
    steps: [
      ...steps,
      {
        kind: "table",
        name: "sums",
        select: `select reached as node, sum(amount) as total, count(amount) as rows_summed, min(amount) as least, max(amount) as greatest from hop_${steps.length} group by reached`,
      },
    ],
    result: { table: "sums", orderBy: "total desc nulls last, node" },
  };
};

export interface HierarchyOptions {
  /** The edge from a child to its parent, or from a parent to its child with `direction: "in"`. */
  readonly edge: string;
  readonly direction?: "out" | "in";
  /** The node type whose attribute is summed. */
  readonly node: string;
  readonly sum: string;
  /** Levels at most, 1 to 1,000: a cycle would have no end. @default 100 */
  readonly levels?: number;
}

/** Sums of an attribute over each node and everything below it in a hierarchy. */
export const rollUpHierarchy = (lake: Tables, { edge, direction = "out", node, sum, levels = 100 }: HierarchyOptions): Program => {
  const table = tableOf(lake, node, "node");
  const column = columnOf(table, sum);
  const rows = edgeRows(tableOf(lake, edge, "edge"));
  const [child, parent] = direction === "out" ? ["source", "target"] : ["target", "source"];
  return {
    job: "rollUpHierarchy",
    what: `${sum} of each ${node} and of all below it by ${edge}.`,
    steps: [
      { kind: "table", name: "above", select: `select node as below, node as reached from ${table.name}` },
      { kind: "table", name: "frontier", select: "select below, reached from above" },
      {
        kind: "repeat",
        atMost: levels,
        until: "select count(*) as pairs from frontier",
        steps: [
          {
            kind: "table",
            name: "frontier",
            select: `select distinct frontier.below, e.${parent} as reached from frontier join ${rows} as e on e.${child} = frontier.reached
              anti join above on above.below = frontier.below and above.reached = e.${parent}`,
          },
          { kind: "table", name: "above", select: "select below, reached from above union all select below, reached from frontier" },
        ],
      },
      {
        kind: "table",
        name: "sums",
        select: `select above.reached as node, sum(${summed(table, column, "n")}) as total, count(n.${column}) as rows_summed
          from above join ${table.name} as n on n.node = above.below group by above.reached`,
      },
    ],
    result: { table: "sums", orderBy: "total desc nulls last, node" },
  };
};

export interface WeightedSumOptions {
  readonly edge: string;
  /** A numeric attribute of the edge. @default each edge counts 1 */
  readonly weight?: string;
  /** A numeric attribute of the far node, by which each weight is multiplied. */
  readonly times?: { readonly node: string; readonly attribute: string };
  /** Which end gets the sum. @default "source" */
  readonly at?: "source" | "target";
}

/** Sums of edges' weights at one of their ends, such as a student's credits weighted by grade. */
export const weightedSum = (lake: Tables, { edge, weight, times, at = "source" }: WeightedSumOptions): Program => {
  const table = tableOf(lake, edge, "edge");
  const far = at === "source" ? "target" : "source";
  const factor = weight === undefined ? "1e0" : `cast(e.${columnOf(table, weight)} as double)`;
  const node = times && tableOf(lake, times.node, "node");
  const product = node ? `${factor} * cast(far.${columnOf(node, times.attribute)} as double)` : factor;
  const join = node ? ` join ${node.name} as far on far.node = e.${far}` : "";
  return {
    job: "weightedSum",
    what: `Weights of ${edge}, summed at its ${at}.`,
    steps: [
      {
        kind: "table",
        name: "sums",
        select: `select e.${at} as node, sum(${product}) as total, count(*) as edges from ${edgeRows(table)} as e${join} group by e.${at}`,
      },
    ],
    result: { table: "sums", orderBy: "total desc nulls last, node" },
  };
};

export interface TopOptions {
  /** A node, edge or part of the model. */
  readonly of: string;
  /** The attribute by whose value rows are ranked, greatest first. */
  readonly by: string;
  /** Rows for each value of this attribute. @default over all rows */
  readonly per?: string;
  /** Rows at most, 1 to 10,000. @default 10 */
  readonly top?: number;
}

/** The rows with the greatest values of an attribute, for each value of another. */
export const top = (lake: Tables, { of, by, per, top: most = 10 }: TopOptions): Program => {
  if (!Number.isInteger(most) || most < 1 || most > 10_000)
    throw new EdgetableError("plan.invalidOption", `top must be a whole number from 1 to 10,000; it is ${most}.`, {
      details: { option: "top", value: most },
    });
  const table = tableOf(lake, of);
  const column = columnOf(table, by);
  const group = per === undefined ? undefined : columnOf(table, per);
  const identity = { node: "node", edge: "source, target", part: "owner", cells: "node, field_id" }[table.kind];
  // An attribute may be called so.
  const place = freeName(table.columns.map(({ name }) => name))("place");
  const partition = group === undefined ? "" : `partition by ${group} `;
  return {
    job: "top",
    what: `The ${most} rows of ${of} with the greatest ${by}${per === undefined ? "" : `, for each ${per}`}.`,
    steps: [
      {
        kind: "table",
        name: "ranked",
        select: `select *, cast(row_number() over (${partition}order by ${column} desc nulls last, ${identity}) as bigint) as ${place} from ${table.name} where ${column} is not null`,
      },
      { kind: "table", name: "leaders", select: `select * from ranked where ${place} <= ${most}` },
    ],
    result: { table: "leaders", orderBy: `${group === undefined ? "" : `${group} nulls last, `}${place}` },
  };
};
