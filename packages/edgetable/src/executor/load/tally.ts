import type { EdgetableError } from "../../errors/edgetable-error.ts";
import { addCosts, NO_COST, type Cost } from "../call.ts";
import type { Collisions } from "./collisions.ts";

/** A row that was not loaded. */
export interface FailedRow {
  /** Position in the input, from 0. */
  readonly row: number;
  readonly error: EdgetableError;
}

/** How far a load has come. */
export interface LoadProgress {
  /** Rows read from the source. */
  readonly rows: number;
  /** All rows before this one are done, and a job goes on from here. */
  readonly position: number;
  /** Items written in this run. */
  readonly items: number;
  readonly failed: number;
  /** Items a second, in this run. */
  readonly rate: number;
  readonly writeUnits: number;
}

/** What a load did. */
export interface LoadReport extends LoadProgress {
  /** Rows that an earlier run of the job had written. */
  readonly skipped: number;
  /** The first rows that failed. `failed` counts all of them. */
  readonly failures: readonly FailedRow[];
  readonly collisions: Collisions;
  readonly cost: Cost;
  /** Milliseconds of this run. */
  readonly duration: number;
}

/** Counts of a load under way. */
export interface Tally {
  fail(failure: FailedRow): void;
  wrote(items: number, cost: Cost): void;
  progress(at: { readonly rows: number; readonly position: number }): LoadProgress;
  report(at: { readonly rows: number; readonly position: number; readonly skipped: number }, collisions: Collisions): LoadReport;
}

export interface TallySettings {
  readonly now: () => number;
  /** How many failures are named. */
  readonly named: number;
}

/** Begins to count. */
export const startTally = ({ now, named }: TallySettings): Tally => {
  let seen = now();
  let passed = 0;
  // Summed, because a clock may be set back meanwhile.
  const duration = (): number => {
    const before = seen;
    seen = now();
    passed += Math.max(0, seen - before);
    return passed;
  };
  const failures: FailedRow[] = [];
  let failed = 0;
  let items = 0;
  let cost = NO_COST;
  const progress: Tally["progress"] = ({ rows, position }) => ({
    rows,
    position,
    items,
    failed,
    rate: items / Math.max(0.001, duration() / 1000),
    writeUnits: cost.writeUnits,
  });
  return {
    fail: (failure) => {
      failed++;
      if (failures.length < named) failures.push(failure);
    },
    wrote: (more, units) => {
      items += more;
      duration();
      cost = addCosts(cost, units);
    },
    progress,
    report: (at, collisions) => ({
      ...progress(at),
      skipped: at.skipped,
      failures: failures.toSorted((a, b) => a.row - b.row),
      collisions,
      cost,
      duration: duration(),
    }),
  };
};
