import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { passesOf, refreshItems } from "../executor/facts/refresh-facts.ts";
import type { Rate, Run } from "../executor/jobs/run-job.ts";
import { keyAsText } from "../ir/write-plan.ts";
import { FACTS, MARKERS, mendFacts, type MendedFacts, type MendSettings } from "../verify/mend-facts.ts";
import { REFRESH_PAGE } from "./prices.ts";
import type { UnfitItem } from "./stale-keys.ts";
import { beginPass, beginTask, MOST_PASSES, type PassState, readTable } from "./backfill.ts";

/** Options of computing derived attributes and copies. */
export interface DeriveSettings {
  /** Changed with each page. */
  readonly state: PassState;
  readonly finish: boolean;
  readonly dryRun: boolean;
  /** Milliseconds between two readings that must agree. */
  readonly settle: number;
  /** Approximate number of items in the table. */
  readonly items: number;
  /** The derived attributes, copies and degrees that are computed: as `post.likes`. */
  readonly facts: readonly string[];
  /** True if the stream processor maintains some of them. */
  readonly streamed: boolean;
  readonly rate: Rate;
  /** Called after each page, with the number of the reading of the table that is under way, from 1. */
  readonly onPage: (pass?: number) => void;
}

const TOLD = 3;

/** The first items that a migration cannot correct, as text for a message. */
export const toldOf = (named: readonly Pick<UnfitItem, "key" | "says">[]): string =>
  named
    .slice(0, TOLD)
    .map(({ key, says }) => `${keyAsText(key)}: ${says}`)
    .join(" ");

const REFRESH_DEADLINE = 300_000;
// Items that conflict with a concurrent processor are left to the next pass.
const REFRESH_AGAIN = 3;

/**
 * Computes the attributes that the stream maintains, as its processor does: for every row of the table, in as many passes as the
 * longest chain of dependent attributes. It waits for `finish`, because a processor of the older model would undo it. Rows written
 * in the meantime are left to the processor.
 */
const refresh = async (run: Run, { state, rate, onPage }: DeriveSettings): Promise<void> => {
  const { session } = run;
  if (state.refreshed) return;
  beginTask(state, "refresh", true);
  const passes = passesOf(session.catalog);
  for (let failure: Error | undefined; ;) {
    await readTable(run, { state, rate, onPage, limit: REFRESH_PAGE }, async (items, context) => {
      const deadline = Math.min(run.deadline, session.effects.now() + REFRESH_DEADLINE);
      const { nodes, failed } = await refreshItems(session, items, { ...context, deadline });
      failure ??= failed[0]?.error;
      state.unfit += failed.length;
      if (state.pass === 1) state.changed += nodes;
    });
    if (failure && state.pass >= passes) {
      if (state.pass >= passes + REFRESH_AGAIN || !isEdgetableError(failure) || !failure.retryable) throw failure;
    } else if (state.pass >= passes) break;
    failure = undefined;
    beginPass(state, true);
  }
  state.refreshed = true;
};

const mend = async (
  run: Run,
  { state, dryRun, settle, items, rate, onPage }: DeriveSettings,
  reading: { pass: number },
  what: Pick<MendSettings, "only" | "streamed" | "counting">,
): Promise<MendedFacts> => {
  Object.assign(state, { seen: 0, stale: 0 });
  const onProgress: MendSettings["onProgress"] = ({ items: seen, findings }) => {
    // A verification reads the table once more if items disagree.
    if (seen < state.seen) reading.pass++;
    Object.assign(state, { seen, stale: findings });
    onPage(reading.pass);
  };
  const mended = await mendFacts(run, { ...what, items, units: Math.max(1, rate.read), settle, dryRun, onProgress });
  state.changed += mended.repaired;
  reading.pass++;
  Object.assign(state, { seen: 0, stale: 0 });
  return mended;
};

/**
 * Reserves the unique values of existing nodes, until a verification finds all of them reserved; without `finish`, twice.
 *
 * @throws {migrate.duplicates} if several nodes have the same value; all other values are then reserved
 */
export const reserve = async (run: Run, settings: DeriveSettings): Promise<void> => {
  const { state, finish, dryRun } = settings;
  const { table } = run.session.catalog;
  const reading = { pass: 1 };
  // If several nodes have the same value, the first pass reserves it for one of them, and the next pass finds the others.
  for (let pass = 1; ; pass++) {
    const { found, unsettled, duplicates } = await mend(run, settings, reading, { only: MARKERS, streamed: false });
    const { count, examples } = duplicates;
    if (count > 0) {
      const named = examples.map(({ key, other, definition, attribute = "", reason: says }) => ({
        key,
        other,
        definition,
        attribute,
        problem: "duplicate" as const,
        says,
      }));
      throw new EdgetableError(
        "migrate.duplicates",
        `${count} of the nodes in "${table}" have a value that another node has, although the model makes it unique: ${toldOf(named)} All other values are reserved. Give these nodes other values and run the migration again.`,
        { details: { table, items: count, first: named } },
      );
    }
    if (dryRun) state.changed += found;
    if (dryRun || (found === 0 && unsettled === 0) || (!finish && pass > 1)) return;
  }
};

/**
 * Computes derived attributes and copies until a verification finds all those kept by transaction correct; without `finish`, three
 * times. A pass that corrects a node's counts changes the node, and leaves copies of its attributes to the next pass.
 *
 * @throws {migrate.uncounted} if edges or parts that nodes now count exist without their node; all others are counted
 */
export const derive = async (run: Run, settings: DeriveSettings): Promise<void> => {
  const { state, finish, dryRun, streamed, facts } = settings;
  const { table } = run.session.catalog;
  const reading = { pass: 1 };
  for (let pass = 1; ; pass++) {
    const mended = await mend(run, settings, reading, { only: FACTS, streamed: dryRun && streamed, counting: facts });
    const { count, examples } = mended.uncounted;
    if (count > 0) {
      const named = examples.map(({ key, definition = "", reason, uncounted = [] }) => ({
        key,
        definition,
        says: `${reason} It belongs to ${uncounted.map((name) => `"${name}"`).join(", ")}.`,
      }));
      throw new EdgetableError(
        "migrate.uncounted",
        `${count} of the edges and parts in "${table}" lack the node that has to count them; if it is created later, its counts will omit them: ${toldOf(named)} Create these nodes, or delete the items: edgetable verify --repair --delete-orphans. Then run the migration again. All others are counted.`,
        { details: { table, items: count, first: named } },
      );
    }
    if (dryRun) state.changed += mended.found;
    else if (streamed && finish && pass === 1) await refresh(run, settings);
    if (dryRun || (mended.found === 0 && mended.unsettled === 0) || (!finish && pass >= MOST_PASSES)) return;
  }
};
