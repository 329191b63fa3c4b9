import type { WalkBudget } from "../executor/walk/budget.ts";
import { checkOptions, type OptionChecks, inRange } from "../util/check-options.ts";

/** What a walk may take. Hitting any of it ends the walk, with what was found so far. */
export interface BudgetOptions {
  /** Attempts of requests, 1 to 1,000,000,000. Never one more. @default 1,000 */
  readonly requests?: number;
  /** Read units, 1 to 1,000,000,000. Requests that were under way when it was reached are paid beyond it. */
  readonly units?: number;
  /** Edges of one node in one hop, 1 to 1,000,000,000. @default 10,000 */
  readonly breadth?: number;
  /** Hops from the start, 1 to 1,000,000,000. */
  readonly depth?: number;
  /** Milliseconds, 1 to 86,400,000. @default the call's deadline */
  readonly time?: number;
  /** Bytes of the nodes kept in mind, estimated, 1,000 to 1,000,000,000,000. @default 250,000,000 */
  readonly memory?: number;
}

/** How a walk is made. */
export interface WalkOptions {
  /** What it may take. @default 1,000 requests, 10,000 edges of a node, 250 MB, the call's deadline */
  readonly budget?: BudgetOptions;
  /**
   * What becomes of a node with more edges than `budget.breadth`: the rest is left to the continuation
   * (`page`), or left out (`sample`: the first edges in the order of their keys), or the walk is refused.
   * @default "page"
   */
  readonly supernode?: "page" | "sample" | "refuse";
  /** `next` of an earlier answer to the same walk: it goes on from there. */
  readonly cursor?: string | undefined;
  /**
   * Stores what a stopped walk must remember in the table, so that `next` has less than 200 characters. Without it
   * `next` holds that state itself, and may have hundreds of thousands. Storing takes a write unit for each KB of the
   * state, a continuation a read unit for each 4 KB. These requests come on top of `budget` and count in the report's cost.
   */
  readonly storeCursor?: StoreCursor;
}

/** How the state of a stopped walk is stored. */
export interface StoreCursor {
  /** Seconds until `next` expires, 1 to 2,592,000 (30 days). Until then it may be used any number of times. */
  readonly seconds: number;
}

const MOST = 1_000_000_000;
const MOST_SECONDS = 2_592_000;

const budgets: OptionChecks<BudgetOptions> = {
  requests: [1, MOST],
  units: [1, MOST],
  breadth: [1, MOST],
  depth: [1, MOST],
  time: [1, 86_400_000],
  memory: [1000, 1_000_000_000_000],
};

const checkStore = (given: StoreCursor, name: string): unknown =>
  inRange(`${name}.seconds`, checkOptions(given, { seconds: undefined }, name).seconds, [1, MOST_SECONDS]);

/** What the options of every walk may be. */
export const walkKinds: OptionChecks<WalkOptions> = {
  budget: budgets,
  supernode: ["page", "sample", "refuse"],
  cursor: undefined,
  storeCursor: checkStore,
};

/**
 * A budget in full; what else is asked of the walk is checked with it.
 *
 * @param kinds what the options may be, where there are more than those of every walk
 * @throws {plan.invalidOption}
 */
export const budgetOf = <Options extends WalkOptions>(
  options: Options,
  kinds: OptionChecks<Options> = walkKinds as OptionChecks<Options>,
): WalkBudget => {
  checkOptions(options, kinds);
  const { budget = {} } = options;
  const {
    requests = 1000,
    units = Number.POSITIVE_INFINITY,
    breadth = 10_000,
    depth = Number.POSITIVE_INFINITY,
    time = Number.POSITIVE_INFINITY,
  } = budget;
  return { requests, readUnits: units, breadth, depth, time, memory: budget.memory ?? 250_000_000 };
};
