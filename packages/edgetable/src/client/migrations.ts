import type { RunOptions } from "../executor/call.ts";
import type { MigrationPlan } from "../migrate/plan-migration.ts";
import type { MigrationReport } from "../migrate/run-migration.ts";
import type { MigrationStatus, UndoReport } from "../migrate/undo-migration.ts";
import type { Driver } from "./driver.ts";
import type { MigrationOptions, MigrationPlanOptions } from "./job-options.ts";

/** Brings the table to follow a changed model, while programs read and write it. */
export interface Migrations {
  /**
   * Compares the model, the table's record of the model that it follows, and the table itself. Sends three requests, or
   * four if the model sets point-in-time recovery, and changes nothing. If there are items to change, four Scans of one page
   * each, of 512 read units at most together, count them in a sample: `counted` of the plan says so. A program that may not
   * scan gets a plan that takes every item as concerned.
   *
   * @throws {execute.tableNotFound} when there is no table
   * @example
   * const { steps, refusals } = await db.migrations.plan();
   * for (const { says } of steps) console.log(says);
   */
  plan(options?: MigrationPlanOptions): Promise<MigrationPlan>;
  /**
   * Takes the steps of the plan. It is a job: it may be cut off and called again, and only one process runs it. Items get
   * the index keys that the model computes, each only if its inputs are as they were read. An index is created once every
   * item has its keys: until then a read that needs it throws `plan.indexIncomplete`.
   *
   * Reads the whole table with every pass, twice or more, strongly consistent, and writes each item that lacks a key once.
   *
   * @throws {job.busy} while another process is running it
   * @throws {migrate.otherModel} when the migration to another model has begun and not ended
   * @throws {migrate.unsupported} when the model changes in a way that no migration follows
   * @throws {migrate.missingSource} {migrate.invalidKey} when items cannot have the keys of an index
   * @throws {migrate.notConvertible} when values of a retyped attribute cannot be converted
   * @throws {migrate.duplicates} when several nodes have a value that the model now says is unique
   * @throws {migrate.uncounted} when edges or parts that nodes come to count are there without their node
   * @example
   * const { complete, next } = await db.migrations.run({ share: 25, finish: true });
   */
  run(options?: MigrationOptions): Promise<MigrationReport>;
  /** Tells where the table stands, what is under way and what can be undone. Sends one request more than `plan`. */
  status(options?: RunOptions): Promise<MigrationStatus>;
  /**
   * Undoes a migration that has begun and not ended, to whichever model: deletes the indexes that it created.
   *
   * @throws {job.busy} while a process is running it
   */
  undo(options?: Pick<MigrationOptions, "lease" | "signal" | "deadline">): Promise<UndoReport>;
}

// Few processes migrate their table: they load the code with their first call.
const code = async () => import("./run-migrations.ts");

/** `db.migrations` of a connection. */
export const migrationsOf = (driver: Driver): Migrations => ({
  plan: async (options = {}) => (await code()).planFor(driver, options),
  run: async (options = {}) => (await code()).runFor(driver, options),
  status: async (options = {}) => (await code()).statusFor(driver, options),
  undo: async (options = {}) => (await code()).undoFor(driver, options),
});
