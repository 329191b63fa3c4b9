import type { Expected } from "../system.ts";

/** One request of an answered pattern. */
export interface RequestResult {
  readonly operation: string;
  readonly index: string | undefined;
  /** The key condition or the keys, with the values in it. */
  readonly terms: string;
  readonly itemsRead: number;
  readonly readUnits: number;
}

/** One pattern, asked and checked. */
export interface PatternResult {
  readonly name: string;
  readonly question: string;
  readonly example: Readonly<Record<string, unknown>>;
  readonly answer: unknown;
  /** Whether the answer is the expected one. */
  readonly ok: boolean;
  readonly expected: Expected["answer"];
  /** Why there is no answer. */
  readonly error: string | undefined;
  readonly requests: readonly RequestResult[];
  readonly consistency: string;
  readonly itemsRead: number;
  readonly predictedUnits: number;
  readonly consumedUnits: number;
  readonly milliseconds: number;
}

/** What writing an example's rows took. */
export interface LoadResult {
  readonly requests: number;
  readonly writeUnits: number;
  readonly milliseconds: number;
}

export interface TableResult {
  readonly table: string;
  readonly variant: string | undefined;
  readonly load: LoadResult;
  readonly patterns: readonly PatternResult[];
}

export interface SystemResult {
  readonly name: string;
  readonly title: string;
  readonly source: string;
  readonly tables: readonly TableResult[];
  readonly milliseconds: number;
}

/** Sums over everything that was asked of a system. */
export interface Totals {
  readonly patterns: number;
  readonly failed: readonly string[];
  readonly requests: number;
  readonly itemsRead: number;
  readonly predictedUnits: number;
  readonly consumedUnits: number;
}

/** The sums of one or several systems. */
export const totalsOf = (systems: readonly SystemResult[]): Totals => {
  const patterns = systems.flatMap(({ name, tables }) =>
    tables.flatMap((table) => table.patterns.map((pattern) => ({ system: name, pattern }))),
  );
  const sum = (pick: (pattern: PatternResult) => number): number => patterns.reduce((total, { pattern }) => total + pick(pattern), 0);
  return {
    patterns: patterns.length,
    failed: patterns.filter(({ pattern }) => !pattern.ok).map(({ system, pattern }) => `${system}.${pattern.name}`),
    requests: sum((pattern) => pattern.requests.length),
    itemsRead: sum((pattern) => pattern.itemsRead),
    predictedUnits: sum((pattern) => pattern.predictedUnits),
    consumedUnits: sum((pattern) => pattern.consumedUnits),
  };
};
