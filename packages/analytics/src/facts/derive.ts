import type { Catalog } from "edgetable";
import { sqlTypes } from "../column-type.ts";
import { type Lake, type Program, type Step, type StoredTable, tableOf } from "../lake.ts";
import type { Targets } from "../write-back/plan-changes.ts";
import { writeBack, type Writable, type WriteBackOptions, type WriteBackReport } from "../write-back/write-back.ts";
import { type AggregateFact, attributeColumn, factSelect } from "./fact-sql.ts";

/** The attributes that a batch job keeps. */
const batchFacts = ({ facts }: Catalog): readonly AggregateFact[] => facts.aggregates.filter(({ freshness }) => freshness === "batch");

/** The result's column of a fact: no two facts share one. */
const columnOf = (fact: AggregateFact): string => `${fact.node}_${fact.attribute}`.toLowerCase();

/**
 * Derived attributes that are declared with `freshness: "batch"`, computed from the same declarations that transactions and
 * streams use: one row for each node that has some.
 */
export const derived = (lake: { readonly tables: readonly StoredTable[] }, catalog: Catalog): Program => {
  const facts = batchFacts(catalog);
  const steps = facts.map((fact, at): Step => ({ kind: "table", name: `fact_${at}`, select: factSelect(lake, catalog, fact) }));
  const typed = (fact: AggregateFact): string => sqlTypes[attributeColumn(tableOf(lake, fact.node, "node"), fact.attribute).type];
  const selects = [...new Set(facts.map(({ node }) => node))].map((node) => {
    const columns = facts.map((fact, at) => {
      const type = typed(fact);
      return `cast(${fact.node === node ? `fact_${at}.value` : "null"} as ${type === "varchar" ? "string" : type}) as ${columnOf(fact)}`;
    });
    const joins = facts.flatMap((fact, at) => (fact.node === node ? [` join fact_${at} on fact_${at}.node = n.node`] : []));
    return `select n.node, ${columns.join(", ")} from ${tableOf(lake, node, "node").name} as n${joins.join("")}`;
  });
  return {
    job: "derived",
    what: `Derived attributes kept in batch: ${facts.map(({ node, attribute }) => `${node}.${attribute}`).join(", ") || "none"}.`,
    steps: [
      ...steps,
      { kind: "table", name: "derived", select: selects.join(" union all ") || "select cast(null as string) as node where 1 = 0" },
    ],
    result: { table: "derived", orderBy: "node" },
  };
};

/** How derived attributes are written. */
export type DeriveOptions = Omit<WriteBackOptions, "to" | "given" | "absent">;

/**
 * Computes every derived attribute that is declared with `freshness: "batch"`, and writes those that changed: see
 * {@link writeBack}. A value that another batch job has written since the extraction is left alone.
 *
 * @throws {analytics.lake} if the lake is older than the model
 * @throws {job.busy} while another process writes
 * @example
 * await extract(db, { into: "lake" });
 * const lake = await openLake("lake");
 * await derive(db, lake, { unitsPerSecond: 200 });
 */
export const derive = (db: Writable, lake: Lake, options: DeriveOptions = {}): Promise<WriteBackReport> => {
  const to: Record<string, Record<string, string>> = {};
  for (const fact of batchFacts(db.catalog)) (to[fact.node] ??= {})[fact.attribute] = columnOf(fact);
  const targets: Targets = to;
  if (Object.keys(to).length === 0)
    return Promise.resolve({ matched: 0, changes: 0, written: 0, already: 0, skipped: 0, skippedItems: [], resumed: false, writeUnits: 0 });
  return writeBack(db, lake, derived(lake, db.catalog), { job: "derived", ...options, to: targets, given: "value" });
};
