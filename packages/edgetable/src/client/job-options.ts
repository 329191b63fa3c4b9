import { checkRanges } from "../util/check-range.ts";
import type { JobOptions } from "./write-types.ts";

/** Milliseconds after which an index is taken to show what was written before. */
export const INDEX_LAG = 1000;
const ranges = { indexLag: [0, 600_000], lease: [100, 600_000] } as const;

/** @throws {plan.invalidOption} when a number is out of its range */
export const checkJobOptions = (options: JobOptions): void => checkRanges(options, ranges);
