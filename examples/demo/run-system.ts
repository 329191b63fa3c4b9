import { isDeepStrictEqual } from "node:util";
import type { ConnectOptions, Explanation, Report, Transport } from "edgetable";
import { requestTerms } from "./request-line.ts";
import { type BoundPattern, type ExampleTable, type Expected, type OpenTable, someCursor, type System } from "../system.ts";

/** One request of an answered pattern. */
export interface RequestResult {
  readonly operation: string;
  readonly index: string | undefined;
  /** The key condition or the keys, with the values in it. */
  readonly terms: string;
  readonly itemsRead: number;
  readonly readUnits: number;
}

/** The result of one pattern. */
export interface PatternResult {
  readonly name: string;
  readonly question: string;
  readonly example: Readonly<Record<string, unknown>>;
  /** The call in TypeScript. */
  readonly call: string;
  readonly answer: unknown;
  /** True if the answer is the expected one. */
  readonly ok: boolean;
  readonly expected: Expected["answer"];
  /** The error, if there is no answer. */
  readonly error: string | undefined;
  readonly requests: readonly RequestResult[];
  readonly consistency: string;
  readonly itemsRead: number;
  readonly predictedUnits: number;
  readonly consumedUnits: number;
  readonly milliseconds: number;
}

/** The cost of writing an example's rows. */
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

/** Totals over all patterns of one or several systems. */
export interface Totals {
  readonly patterns: number;
  readonly failed: readonly string[];
  readonly requests: number;
  readonly itemsRead: number;
  readonly predictedUnits: number;
  readonly consumedUnits: number;
}

/** Adds up the results of one or several systems. */
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

// Absent and undefined attributes are equal. Class instances do not occur in answers.
const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [name, plain(member)]),
  );
};

const isCursor = (name: string, expected: unknown, actual: unknown): boolean =>
  (name === "next" || name === "previous") && expected === someCursor && typeof actual === "string";

// A cursor is sealed, so only its presence can be compared.
const withoutCursors = (expected: unknown, actual: unknown): unknown => {
  if (typeof expected !== "object" || expected === null || typeof actual !== "object" || actual === null) return actual;
  const named = expected as Readonly<Record<string, unknown>>;
  const entries = Object.entries(actual).map(([name, value]) => [
    name,
    isCursor(name, named[name], value) ? someCursor : (value as unknown),
  ]);
  return Array.isArray(actual) ? (actual as unknown) : Object.fromEntries(entries);
};

const inOneOrder = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(inOneOrder).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, inOneOrder(member)]),
  );
};

/** True if an answer is the expected one. */
export const sameAnswer = (actual: unknown, { answer, anyOrder = false }: Expected): boolean => {
  const order = anyOrder ? inOneOrder : (value: unknown): unknown => value;
  return isDeepStrictEqual(order(plain(withoutCursors(answer, actual))), order(plain(answer)));
};

const requestsOf = (report: Report<unknown>): readonly RequestResult[] =>
  report.requests.map((request) => ({
    operation: request.operation,
    index: request.index,
    terms: requestTerms(request),
    itemsRead: request.itemsRead,
    readUnits: request.readUnits,
  }));

type Timed = readonly [report: Report<unknown>, milliseconds: number];

const timed = async (make: () => Promise<Report<unknown>>): Promise<Timed> => {
  const start = performance.now();
  const report = await make();
  return [report, performance.now() - start];
};

const answered = (pattern: BoundPattern, explanation: Explanation, [report, milliseconds]: Timed): PatternResult => ({
  name: pattern.name,
  question: pattern.question,
  example: pattern.example,
  call: pattern.source,
  answer: report.value,
  ok: sameAnswer(report.value, pattern.expected),
  expected: pattern.expected.answer,
  error: undefined,
  requests: requestsOf(report),
  consistency: explanation.consistency,
  itemsRead: report.requests.reduce((sum, request) => sum + request.itemsRead, 0),
  predictedUnits: explanation.cost.readUnits,
  consumedUnits: report.cost.readUnits,
  milliseconds,
});

const failed = (pattern: BoundPattern, error: unknown): PatternResult => ({
  name: pattern.name,
  question: pattern.question,
  example: pattern.example,
  call: pattern.source,
  answer: undefined,
  ok: false,
  expected: pattern.expected.answer,
  error: error instanceof Error ? error.message : String(error),
  requests: [],
  consistency: "",
  itemsRead: 0,
  predictedUnits: 0,
  consumedUnits: 0,
  milliseconds: 0,
});

/** Runs a pattern with its example and checks the answer. Predicts the cost before reading. */
const runPattern = async (pattern: BoundPattern, signal: AbortSignal): Promise<PatternResult> => {
  try {
    const explanation = await pattern.call.explain();
    return answered(pattern, explanation, await timed(() => pattern.call.report({ signal })));
  } catch (error) {
    if (signal.aborted) throw error;
    return failed(pattern, error);
  }
};

/** Receives the demo's results as they arrive. */
export interface Reporter {
  /** Before a system's first table. */
  system(system: System): void;
  /** After each request that loads a table. */
  loading(table: ExampleTable, requests: number): void;
  loaded(table: ExampleTable, load: LoadResult): void;
  pattern(pattern: PatternResult, at: number): void;
}

export interface RunContext {
  readonly transport: Transport;
  readonly reporter: Reporter;
  readonly signal: AbortSignal;
  /** The argument after the system's name on the command line. */
  readonly argument: string | undefined;
}

// Without a given secret, the first page would store a random one in the table.
const connection = (transport: Transport): ConnectOptions => ({ transport, cursorSecret: "demo".padEnd(43, "-") });

interface Loaded {
  readonly table: OpenTable;
  readonly load: LoadResult;
}

const loadTable = async (example: ExampleTable, { transport, reporter, signal }: RunContext): Promise<Loaded> => {
  const spent = { requests: 0, writeUnits: 0 };
  const onRequest: NonNullable<ConnectOptions["onRequest"]> = ({ writeUnits }) => {
    signal.throwIfAborted();
    spent.writeUnits += writeUnits;
    reporter.loading(example, ++spent.requests);
  };
  const table = example.open({ ...connection(transport), onRequest });
  await table.admin.create({ signal });
  Object.assign(spent, { requests: 0, writeUnits: 0 });
  const start = performance.now();
  await table.load();
  const load = { ...spent, milliseconds: performance.now() - start };
  reporter.loaded(example, load);
  return { table, load };
};

const runTable = async (example: ExampleTable, context: RunContext): Promise<TableResult> => {
  const { table, load } = await loadTable(example, context);
  const patterns: PatternResult[] = [];
  for (const [at, pattern] of table.patterns.entries()) {
    const result = await runPattern(pattern, context.signal);
    context.reporter.pattern(result, at);
    patterns.push(result);
  }
  return { table: example.table, variant: example.variant, load, patterns };
};

/** Creates a system's tables, loads them and runs every pattern. */
export const runSystem = async (system: System, context: RunContext): Promise<SystemResult> => {
  const start = performance.now();
  context.reporter.system(system);
  const tables: TableResult[] = [];
  for (const example of await system.tables(context.argument)) tables.push(await runTable(example, context));
  const { name, title, source } = system;
  return { name, title, source, tables, milliseconds: performance.now() - start };
};
