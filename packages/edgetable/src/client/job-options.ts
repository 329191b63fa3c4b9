import { EdgetableError } from "../errors/edgetable-error.ts";
import { checkRanges } from "../util/check-range.ts";
import type { JobOptions } from "./write-types.ts";

/** Milliseconds after which an index is taken to show what was written before. */
export const INDEX_LAG = 1000;
/** Milliseconds for which a job's lease holds. */
export const LEASE = 10_000;

/** What the options of every job may be, in milliseconds. */
export const jobRanges = { indexLag: [0, 600_000], lease: [100, 600_000] } as const;
const LONGEST_NAME = 200;

/** @throws {plan.invalidOption} when a number is out of its range */
export const checkJobOptions = (options: JobOptions): void => checkRanges(options, jobRanges);

/** @throws {plan.invalidOption} when the name of a job has none, or more than 200 characters */
export const checkJobName = (job: string | undefined): void => {
  if (job === undefined || (job.length >= 1 && job.length <= LONGEST_NAME)) return;
  throw new EdgetableError("plan.invalidOption", `The name of a job has 1 to ${LONGEST_NAME} characters; this one has ${job.length}.`, {
    details: { option: "job", value: job },
  });
};
