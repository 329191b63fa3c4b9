import { runChecks, type RunOptions } from "../executor/call.ts";
import type { MigrationPlan } from "../migrate/plan-migration.ts";
import { type MigrationReport, openRun, planOf, runMigration } from "../migrate/run-migration.ts";
import { migrationStatus, type MigrationStatus, undoMigration, type UndoReport } from "../migrate/undo-migration.ts";
import { pricedBySample } from "../migrate/sample.ts";
import { checkOptions, checkSignal, type OptionChecks } from "../util/check-options.ts";
import type { Driver } from "./driver.ts";
import { INDEX_LAG, jobChecks, LEASE, type MigrationOptions, type MigrationPlanOptions } from "./job-options.ts";

const DEFAULT_SHARE = 25;
const PLAN_DEADLINE = 60_000;

const planChecks: OptionChecks<MigrationPlanOptions> = { ...runChecks, inPlace: "boolean", again: "boolean" };

const jobDeadline = { signal: checkSignal, deadline: [1, Number.MAX_SAFE_INTEGER] } as const;

const runOptionChecks: OptionChecks<MigrationOptions> = {
  ...planChecks,
  ...jobChecks,
  ...jobDeadline,
  finish: "boolean",
  share: [1, 100],
  dryRun: "boolean",
  leaveOut: "boolean",
};

type UndoOptions = Pick<MigrationOptions, "lease" | "signal" | "deadline">;

const undoChecks: OptionChecks<UndoOptions> = { lease: jobChecks.lease, ...jobDeadline };

const endOf = ({ session }: Driver, deadline: number | undefined): number =>
  deadline === undefined ? Number.POSITIVE_INFINITY : session.effects.now() + deadline;

export const planFor = async (driver: Driver, options: MigrationPlanOptions): Promise<MigrationPlan> => {
  const { inPlace = false, again = false, signal, deadline = PLAN_DEADLINE } = checkOptions(options, planChecks);
  const run = openRun(driver.session, { signal, deadline: endOf(driver, deadline) });
  const { plan, table } = await planOf(run, { inPlace, again });
  return pricedBySample(run, plan, table);
};

export const runFor = (driver: Driver, options: MigrationOptions): Promise<MigrationReport> => {
  const given = checkOptions(options, runOptionChecks);
  return runMigration(driver.session, {
    share: (given.share ?? DEFAULT_SHARE) / 100,
    finish: given.finish ?? false,
    dryRun: given.dryRun ?? false,
    leaveOut: given.leaveOut ?? false,
    inPlace: given.inPlace ?? false,
    again: given.again ?? false,
    lease: given.lease ?? LEASE,
    indexLag: given.indexLag ?? INDEX_LAG,
    signal: given.signal,
    deadline: endOf(driver, given.deadline),
    onProgress: given.onProgress,
    moveValues: async (run, move) => (await import("../grids/move-values.ts")).moveValues(driver, run, move),
  });
};

export const statusFor = (driver: Driver, options: RunOptions): Promise<MigrationStatus> => {
  const { signal, deadline = PLAN_DEADLINE } = checkOptions(options, runChecks);
  return migrationStatus(driver.session, { signal, deadline: endOf(driver, deadline) });
};

export const undoFor = (driver: Driver, options: UndoOptions): Promise<UndoReport> => {
  const { lease = LEASE, signal, deadline } = checkOptions(options, undoChecks);
  return undoMigration(driver.session, { lease, signal, deadline: endOf(driver, deadline) });
};
