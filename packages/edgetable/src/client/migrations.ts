import type { RunOptions } from "../executor/call.ts";
import type { MigrationPlan } from "../migrate/plan-migration.ts";
import type { MigrationReport } from "../migrate/run-migration.ts";
import type { MigrationStatus, UndoReport } from "../migrate/undo-migration.ts";
import type { Driver } from "./driver.ts";
import type { MigrationOptions, MigrationPlanOptions } from "./job-options.ts";

/** Brings the table in line with a changed model, while programs read and write it. */
export interface Migrations {
  /**
   * Compares the model, the table's record of the model that it follows, and the table itself. Sends three requests, or four if the
   * model sets point-in-time recovery, and changes nothing. If there are items to change, four Scans of one page each, of 512 read
   * units at most together, count them in a sample: `counted` of the plan says so. If the program is not permitted to scan, the
   * plan assumes that every item changes.
   *
   * @throws {execute.tableNotFound} if there is no table
   * @example
   * const { steps, refusals } = await db.migrations.plan();
   * for (const { says } of steps) console.log(says);
   */
  plan(options?: MigrationPlanOptions): Promise<MigrationPlan>;
  /**
   * Takes the steps of the plan. It is a job: it may be interrupted and called again, and only one process runs it. Items get the
   * index keys that the model computes, on the condition that their inputs are as they were read. An index is created once every
   * item has its keys: until then a read that needs it throws `plan.indexIncomplete`.
   *
   * Each pass reads the whole table, strongly consistent; there are two or more passes. Each item that lacks a key is written once.
   *
   * @throws {job.busy} while another process is running it
   * @throws {migrate.otherModel} if a migration to another model has begun and not ended
   * @throws {migrate.unsupported} if no migration supports the change of the model
   * @throws {migrate.missingSource} {migrate.invalidKey} if items cannot have the keys of an index
   * @throws {migrate.notConvertible} if values of a retyped attribute cannot be converted
   * @throws {migrate.duplicates} if several nodes have the same value of an attribute that the model now declares unique
   * @throws {migrate.uncounted} if edges or parts that nodes now count exist without their node
   * @example
   * const { complete, next } = await db.migrations.run({ share: 25, finish: true });
   */
  run(options?: MigrationOptions): Promise<MigrationReport>;
  /** Returns the state of the table, what is in progress and what can be undone. Sends one request more than `plan`. */
  status(options?: RunOptions): Promise<MigrationStatus>;
  /**
   * Undoes a migration that has begun and not ended, to any model: deletes the indexes that it created.
   *
   * @throws {job.busy} while a process is running it
   */
  undo(options?: Pick<MigrationOptions, "lease" | "signal" | "deadline">): Promise<UndoReport>;
}

// Few processes migrate their table, so their first call loads the code.
const code = async () => import("./run-migrations.ts");

/** `db.migrations` of a connection. */
export const migrationsOf = (driver: Driver): Migrations => ({
  plan: async (options = {}) => (await code()).planFor(driver, options),
  run: async (options = {}) => (await code()).runFor(driver, options),
  status: async (options = {}) => (await code()).statusFor(driver, options),
  undo: async (options = {}) => (await code()).undoFor(driver, options),
});
