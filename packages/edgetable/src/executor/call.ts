import { checkSignal, checkOptions, type OptionChecks, oneOf } from "../util/check-options.ts";
import type { Cost, Meter, SentRequest } from "./meter.ts";
import type { Drift, ReadingOptions } from "./reading-options.ts";

/** How one call is made. */
export interface RunOptions extends ReadingOptions {
  /** Ends the call when it is aborted. */
  readonly signal?: AbortSignal;
  /**
   * Milliseconds for the whole call, retries and waiting for room included, 1 to 86,400,000.
   *
   * @default the connection's, 30,000 unless it says otherwise; the deletion of a node has none, for it takes as
   * long as the node has edges
   */
  readonly deadline?: number;
  /**
   * "show" gives items whose `ttl` has passed and that DynamoDB has not removed yet.
   *
   * @default the connection's, "hide" unless it says otherwise
   */
  readonly expired?: "hide" | "show";
}

/** How items that have expired may be treated. */
export const EXPIRED: readonly ("hide" | "show")[] = ["hide", "show"];

/** Milliseconds that a call may be given, at least and at most. */
export const DEADLINES = [1, 86_400_000] as const;

const isStrayChoice = (given: unknown): unknown => typeof given === "function" || oneOf("choice", String(given), ["skip", "throw"]);

/** What options of reading may be. */
export const readingKinds: OptionChecks<ReadingOptions> = { onStray: isStrayChoice, unknown: ["show", "hide"] };

/** What options of a call may be. */
export const runKinds: OptionChecks<RunOptions> = {
  signal: checkSignal,
  deadline: DEADLINES,
  ...readingKinds,
  expired: (given: string) => oneOf("expired", given, EXPIRED),
};

/** @throws {plan.invalidOption} when an option is out of its range, unknown, or no signal */
export const checkRun = (options: RunOptions = {}): RunOptions => checkOptions(options, runKinds);

/** What a call gave, and what it took. */
export interface Report<T> {
  readonly value: T;
  readonly cost: Cost;
  readonly requests: readonly SentRequest[];
  /** Ids of nodes that edges point to and that have no item. */
  readonly missing: readonly unknown[];
  /** How many items stand where a row should and cannot be read as one; see `onStray`. */
  readonly strays: number;
  /** Items of which a stored copy disagrees with their key; rows hold what the key says. */
  readonly drifted: Drift;
}

/**
 * A call that has not been made yet. Awaiting it makes it, once; `explain` shows its plan without
 * making it; `report` makes it and tells what it took.
 */
export interface Call<T, Plan = unknown> extends PromiseLike<T> {
  /** Makes the call as awaiting it does, and gives what the listener gives for its failure. */
  catch<Other = never>(onRejected?: ((reason: unknown) => Other | PromiseLike<Other>) | null): Promise<T | Other>;
  /** Makes the call as awaiting it does, and lets the listener know when it is over. */
  finally(onSettled?: (() => void) | null): Promise<T>;
  /** Shows what the call would send, without sending it. */
  explain(): Promise<Plan>;
  /**
   * Makes the call, anew each time, with a signal or a deadline.
   *
   * @throws {execute.aborted} when the signal is aborted
   * @throws {execute.timeout} when the deadline passed before an answer
   */
  run(options?: RunOptions): Promise<T>;
  /** Makes the call as `run` does, and tells what it took. */
  report(options?: RunOptions): Promise<Report<T>>;
}

const NO_DRIFT: Drift = { items: 0, first: [] };

type Counted = Pick<Meter, "cost" | "requests"> & Partial<Pick<Meter, "strays" | "drifted">>;

/** What a call gave, with what its meter counted. */
export const reportOf = <T>(
  value: T,
  { cost, requests, strays = 0, drifted = NO_DRIFT }: Counted,
  missing: Report<T>["missing"] = [],
): Report<T> => ({
  value,
  cost,
  requests,
  missing,
  strays,
  drifted,
});

/** Creates a call from the function that explains it and the function that makes it. */
export const createCall = <T, Plan>(
  explain: () => Plan | Promise<Plan>,
  make: (options: RunOptions) => Promise<Report<T>>,
): Call<T, Plan> => {
  let made: Promise<T> | undefined;
  const run = async (options?: RunOptions): Promise<T> => (await make(checkRun(options))).value;
  const once = (): Promise<T> => (made ??= run());
  return {
    explain: async () => explain(),
    run,
    report: async (options) => make(checkRun(options)),
    // oxlint-disable-next-line unicorn/no-thenable -- a call is made by awaiting it
    then: (onFulfilled, onRejected) => once().then(onFulfilled, onRejected),
    catch: (onRejected) => once().catch(onRejected),
    finally: (onSettled) => once().finally(onSettled),
  };
};
