import type { Catalog } from "edgetable";
import { type ColumnType, sqlTypes } from "../column-type.ts";
import { freeName } from "../lake-tables.ts";
import { type Lake, type Program, type Step, type StoredColumn, type StoredTable, tableOf } from "../lake.ts";
import type { Targets } from "../write-back/plan-changes.ts";
import { writeRows, type Writable, type WriteBackOptions, type WriteBackReport } from "../write-back/write-back.ts";
import { type AggregateFact, attributeColumn, factSelect, type SummaryFact, summarySelect } from "./fact-sql.ts";

interface Tables {
  readonly tables: readonly StoredTable[];
}

type Fact = AggregateFact | SummaryFact;
const ownerOf = (fact: Fact): string => ("node" in fact ? fact.node : fact.edge);

/** The attributes that a batch job keeps: of nodes, then of edges. */
const batchFacts = ({ facts }: Catalog): readonly Fact[] =>
  [...facts.aggregates, ...facts.summaries].filter(({ freshness }) => freshness === "batch");

/** The columns that tell the rows of a result apart. */
const leadingColumns = ({ edges }: Catalog, facts: readonly Fact[]): readonly string[] => {
  const named = facts.flatMap((fact) => ("edge" in fact ? [edges[fact.edge]!.key.length] : []));
  const keys = Array.from({ length: Math.max(0, ...named) }, (_, at) => `key_${at}`);
  return ["node", ...(named.length > 0 ? ["edge", "source", "target", ...keys] : [])];
};

/** The result's column of each fact: plain lower-case words, and no two facts share one. */
const valueColumns = (catalog: Catalog, facts: readonly Fact[]): ReadonlyMap<Fact, string> => {
  const free = freeName(leadingColumns(catalog, facts));
  return new Map(
    facts.map((fact) => {
      const words = `${ownerOf(fact)}_${fact.attribute}`.toLowerCase().replaceAll(/[^a-z\d_]+/g, "_");
      return [fact, free(/^[a-z]/.test(words) ? words : `x_${words}`)];
    }),
  );
};

const numeric: ReadonlySet<ColumnType> = new Set(["integer", "whole", "number"]);

/**
 * The type of a fact's values: by the rows that it is of. The column of its attribute says nothing where the schema does not list
 * the type and no value, or a narrower one, has been stored yet.
 */
const typeOfValue = (lake: Tables, { operation, over, of }: Fact): ColumnType => {
  if (operation === "count" || operation === "distinct") return "integer";
  if (operation === "average") return "number";
  const { type } = attributeColumn(tableOf(lake, over.name, over.kind), of ?? "");
  return operation === "sum" && !numeric.has(type) ? "number" : type;
};

const castTo = (value: string, { type }: { readonly type: ColumnType }): string => {
  const sql = sqlTypes[type];
  // Spark's varchar has a length.
  return `cast(${value} as ${sql.startsWith("varchar") ? sql.replace("varchar", "string") : sql})`;
};

/** The columns of an edge's own key. */
const keyColumns = (lake: Tables, { edges }: Catalog, edge: string): readonly StoredColumn[] =>
  edges[edge]!.key.map((field) => attributeColumn(tableOf(lake, edge, "edge"), field));

/**
 * Derived attributes that are declared with `freshness: "batch"`, computed from the same declarations that transactions and
 * streams use: one row for each node that has some, and for each edge, with its type in `edge`, its ends in `source` and `target`
 * and its own key as text in `key_0`, `key_1`.
 */
export const derived = (lake: Tables, catalog: Catalog): Program => {
  const facts = batchFacts(catalog);
  const steps = facts.map((fact, at): Step => {
    const select = "node" in fact ? factSelect(lake, catalog, fact) : summarySelect(lake, catalog, fact);
    return { kind: "table", name: `fact_${at}`, select };
  });
  const edges = [...new Set(facts.flatMap((fact) => ("edge" in fact ? [fact.edge] : [])))];
  const leading = leadingColumns(catalog, facts);
  const names = valueColumns(catalog, facts);
  const selectOf = (owner: string, table: StoredTable, identity: Readonly<Record<string, string>>): string => {
    const own = leading.map((column) => `${identity[column] ?? "cast(null as string)"} as ${column}`);
    const columns = facts.map((fact, at) => {
      const value = ownerOf(fact) === owner ? `fact_${at}.value` : "null";
      return `${castTo(value, { type: typeOfValue(lake, fact) })} as ${names.get(fact)!}`;
    });
    const by = table.kind === "node" ? ["node"] : ["source", "target", ...keyColumns(lake, catalog, owner).map(({ name }) => name)];
    const joins = facts.flatMap((fact, at) =>
      ownerOf(fact) === owner ? [` join fact_${at} on ${by.map((column) => `fact_${at}.${column} = n.${column}`).join(" and ")}`] : [],
    );
    return `select ${[...own, ...columns].join(", ")} from ${table.name} as n${joins.join("")}`;
  };
  const nodes = [...new Set(facts.flatMap((fact) => ("node" in fact ? [fact.node] : [])))];
  const selects = [
    ...nodes.map((node) => selectOf(node, tableOf(lake, node, "node"), { node: "n.node" })),
    ...edges.map((edge) => {
      const own = keyColumns(lake, catalog, edge).map(({ name }, at) => [`key_${at}`, `cast(n.${name} as string)`] as const);
      const identity = { edge: `'${edge}'`, source: "n.source", target: "n.target", ...Object.fromEntries(own) };
      return selectOf(edge, tableOf(lake, edge, "edge"), identity);
    }),
  ];
  return {
    job: "derived",
    what: `Derived attributes kept in batch: ${facts.map((fact) => `${ownerOf(fact)}.${fact.attribute}`).join(", ") || "none"}.`,
    steps: [
      ...steps,
      { kind: "table", name: "derived", select: selects.join(" union all ") || "select cast(null as string) as node where 1 = 0" },
    ],
    result: { table: "derived", orderBy: edges.length > 0 ? leading.map((column) => `${column} nulls last`).join(", ") : "node" },
  };
};

/** How derived attributes are written. */
export type DeriveOptions = Omit<WriteBackOptions, "to" | "given" | "absent">;

/**
 * Computes every derived attribute that is declared with `freshness: "batch"`, and writes those that changed onto their nodes and
 * edges: see {@link writeBack}. A value that another batch job has written since the extraction is left alone.
 *
 * @throws {analytics.lake} if the lake is older than the model
 * @throws {job.busy} while another process writes
 * @example
 * await extract(db, { into: "lake" });
 * const lake = await openLake("lake");
 * await derive(db, lake, { unitsPerSecond: 200 });
 */
export const derive = (db: Writable, lake: Lake, options: DeriveOptions = {}): Promise<WriteBackReport> => {
  const { catalog } = db;
  const to: Record<string, Record<string, string>> = {};
  for (const [fact, column] of valueColumns(catalog, batchFacts(catalog))) (to[ownerOf(fact)] ??= {})[fact.attribute] = column;
  const targets: Targets = to;
  if (Object.keys(to).length === 0)
    return Promise.resolve({ matched: 0, changes: 0, written: 0, already: 0, skipped: 0, skippedItems: [], resumed: false, writeUnits: 0 });
  const rowsOf = (result: string, { kind, definition }: StoredTable): string => {
    if (kind === "node") return result;
    const keys = keyColumns(lake, catalog, definition).map((column, at) => `${castTo(`key_${at}`, column)} as ${column.name}`);
    const values = Object.values(to[definition] ?? {});
    return `(select ${["source", "target", ...keys, ...values].join(", ")} from ${result} where edge = '${definition}')`;
  };
  return writeRows(db, lake, derived(lake, catalog), { job: "derived", ...options, to: targets, given: "value", rowsOf });
};
