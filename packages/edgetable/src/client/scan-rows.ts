import { runScan, type Scanning, type ScanSettings } from "../executor/scan/run-scan.ts";
import type { CallContext } from "../executor/session.ts";
import type { Driver } from "./driver.ts";
import { checkScanOptions, type ScanOptions } from "./scan-options.ts";

const settingsOf = (driver: Driver, options: ScanOptions): ScanSettings => {
  const { segments = 1, concurrency = 8, consistent = false, held = 20_000, from, only, deadline = 60_000, signal } = options;
  const contextOf = (): CallContext => driver.context({ deadline, ...(signal && { signal }), unknown: options.unknown });
  return {
    segments,
    concurrency,
    consistent,
    held,
    from,
    only: only && new Set(only),
    rowOptions: contextOf().reading ?? {},
    onStray: options.onStray,
    onProgress: options.onProgress,
    progressEvery: options.progressEvery ?? 1000,
    context: contextOf,
  };
};

/** Begins to scan; see `ScanTable`. */
export const scanRows = (driver: Driver, options: ScanOptions): Scanning => {
  checkScanOptions(driver.catalog, options);
  return runScan(driver.session, settingsOf(driver, options));
};
