import type { Catalog } from "edgetable";
import { findingKinds, type FindingKind } from "edgetable/verify";
import type { ColumnType } from "../column-type.ts";
import { type Lake, type Program, type ResultRow, type Step, type StoredTable, tableOf } from "../lake.ts";
import { attributeColumn, factSelect, summarySelect } from "./fact-sql.ts";

/** One difference between what is stored and what follows from the other rows of the lake. */
export interface LakeFinding {
  readonly kind: FindingKind;
  /** The key columns of the row. */
  readonly item: ResultRow;
  readonly definition: string;
  readonly attribute?: string;
  /** What is stored; left out where nothing is. */
  readonly stored?: unknown;
  /** What follows from the other rows; left out where nothing does. */
  readonly expected?: unknown;
  readonly reason: string;
}

/** Findings of one kind, in the form of `edgetable verify`. */
export interface LakeKindReport {
  readonly kind: FindingKind;
  readonly what: string;
  readonly isHarmless: boolean;
  readonly count: number;
  readonly examples: readonly LakeFinding[];
}

/** The result of a validation. */
export interface ValidationReport {
  readonly clean: boolean;
  /** Rows of all tables of the lake. */
  readonly rows: number;
  readonly kinds: readonly LakeKindReport[];
}

export interface ValidateOptions {
  /** Examples of each kind, 0 to 100,000. @default 10 */
  readonly examples?: number;
}

interface Tables {
  readonly tables: readonly StoredTable[];
}

/** A rule: a SELECT of the rows that break it, with the columns of `keys`, `stored` and `expected`, and what they have in common. */
interface Rule {
  readonly kind: FindingKind;
  readonly keys: readonly string[];
  readonly definition: string;
  readonly attribute?: string;
  readonly select: string;
  readonly reason: (row: ResultRow) => string;
}

const shown = (value: unknown): string => {
  if (value === null || value === undefined) return "nothing";
  if (typeof value === "string") return value;
  if (value instanceof Date) return value.toISOString();
  return typeof value === "bigint" ? value.toString() : JSON.stringify(value);
};

// Decimals that DynamoDB added exactly, against doubles.
const differs = (stored: string, expected: string, type: ColumnType): string =>
  type === "number"
    ? `(${stored} is distinct from ${expected} and coalesce(abs(${stored} - ${expected}) > 1e-9 * greatest(abs(${stored}), abs(${expected})), true))`
    : `${stored} is distinct from ${expected}`;

/** What is wrong with a derived attribute, in the words of `verify`. */
const factKind = ({ freshness }: { readonly freshness: string }): FindingKind => (freshness === "stream" ? "staleFact" : "wrongAggregate");

const aggregateRules = (lake: Tables, catalog: Catalog): readonly Rule[] =>
  catalog.facts.aggregates.map((fact): Rule => {
    const table = tableOf(lake, fact.node, "node");
    const { name, type } = attributeColumn(table, fact.attribute);
    const select = `select n.node, n.${name} as stored, wanted.value as expected from ${table.name} as n
      join (${factSelect(lake, catalog, fact)}) as wanted on wanted.node = n.node where ${differs(`n.${name}`, "wanted.value", type)}`;
    return {
      kind: factKind(fact),
      keys: ["node"],
      definition: fact.node,
      attribute: fact.attribute,
      select,
      reason: ({ stored, expected }) =>
        `"${fact.attribute}" holds ${shown(stored)}; the ${fact.over.kind === "part" ? "parts" : "edges"} of "${fact.over.name}" make ${shown(expected)}.`,
    };
  });

const leading = { node: ["node"], edge: ["source", "target"], part: ["owner"], cells: ["node", "field_id"] } as const;

const keyColumns = (catalog: Catalog, table: StoredTable): readonly string[] => {
  const own =
    table.kind === "edge" ? catalog.edges[table.definition]?.key : table.kind === "part" ? catalog.parts[table.definition]?.idFields : [];
  return [...leading[table.kind], ...(own ?? []).map((attribute) => attributeColumn(table, attribute).name)];
};

const summaryRules = (lake: Tables, catalog: Catalog): readonly Rule[] =>
  catalog.facts.summaries.map((fact): Rule => {
    const table = tableOf(lake, fact.edge, "edge");
    const { name, type } = attributeColumn(table, fact.attribute);
    const keys = keyColumns(catalog, table);
    const on = keys.map((key) => `wanted.${key} = e.${key}`).join(" and ");
    return {
      kind: factKind(fact),
      keys,
      definition: fact.edge,
      attribute: fact.attribute,
      select: `select ${keys.map((key) => `e.${key}`).join(", ")}, e.${name} as stored, wanted.value as expected from ${table.name} as e
        join (${summarySelect(lake, catalog, fact)}) as wanted on ${on} where ${differs(`e.${name}`, "wanted.value", type)}`,
      reason: ({ stored, expected }) =>
        `"${fact.attribute}" holds ${shown(stored)}; the edges of "${fact.over.name}" between its ends make ${shown(expected)}.`,
    };
  });

/** A column in the form of another one: where that is of one type, and this one's values are of several, it holds JSON texts. */
const inFormOf = (type: ColumnType, { sql, held }: { readonly sql: string; readonly held: ColumnType }): string => {
  if (held !== "json" || type === "json") return sql;
  if (type === "integer" || type === "whole" || type === "number") return `try_cast(${sql} as double)`;
  if (type !== "text") return sql;
  return `case when substr(${sql}, 1, 1) = '"' then substr(${sql}, 2, length(${sql}) - 2) end`;
};

const copyRules = (lake: Tables, catalog: Catalog): readonly Rule[] =>
  catalog.facts.copies.flatMap(({ attribute, onto, end, of }): readonly Rule[] => {
    const table = tableOf(lake, onto.name, onto.kind);
    const types = onto.kind === "part" ? [catalog.parts[onto.name]!.definition.of] : catalog.edges[onto.name]![end];
    const at = onto.kind === "part" ? "owner" : end === "from" ? "source" : "target";
    const { name, type } = attributeColumn(table, attribute);
    const keys = keyColumns(catalog, table);
    return types.map((node): Rule => {
      const source = tableOf(lake, node, "node");
      const { name: from, type: held } = attributeColumn(source, of);
      const copy = inFormOf(held, { sql: `e.${name}`, held: type });
      const original = inFormOf(type, { sql: `n.${from}`, held });
      return {
        kind: "staleCopy",
        keys,
        definition: onto.name,
        attribute,
        select: `select ${keys.map((key) => `e.${key}`).join(", ")}, e.${name} as stored, n.${from} as expected from ${table.name} as e
          join ${source.name} as n on n.node = e.${at} where ${differs(copy, original, type)}`,
        reason: ({ stored, expected }) => `"${attribute}" holds ${shown(stored)}; "${of}" of its "${node}" is ${shown(expected)}.`,
      };
    });
  });

const endRules = (lake: Tables, catalog: Catalog): readonly Rule[] =>
  lake.tables.flatMap((table): readonly Rule[] => {
    if (table.kind === "node" || table.kind === "cells") return [];
    const { definition, kind } = table;
    const keys = keyColumns(catalog, table);
    const ends: readonly (readonly [string, readonly string[]])[] =
      kind === "part"
        ? [["owner", [catalog.parts[definition]!.definition.of]]]
        : [
            ["source", catalog.edges[definition]!.from],
            ["target", catalog.edges[definition]!.to],
          ];
    return ends.flatMap(([column, types]): readonly Rule[] => {
      // A node without an item of its own exists by its edges.
      if (types.some((type) => catalog.nodes[type]?.definition.stored === false)) return [];
      const end = column === "source" ? "from" : "to";
      const stays = kind === "edge" && (catalog.edges[definition]!.definition.onDelete?.[end] ?? "leave") === "leave";
      const nodes = types
        .map((type) => `select node from ${tableOf(lake, type, catalog.nodes[type] ? "node" : "part").name}`)
        .join(" union all ");
      return [
        {
          kind: kind === "part" ? "orphanedPart" : stays ? "leftEdge" : "dangling",
          keys,
          definition,
          select: `select ${keys.map((key) => `e.${key}`).join(", ")}, null as stored, e.${column} as expected from ${table.name} as e
            anti join (${nodes}) as n on n.node = e.${column}`,
          reason: ({ expected }) => `There is no node ${shown(expected)}.`,
        },
      ];
    });
  });

const uniqueRules = (lake: Tables, catalog: Catalog): readonly Rule[] =>
  Object.values(catalog.nodes).flatMap(({ name: definition, definition: { unique = [] } }) =>
    unique.map((attribute): Rule => {
      const table = tableOf(lake, definition, "node");
      const { name } = attributeColumn(table, attribute);
      return {
        kind: "duplicate",
        keys: ["node"],
        definition,
        attribute,
        select: `select node, ${name} as stored, null as expected from ${table.name} where ${name} is not null qualify count(*) over (partition by ${name}) > 1`,
        reason: ({ stored }) => `Another "${definition}" has the unique value ${shown(stored)} too.`,
      };
    }),
  );

const rulesOf = (lake: Tables, catalog: Catalog): readonly Rule[] =>
  [aggregateRules, summaryRules, copyRules, endRules, uniqueRules].flatMap((rules) => rules(lake, catalog));

/**
 * The validation as a program, for Spark where one machine is too small: one row for each difference, with the columns `kind`,
 * `definition`, `attribute`, `item` (the columns of its key), `stored` and `expected` as text. See {@link validate}.
 *
 * @throws {analytics.lake} if the lake is older than the model
 */
export const validation = (lake: Tables, catalog: Catalog): Program => {
  const steps = rulesOf(lake, catalog).map(({ kind, definition, attribute, keys, select }, at): Step => {
    const item = keys.map((key) => `cast(${key} as string)`).join(", ");
    const named = attribute === undefined ? "cast(null as string)" : `'${attribute.replaceAll("'", "''")}'`;
    const columns = `'${kind}' as kind, '${definition}' as definition, ${named} as attribute, concat_ws(' > ', ${item}) as item`;
    const values = "cast(stored as string) as stored, cast(expected as string) as expected";
    return { kind: "table", name: `difference_${at}`, select: `select ${columns}, ${values} from (${select}) as differences` };
  });
  const none = "select cast(null as string) as kind, null as definition, null as attribute, null as item where 1 = 0";
  const all = steps.map((_, at) => `select * from difference_${at}`).join(" union all ");
  return {
    job: "validation",
    what: "What differs from what the other rows of the lake make it.",
    steps: [...steps, { kind: "table", name: "validation", select: all || none }],
    result: { table: "validation", orderBy: "kind, definition, attribute nulls first, item" },
  };
};

/**
 * Recomputes from the lake alone what transactions and streams keep, and reports where a row differs: derived attributes and
 * copies, ends that do not exist, unique values that two nodes have. Asks nothing of the table. In a lake from an export to a
 * point in time every difference is one; in a lake from a live table, a row that was written during the scan may differ too:
 * `verify` judges those by consistent reads, and looks at what the lake does not hold (markers, degree guards, index keys).
 *
 * @throws {analytics.lake} if the lake is older than the model
 * @example
 * const { clean, kinds } = await validate(lake, graph.catalog);
 */
export const validate = async (lake: Lake, catalog: Catalog, { examples = 10 }: ValidateOptions = {}): Promise<ValidationReport> => {
  const found = new Map<FindingKind, { count: number; readonly examples: LakeFinding[] }>();
  for (const { kind, definition, attribute, select, reason } of rulesOf(lake, catalog)) {
    const [counted] = await lake.query(`select count(*) as rows from (${select})`);
    const count = Number(counted?.["rows"]);
    if (count === 0) continue;
    const report = found.get(kind) ?? { count: 0, examples: [] };
    found.set(kind, { ...report, count: report.count + count });
    for (const row of await lake.query(`select * from (${select}) order by all limit ${Math.max(0, examples - report.examples.length)}`)) {
      const { stored, expected, ...item } = row;
      const ends = kind === "dangling" || kind === "leftEdge" || kind === "orphanedPart";
      report.examples.push({
        kind,
        item,
        definition,
        ...(attribute === undefined ? {} : { attribute }),
        ...(stored === null ? {} : { stored }),
        ...(expected === null || ends ? {} : { expected }),
        reason: reason(row),
      });
    }
  }
  const kinds = (Object.keys(findingKinds) as FindingKind[]).flatMap((kind): readonly LakeKindReport[] => {
    const report = found.get(kind);
    return report ? [{ kind, what: findingKinds[kind], isHarmless: kind === "leftEdge", ...report }] : [];
  });
  return {
    clean: kinds.every(({ isHarmless }) => isHarmless),
    rows: lake.tables.reduce((sum, { rows }) => sum + rows, 0),
    kinds,
  };
};
