import { isEdgetableError } from "../errors/edgetable-error.ts";
import { passesOf, refreshItems } from "../executor/facts/refresh-facts.ts";
import { type Run, step } from "../executor/jobs/run-job.ts";
import { mendFacts } from "../verify/mend-facts.ts";
import { beginPass, beginTask, keepRate, type PassState, type Rate } from "./backfill.ts";

/** How derived attributes and copies are computed. */
export interface DeriveSettings {
  /** Changed with each page. */
  readonly state: PassState;
  readonly finish: boolean;
  readonly dryRun: boolean;
  /** Milliseconds between two readings that must agree. */
  readonly settle: number;
  /** Items that the table holds, roughly. */
  readonly items: number;
  /** True if the stream's processor keeps some of them. */
  readonly streamed: boolean;
  readonly rate: Rate;
  /** Called after each page. */
  readonly onPage: () => void;
}

// A page with a row of a node with many rows waits for all of that node's memos.
const REFRESH_PAGE = 200;
const REFRESH_DEADLINE = 300_000;
// Conflicts with a processor that runs at the same time leave items to the next pass.
const REFRESH_AGAIN = 3;

/**
 * Computes what the stream keeps, as its processor does: for every row of the table, in as many passes as attributes follow from
 * attributes that follow from rows. It waits for `finish`: a processor of the older model would undo it. What is written
 * meanwhile is left to the processor.
 */
const refresh = async (run: Run, { state, rate, onPage }: DeriveSettings): Promise<void> => {
  const { session } = run;
  const { catalog, effects } = session;
  if (state.refreshed) return;
  beginTask(state, "refresh", true);
  const passes = passesOf(catalog);
  for (let failure: Error | undefined; ;) {
    const before = run.cost;
    await step(run, async (context) => {
      const start = state.start ? { ExclusiveStartKey: state.start } : {};
      const input = {
        TableName: catalog.table,
        Limit: REFRESH_PAGE,
        ConsistentRead: true,
        ...start,
        ReturnConsumedCapacity: "TOTAL",
      } as const;
      const { Items = [], LastEvaluatedKey } = await session.send("Scan", input, context);
      const deadline = Math.min(run.deadline, effects.now() + REFRESH_DEADLINE);
      const { nodes, failed } = await refreshItems(session, Items, { ...context, deadline });
      failure ??= failed[0]?.error;
      state.unfit += failed.length;
      state.seen += Items.length;
      if (state.pass === 1) state.changed += nodes;
      state.start = LastEvaluatedKey;
    });
    onPage();
    await keepRate(run, before, rate);
    if (state.start) continue;
    if (failure && state.pass >= passes) {
      if (state.pass >= passes + REFRESH_AGAIN || !isEdgetableError(failure) || !failure.retryable) throw failure;
    } else if (state.pass >= passes) break;
    failure = undefined;
    beginPass(state, true);
  }
  state.refreshed = true;
};

/**
 * Computes derived attributes and copies until a verification finds those that writes keep all right, or once beside older
 * writers.
 */
export const derive = async (run: Run, settings: DeriveSettings): Promise<void> => {
  const { state, finish, dryRun, settle, items, streamed, rate, onPage } = settings;
  for (let pass = 1; ; pass++) {
    const mended = await mendFacts(run, {
      items,
      units: Math.max(1, rate.read),
      settle,
      dryRun,
      streamed: dryRun && streamed,
      onProgress: ({ items: seen, findings }) => {
        Object.assign(state, { seen, stale: findings });
        onPage();
      },
    });
    state.changed += mended.repaired;
    Object.assign(state, { seen: 0, stale: 0 });
    if (dryRun) state.changed += mended.found;
    else if (streamed && finish && pass === 1) await refresh(run, settings);
    if (dryRun || !finish || (mended.found === 0 && mended.unsettled === 0)) return;
  }
};
