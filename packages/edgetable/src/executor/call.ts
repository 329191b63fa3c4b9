import type { KeptStep } from "../ir/physical-plan.ts";
import { isEdgetableError } from "../errors/edgetable-error.ts";
import type { DriftedField } from "../requests/decode-item.ts";
import type { ConsumedCapacity, Item, Key, Operation, OperationInputs, OperationOutputs } from "../transport/operations.ts";
import { checkSignal, checkOptions, oneOf, type OptionChecks } from "../util/check-options.ts";

/** An item of the table that is not a row. */
export interface StrayItem {
  readonly key: Key;
  /** The item in DynamoDB's own form. For a node at the end of a walk that does not fit its schema, only its key. */
  readonly item: Item;
  /** Why it is not a row. */
  readonly reason: string;
}

/** An item with a copy of a field that disagrees with its key. */
export interface DriftedItem extends DriftedField {
  readonly key: Key;
}

/** Items whose copies disagree with their keys. */
export interface Drift {
  readonly items: number;
  /** The first ones. */
  readonly first: readonly DriftedItem[];
}

/** How a read treats items that other programs have stored. */
export interface ReadingOptions {
  /**
   * What to do about an item in the place of a row that cannot be read as one. `"skip"` counts it in the report, `"throw"` ends the
   * read with `keys.unreadable`, and a function is called with it.
   * @default "skip"
   */
  readonly onStray?: "skip" | "throw" | ((stray: StrayItem) => void) | undefined;
  /**
   * `"show"` also returns attributes that the model does not know, such as attributes removed from its schema and index keys of
   * another deployment.
   * @default "hide"
   */
  readonly unknown?: "show" | "hide" | undefined;
}

/** Options of one call. */
export interface RunOptions extends ReadingOptions {
  /** Ends the call when the signal is aborted. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Time limit of the whole call in milliseconds, including retries and waiting for other requests, 1 to 86,400,000.
   *
   * @default the connection's setting, by default 30,000; none for the deletion of a node, whose duration depends on the number of
   * its edges
   */
  readonly deadline?: number | undefined;
  /**
   * "show" also returns items whose `ttl` has passed but which DynamoDB has not deleted yet.
   *
   * @default the connection's setting, by default "hide"
   */
  readonly expired?: "hide" | "show" | undefined;
}

/** The valid values of the option `expired`. */
export const EXPIRED: readonly ("hide" | "show")[] = ["hide", "show"];

/** The range of a call's deadline, in milliseconds. */
export const DEADLINES = [1, 86_400_000] as const;

/** The allowed values of {@link ReadingOptions}. */
export const readingChecks: OptionChecks<ReadingOptions> = {
  onStray: (given: unknown) => typeof given === "function" || oneOf("choice", String(given), ["skip", "throw"]),
  unknown: ["show", "hide"],
};

/** The allowed values of {@link RunOptions}. */
export const runChecks: OptionChecks<RunOptions> = {
  signal: checkSignal,
  deadline: DEADLINES,
  ...readingChecks,
  expired: (given: string) => oneOf("expired", given, EXPIRED),
};

/** @throws {plan.invalidOption} if an option is out of range or unknown, or `signal` is not a signal */
export const checkRun = (options: RunOptions = {}): RunOptions => checkOptions(options, runChecks);

/** A sent request, as hooks and reports see it. */
export interface SentRequest {
  readonly operation: Operation;
  /** The index that was queried. */
  readonly index: string | undefined;
  readonly input: unknown;
  /** Number of attempts, including the answered one. */
  readonly attempts: number;
  /** Milliseconds from the first attempt to the answer. */
  readonly duration: number;
  /** Number of items that DynamoDB read, before filters. */
  readonly itemsRead: number;
  readonly readUnits: number;
  readonly writeUnits: number;
}

/** A failed request: its last attempt failed and it was not retried again. */
export interface FailedRequest extends Pick<SentRequest, "operation" | "input" | "attempts" | "duration"> {
  readonly error: unknown;
}

/** What a call consumed. */
export interface Cost {
  readonly requests: number;
  readonly readUnits: number;
  readonly writeUnits: number;
}

/** The cost of a call that sent nothing. */
export const NO_COST: Cost = { requests: 0, readUnits: 0, writeUnits: 0 };

/** The sum of two costs. */
export const addCosts = (a: Cost, b: Cost): Cost => ({
  requests: a.requests + b.requests,
  readUnits: a.readUnits + b.readUnits,
  writeUnits: a.writeUnits + b.writeUnits,
});

const READS: ReadonlySet<Operation> = new Set<Operation>(["GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems"]);

type Consumed = ConsumedCapacity | readonly ConsumedCapacity[] | undefined;

const countItems = <O extends Operation>(operation: O, output: OperationOutputs[O]): number => {
  switch (operation) {
    case "GetItem":
      return (output as OperationOutputs["GetItem"]).Item ? 1 : 0;
    case "Query":
    case "Scan":
      return (output as OperationOutputs["Query"]).ScannedCount ?? (output as OperationOutputs["Query"]).Count ?? 0;
    case "BatchGetItem": {
      let count = 0;
      for (const items of Object.values((output as OperationOutputs["BatchGetItem"]).Responses ?? {})) count += items.length;
      return count;
    }
    case "TransactGetItems":
      return ((output as OperationOutputs["TransactGetItems"]).Responses ?? []).filter((response) => response.Item).length;
    default:
      return 0;
  }
};

/** Describes an answered request. */
export const describeRequest = <O extends Operation>(
  request: { readonly operation: O; readonly input: OperationInputs[O]; readonly attempts: number; readonly duration: number },
  output: OperationOutputs[O],
): SentRequest => {
  const { operation, input, attempts, duration } = request;
  const consumed = (output as { readonly ConsumedCapacity?: Consumed }).ConsumedCapacity;
  // Units of the table and its indexes together.
  let units = 0;
  if (Array.isArray(consumed)) for (const one of consumed as readonly ConsumedCapacity[]) units += one.CapacityUnits ?? 0;
  else units = (consumed as ConsumedCapacity | undefined)?.CapacityUnits ?? 0;
  const reads = READS.has(operation);
  return {
    operation,
    input,
    attempts,
    duration,
    index: (input as { readonly IndexName?: string }).IndexName,
    itemsRead: countItems(operation, output),
    readUnits: reads ? units : 0,
    writeUnits: reads ? 0 : units,
  };
};

/** Maximum number of drifted items that a report lists; it counts all. */
const NAMED_DRIFTED = 10;

/** Sums what a call's requests consumed. Keeps only the first `kept` requests, but counts all. */
export class Meter {
  readonly requests: SentRequest[] = [];
  readonly #kept: number;
  #count = 0;
  readUnits = 0;
  writeUnits = 0;
  /** Items that could not be read as rows. */
  strays = 0;
  readonly #drifted: DriftedItem[] = [];
  #drifts = 0;

  constructor(kept: number = Number.POSITIVE_INFINITY) {
    this.#kept = kept;
  }

  add(request: SentRequest): void {
    this.#count++;
    this.readUnits += request.readUnits;
    this.writeUnits += request.writeUnits;
    if (this.requests.length < this.#kept) this.requests.push(request);
  }

  /** Records a copy that disagrees with its key. */
  drifts(one: DriftedItem): void {
    this.#drifts++;
    if (this.#drifted.length < NAMED_DRIFTED) this.#drifted.push(one);
  }

  get drifted(): Drift {
    return { items: this.#drifts, first: this.#drifted };
  }

  get cost(): Cost {
    return { requests: this.#count, readUnits: this.readUnits, writeUnits: this.writeUnits };
  }
}

/** The result of a call, and what it consumed. */
export interface Report<T> {
  readonly value: T;
  readonly cost: Cost;
  readonly requests: readonly SentRequest[];
  /** Ids of nodes without an item to which edges lead. */
  readonly missing: readonly unknown[];
  /** Number of items in the place of a row that cannot be read as one; see `onStray`. */
  readonly strays: number;
  /** Items with a stored copy that disagrees with their key. Rows contain the key's value. */
  readonly drifted: Drift;
  /** Derived attributes that were read instead of counting edges or parts, with their freshness. */
  readonly kept?: readonly KeptStep[];
}

/**
 * A call that has not been made yet. `await`, `then`, `catch` and `finally` make it once. `explain` shows its plan without making
 * it. `report` makes it and reports what it consumed. A call can be used like a promise.
 */
export interface Call<T, Plan = unknown> extends Promise<T> {
  /** Shows what the call would send, without sending it. */
  explain(): Promise<Plan>;
  /**
   * Makes the call, each time again, with a signal or a deadline.
   *
   * @throws {execute.aborted} if the signal is aborted
   * @throws {execute.timeout} if the deadline passed before a response
   */
  run(options?: RunOptions): Promise<T>;
  /** Makes the call as `run` does, and reports what it consumed. */
  report(options?: RunOptions): Promise<Report<T>>;
}

const NO_DRIFT: Drift = { items: 0, first: [] };

type Counted = Pick<Meter, "cost" | "requests"> & Partial<Pick<Meter, "strays" | "drifted">>;

/** The report of a call: its result, and what its meter counted. */
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

const AWAITED = Symbol("awaited");

/** True if a call was made by awaiting it. `run` and `report` make it anew each time and do not count. */
export const wasAwaited = (call: object): boolean => (call as { readonly [AWAITED]?: boolean })[AWAITED] === true;

// A response comes from a socket, so the error's stack does not name the functions that await the call. The stack of `waiting`
// does.
const withCallers = (error: unknown, waiting: Error): unknown => {
  if (!isEdgetableError(error)) return error;
  for (const line of waiting.stack?.split("\n").slice(2) ?? [])
    if (!/[ (]node:/.test(line) && !error.stack?.includes(line)) error.stack += `\n${line}`;
  return error;
};

/** Creates a call from the function that explains it and the function that makes it. */
export const createCall = <T, Plan>(
  explain: () => Plan | Promise<Plan>,
  make: (options: RunOptions) => Promise<Report<T>>,
): Call<T, Plan> => {
  let made: Promise<T> | undefined;
  const report = async (options?: RunOptions): Promise<Report<T>> => {
    try {
      return await make(checkRun(options));
    } catch (error) {
      throw withCallers(error, new Error());
    }
  };
  const run = async (options?: RunOptions): Promise<T> => (await report(options)).value;
  const once = (): Promise<T> => {
    call[AWAITED] = true;
    return (made ??= run());
  };
  const call: Call<T, Plan> & { [AWAITED]: boolean } = {
    [AWAITED]: false,
    [Symbol.toStringTag]: "Call",
    explain: async () => explain(),
    run,
    report,
    // oxlint-disable-next-line unicorn/no-thenable -- a call is made by awaiting it
    then: (onFulfilled, onRejected) => once().then(onFulfilled, onRejected),
    catch: (onRejected) => once().catch(onRejected),
    finally: (onSettled) => once().finally(onSettled),
  };
  return call;
};

/**
 * Creates a call whose code is loaded by its first use. A call is a thenable, so a promise of it would make it; therefore `of` must
 * not be asynchronous.
 */
export const deferCall = <Module, T, Plan>(load: () => Module | Promise<Module>, of: (module: Module) => Call<T, Plan>): Call<T, Plan> =>
  createCall(
    async () => of(await load()).explain(),
    async (options) => of(await load()).report(options),
  );
