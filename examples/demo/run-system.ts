import type { ConnectOptions, Transport } from "edgetable";
import type { ExampleTable, OpenTable, System } from "../system.ts";
import type { LoadResult, PatternResult, SystemResult, TableResult } from "./results.ts";
import { runPattern } from "./run-pattern.ts";

/** What the demo tells while it runs. */
export interface Reporter {
  /** Before a system's first table. */
  system(system: System): void;
  /** While a table is loaded, after each request. */
  loading(table: ExampleTable, requests: number): void;
  loaded(table: ExampleTable, load: LoadResult): void;
  pattern(pattern: PatternResult, at: number): void;
}

export interface RunContext {
  readonly transport: Transport;
  readonly reporter: Reporter;
  readonly signal: AbortSignal;
  /** What followed the system's name on the command line. */
  readonly argument: string | undefined;
}

// A secret of the demo's own: without one the first page leaves a random one in the table.
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

/** Creates a system's tables, loads them, and asks every pattern. */
export const runSystem = async (system: System, context: RunContext): Promise<SystemResult> => {
  const start = performance.now();
  context.reporter.system(system);
  const tables: TableResult[] = [];
  for (const example of await system.tables(context.argument)) tables.push(await runTable(example, context));
  const { name, title, source } = system;
  return { name, title, source, tables, milliseconds: performance.now() - start };
};
