import type { OptionChecks } from "../util/check-options.ts";
import type { JobOptions } from "./write-types.ts";

/** Milliseconds after which an index is taken to show what was written before. */
export const INDEX_LAG = 1000;
/** Milliseconds for which a job's lease holds. */
export const LEASE = 10_000;

/** What the options of every job may be, in milliseconds. */
export const jobKinds: OptionChecks<JobOptions> = { indexLag: [0, 600_000], lease: [100, 600_000], onProgress: "function" };
