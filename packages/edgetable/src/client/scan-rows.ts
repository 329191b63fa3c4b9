import { readingChecks, type ReadingOptions, type StrayItem } from "../executor/call.ts";
import { runScan, type Scanning, type ScanReport } from "../executor/scan/run-scan.ts";
import { checkOptions, checkSignal, listOf, oneOf, type OptionChecks } from "../util/check-options.ts";
import type { CallContext } from "../executor/session.ts";
import type { Driver } from "./driver.ts";

/** Options of a scan. */
export interface ScanOptions {
  /** Names of nodes, edges and parts to return. The price is the same. @default all */
  readonly only?: readonly string[] | undefined;
  /** True for strongly consistent reads: twice the price. @default false */
  readonly consistent?: boolean | undefined;
  /** Number of segments into which the table is divided, 1 to 1,000,000. @default 1 */
  readonly segments?: number | undefined;
  /** Number of segments read in parallel, 1 to 1,000. @default 8 */
  readonly concurrency?: number | undefined;
  /**
   * Maximum number of copies of edges stored twice that wait in memory for their other copy, 0 to 10,000,000. Beyond it, other
   * copies are read by BatchGetItem, at half a read unit each. @default 20,000
   */
  readonly held?: number | undefined;
  /** The `position` in the report of an earlier scan. The scan continues there, with the same segments. */
  readonly from?: string | undefined;
  /** Time limit of one request, including retries, in milliseconds, 1 to 86,400,000. @default 60,000 */
  readonly deadline?: number | undefined;
  /** Ends the scan with `execute.aborted`. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with every item that is not a row. `"skip"` only counts them in the report, `"throw"` ends the scan with
   * `scan.strayItem` at the first one.
   * @default "throw"
   */
  readonly onStray?: ("skip" | "throw" | ((stray: StrayItem) => void)) | undefined;
  /**
   * `"show"` also returns attributes that the model does not know. `db.load` refuses them if the schema lists its attributes.
   * @default the connection's setting, by default "hide"
   */
  readonly unknown?: ReadingOptions["unknown"] | undefined;
  /** Called with the progress of the scan. */
  readonly onProgress?: ((report: ScanReport) => void) | undefined;
  /** Milliseconds between two calls of `onProgress`, 1 to 600,000. @default 1,000 */
  readonly progressEvery?: number | undefined;
}

const scanChecks: OptionChecks<ScanOptions> = {
  only: undefined,
  consistent: "boolean",
  segments: [1, 1_000_000],
  concurrency: [1, 1000],
  held: [0, 10_000_000],
  from: "string",
  deadline: [1, 86_400_000],
  signal: checkSignal,
  onStray: readingChecks.onStray,
  unknown: readingChecks.unknown,
  onProgress: "function",
  progressEvery: [1, 600_000],
};

/**
 * Begins a scan; see `ScanTable`.
 *
 * @throws {plan.invalidOption} if an option is unknown, has a wrong type, or has a name that the model does not have
 */
export const scanRows = (driver: Driver, options: ScanOptions): Scanning => {
  checkOptions(options, scanChecks);
  const { nodes, edges, parts } = driver.catalog;
  const names = [...Object.keys(nodes), ...Object.keys(edges), ...Object.keys(parts)];
  for (const name of listOf(options.only ?? [], "names to scan for")) oneOf("node, edge or part", name, names);
  const { segments = 1, concurrency = 8, consistent = false, held = 20_000, progressEvery = 1000 } = options;
  const { from, only, onStray, onProgress, deadline = 60_000, signal, unknown } = options;
  const context = (): CallContext => driver.context({ deadline, ...(signal && { signal }), unknown });
  const rowOptions = context().reading ?? {};
  const settings = { segments, concurrency, consistent, held, from, onStray, onProgress, progressEvery, rowOptions, context };
  return runScan(driver.session, { ...settings, only: only && new Set(only) });
};
