import type { ReshardReport } from "../executor/reshard/run-reshard.ts";
import type { Driver } from "./driver.ts";
import type { ReshardOptions } from "./reshard-items.ts";

/**
 * Moves the items of sharded indexes to where writers put them now, after a count was raised: `[32, 8]`.
 * Nothing needs it to be found; it gives the writes room, and lets the old count leave the list. It may be
 * cut off and called again, and runs beside readers and writers. Deploy the new count everywhere first.
 *
 * Reads the partitions of the old counts, twice; where a level of a hierarchy names the partition (`split`),
 * it scans the index.
 *
 * @throws {job.busy} while another process is at it
 * @throws {plan.noIndex} when there is no such index
 * @example
 * const { moved } = await db.reshard({ rate: 500 });
 */
export type Reshard = (options?: ReshardOptions) => Promise<ReshardReport>;

/** `db.reshard` of a connection. */
export const reshardOf =
  (driver: Driver): Reshard =>
  // Few processes move items: the code is loaded by those that do.
  async (options = {}) =>
    (await import("./reshard-items.ts")).reshardItems(driver, options);
