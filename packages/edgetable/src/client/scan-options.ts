import { readingKinds, type ReadingOptions, type StrayItem } from "../executor/call.ts";
import type { ScanReport } from "../executor/scan/run-scan.ts";
import type { Catalog } from "../schema/catalog.ts";
import { checkSignal, checkOptions, type OptionChecks, listOf, oneOf } from "../util/check-options.ts";

/** How the table is scanned. */
export interface ScanOptions {
  /** Names of nodes, edges and parts; rows of others are left out, at the same price. @default all */
  readonly only?: readonly string[];
  /** True to read what was written before: twice the price. @default false */
  readonly consistent?: boolean;
  /** Parts of the table that are read side by side, 1 to 1,000,000. @default 1 */
  readonly segments?: number;
  /** Segments that are read at the same time, 1 to 1,000. @default 8 */
  readonly concurrency?: number;
  /**
   * Copies of edges stored twice that wait in memory until their other copy comes, 0 to 10,000,000.
   * Where there are more, the others are read by BatchGetItem: half a read unit for each. @default 20,000
   */
  readonly held?: number;
  /** The `position` of an earlier scan's report: goes on there, with that scan's segments. */
  readonly from?: string;
  /** Milliseconds that one request is tried for, retries included, 1 to 86,400,000. @default 60,000 */
  readonly deadline?: number;
  /** Ends the scan with `execute.aborted`. */
  readonly signal?: AbortSignal;
  /**
   * Is told of every item that gives no row; `"skip"` counts them in the report alone, and `"throw"` ends the scan
   * with `scan.strayItem` at the first one.
   * @default "throw"
   */
  readonly onStray?: "skip" | "throw" | ((stray: StrayItem) => void);
  /**
   * `"show"` gives attributes that the model does not know as well. `db.load` refuses them where the schema lists its
   * attributes.
   * @default the connection's, "hide" unless it says otherwise
   */
  readonly unknown?: ReadingOptions["unknown"];
  /** Is told how far the scan has come. */
  readonly onProgress?: (report: ScanReport) => void;
  /** Milliseconds between two calls of `onProgress`, 1 to 600,000. @default 1,000 */
  readonly progressEvery?: number;
}

const kinds: OptionChecks<ScanOptions> = {
  only: undefined,
  consistent: "boolean",
  segments: [1, 1_000_000],
  concurrency: [1, 1000],
  held: [0, 10_000_000],
  from: "string",
  deadline: [1, 86_400_000],
  signal: checkSignal,
  onStray: readingKinds.onStray,
  unknown: readingKinds.unknown,
  onProgress: "function",
  progressEvery: [1, 600_000],
};

const checkOnly = ({ nodes, edges, parts }: Catalog, only: readonly string[]): void => {
  const known = [...Object.keys(nodes), ...Object.keys(edges), ...Object.keys(parts)];
  for (const name of listOf(only, "names to scan for")) oneOf("node, edge or part", name, known);
};

/** @throws {plan.invalidOption} when an option is unknown, not of its kind, or names nothing of the model */
export const checkScanOptions = (catalog: Catalog, options: ScanOptions): void => {
  checkOptions(options, kinds);
  checkOnly(catalog, options.only ?? []);
};
