import { EdgetableError, type Effects, type Operation, type OperationInputs, didYouMean } from "edgetable";
import type { WriteHistory } from "./write-history.ts";

/** One request under way, its operation and input kept together. */
export type Call = { readonly [O in Operation]: { readonly operation: O; readonly input: OperationInputs[O] } }[Operation];

/** The faults. `Before` and `After` say whether a write took effect first. */
export type FaultKind =
  | "throttleTable"
  | "throttleIndex"
  | "throttleRequest"
  | "internalErrorBefore"
  | "internalErrorAfter"
  | "unavailable"
  | "resetBefore"
  | "resetAfter"
  | "timeoutBefore"
  | "timeoutAfter"
  | "unprocessed"
  | "transactionConflict"
  | "transactionThrottled"
  | "transactionInProgressBefore"
  | "transactionInProgressAfter"
  | "writeConflict"
  | "shortPage"
  | "emptyPage";

/** The ways in which a read can show the past. */
export type LagKind = "lag" | "staleRead";

const singleWrites: ReadonlySet<Operation> = new Set(["PutItem", "UpdateItem", "DeleteItem"]);
const writes: ReadonlySet<Operation> = new Set([...singleWrites, "BatchWriteItem", "TransactWriteItems"]);
const reads: ReadonlySet<Operation> = new Set(["GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems"]);

const isWrite = ({ operation }: Call): boolean => writes.has(operation);
const isData = ({ operation }: Call): boolean => writes.has(operation) || reads.has(operation);
const isTransaction = ({ operation }: Call): boolean => operation === "TransactWriteItems" || operation === "TransactGetItems";
const isBatch = ({ operation }: Call): boolean => operation === "BatchWriteItem" || operation === "BatchGetItem";
const readsIndex = (call: Call): boolean => (call.operation === "Query" || call.operation === "Scan") && call.input.IndexName !== undefined;
const hasToken = (call: Call): boolean => call.operation === "TransactWriteItems" && call.input.ClientRequestToken !== undefined;
const canBeShorter = (call: Call): boolean => (call.operation === "Query" || call.operation === "Scan") && call.input.Limit !== 1;

const applicability: Readonly<Record<FaultKind, (call: Call) => boolean>> = {
  throttleTable: (call) => isData(call) && !readsIndex(call),
  // A throttled index throttles the writes of its table too.
  throttleIndex: (call) => isWrite(call) || readsIndex(call),
  throttleRequest: isData,
  internalErrorBefore: isData,
  internalErrorAfter: isWrite,
  unavailable: isData,
  resetBefore: isData,
  resetAfter: isWrite,
  timeoutBefore: isData,
  timeoutAfter: isWrite,
  unprocessed: isBatch,
  transactionConflict: isTransaction,
  transactionThrottled: isTransaction,
  transactionInProgressBefore: hasToken,
  transactionInProgressAfter: hasToken,
  writeConflict: ({ operation }) => singleWrites.has(operation),
  shortPage: canBeShorter,
  emptyPage: ({ operation }) => operation === "Query",
};

const eventualReads: ReadonlySet<Operation> = new Set(["GetItem", "BatchGetItem", "Query"]);

/** The way in which a read may show the past. A consistent read never does. */
export const lagKindOf = (call: Call): LagKind | undefined => {
  if (call.operation === "Query" && call.input.IndexName !== undefined) return "lag";
  if (!eventualReads.has(call.operation)) return undefined;
  return "ConsistentRead" in call.input && call.input.ConsistentRead ? undefined : "staleRead";
};

/** Every kind of fault, in the order in which it is drawn. */
export const faultKinds: readonly FaultKind[] = Object.keys(applicability) as FaultKind[];

/** True if a request can meet a fault. */
export const applies = (fault: FaultKind | LagKind, call: Call): boolean =>
  fault === "lag" || fault === "staleRead" ? lagKindOf(call) === fault : applicability[fault](call);

/** Clock and sleep of a fault transport: any `Effects`, such as a virtual clock. */
export interface FaultEffects extends Pick<Effects, "now" | "sleep"> {
  /** Called with every request to the inner transport, so that virtual time waits for it. */
  readonly hold?: <T>(work: Promise<T>) => Promise<T>;
}

/** How far back a read may look: an upper bound in writes of its table, or in milliseconds. */
export interface LagBound {
  /** Whole number of write requests, 1 or more. Give this or `milliseconds`. */
  readonly writes?: number;
  /** Above 0. Give this or `writes`. */
  readonly milliseconds?: number;
  /** Share of such reads that lag, 0 to 1. @default 1 */
  readonly rate?: number;
  /**
   * True if each item lags by a different amount, as in production, where an index can show half of a transaction. Otherwise
   * a read shows one past state exactly. @default false
   */
  readonly torn?: boolean;
}

/** One fault of a script; a log is a script. */
export interface ScriptedFault {
  readonly fault: FaultKind | LagKind;
  /** Ordinal of the request, from 1. @default the next request that can meet the fault */
  readonly n?: number;
  /** Only a request of this operation. */
  readonly operation?: Operation;
  /**
   * `unprocessed`: share, 0 to 1 · `shortPage`: items, 1 or more · `lag`, `staleRead`: writes or
   * milliseconds · an `After` fault of BatchWriteItem: share that took effect. Drawn when left out.
   */
  readonly amount?: number;
  /** Seed of the fault's own draws, such as which items stay unprocessed. @default 0 */
  readonly draw?: number;
}

/** A fault that was injected. */
export interface Injection extends ScriptedFault {
  readonly n: number;
  readonly operation: Operation;
  readonly draw: number;
}

/** Options of a fault transport. */
export interface FaultOptions {
  /** The same seed and the same calls give the same faults. @default 0 */
  readonly seed?: number;
  /**
   * Probability of each fault, 0 to 1, with a sum of at most 1 for a request. Or one number: the probability of any fault,
   * shared evenly among those that a request can meet. @default 0
   */
  readonly rates?: number | Readonly<Partial<Record<FaultKind, number>>>;
  /** Exactly these faults, with no random ones. */
  readonly script?: readonly ScriptedFault[];
  /** Queries of indexes show the past. */
  readonly lag?: LagBound;
  /** Eventually consistent reads of the table show the past. */
  readonly staleReads?: LagBound;
  /** Additional milliseconds of a request: lower and upper bound. */
  readonly latency?: readonly [number, number];
  /** Upper bound of faults in a row on identical requests. It does not limit a script. @default 3 */
  readonly maxConsecutive?: number;
  /** Clock and sleep. @default the system's */
  readonly effects?: FaultEffects;
  /** Shared by fault transports whose clients write the same tables and read with lag. */
  readonly history?: WriteHistory;
}

const isShare = (value: number): boolean => value >= 0 && value <= 1;

const rateFindings = (rates: FaultOptions["rates"] = 0): readonly string[] => {
  if (typeof rates === "number") return isShare(rates) ? [] : [`rates is ${String(rates)}, not within 0 to 1.`];
  return Object.entries(rates).flatMap(([kind, rate]) => [
    ...(faultKinds.includes(kind as FaultKind) ? [] : [`rates names the unknown fault "${kind}".${didYouMean(kind, faultKinds)}`]),
    ...(isShare(rate) ? [] : [`rates.${kind} is ${String(rate)}, not within 0 to 1.`]),
  ]);
};

const boundFindings = (name: string, bound: LagBound | undefined): readonly string[] => {
  if (bound === undefined) return [];
  const { writes, milliseconds, rate = 1 } = bound;
  const amount = writes ?? milliseconds ?? 0;
  const one = (writes === undefined) !== (milliseconds === undefined);
  const sound = one && amount > 0 && (writes === undefined || Number.isInteger(writes)) && isShare(rate);
  return sound ? [] : [`${name} takes writes (1 or more) or milliseconds (above 0), and a rate within 0 to 1.`];
};

const known: Readonly<Record<keyof FaultOptions, true>> = {
  seed: true,
  rates: true,
  script: true,
  lag: true,
  staleReads: true,
  latency: true,
  maxConsecutive: true,
  effects: true,
  history: true,
};

const unknownFindings = (options: FaultOptions): readonly string[] =>
  Object.keys(options).flatMap((option) =>
    Object.hasOwn(known, option) ? [] : [`there is no option "${option}".${didYouMean(option, Object.keys(known))}`],
  );

/** @throws {plan.invalidOption} with every finding, when an option is unknown or out of its range */
export const checkOptions = (options: FaultOptions): void => {
  const findings = [
    ...unknownFindings(options),
    ...rateFindings(options.rates),
    ...boundFindings("lag", options.lag),
    ...boundFindings("staleReads", options.staleReads),
  ];
  const [least, most] = options.latency ?? [0, 0];
  if (!(least >= 0 && most >= least)) findings.push("latency takes the lower and the upper bound in milliseconds, in this order.");
  if (!((options.maxConsecutive ?? 3) >= 0)) findings.push("maxConsecutive is 0 or more.");
  if (findings.length > 0)
    throw new EdgetableError("plan.invalidOption", `createFaultTransport: ${findings.join(" ")}`, { details: { findings } });
};
