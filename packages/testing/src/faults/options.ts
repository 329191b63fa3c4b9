import { EdgetableError, type Effects, type Operation, didYouMean } from "edgetable";
import type { WriteHistory } from "../past/write-history.ts";
import { type FaultKind, faultKinds, type LagKind } from "./kinds.ts";

/** What the fault transport needs of the outside; any `Effects` will do, a virtual clock best. */
export interface FaultEffects extends Pick<Effects, "now" | "sleep"> {
  /** Told of every request to the inner transport, so that virtual time waits for it. */
  readonly hold?: <T>(work: Promise<T>) => Promise<T>;
}

/** How far back a read may look: at most so many writes of its table, or so many milliseconds. */
export interface LagBound {
  /** Whole number of write requests, 1 or more. Give this or `milliseconds`. */
  readonly writes?: number;
  /** Above 0. Give this or `writes`. */
  readonly milliseconds?: number;
  /** Share of such reads that lag, 0 to 1. @default 1 */
  readonly rate?: number;
  /**
   * Whether each item lags by an amount of its own, as in production, where a transaction can be half
   * visible in an index; otherwise a read shows one past state exactly. @default false
   */
  readonly torn?: boolean;
}

/** One fault of a script; a log is a script. */
export interface ScriptedFault {
  readonly fault: FaultKind | LagKind;
  /** Ordinal of the request, from 1. Without it, the next request that the fault can befall. */
  readonly n?: number;
  /** Only a request of this operation. */
  readonly operation?: Operation;
  /**
   * `unprocessed`: share, 0 to 1 · `shortPage`: items, 1 or more · `lag`, `staleRead`: writes or
   * milliseconds · an `After` fault of BatchWriteItem: share that took effect. Drawn when left out.
   */
  readonly amount?: number;
  /** Seed of what the fault draws for itself, such as which items stay unprocessed. @default 0 */
  readonly draw?: number;
}

/** A fault that was injected. */
export interface Injection extends ScriptedFault {
  readonly n: number;
  readonly operation: Operation;
  readonly draw: number;
}

/** How a fault transport lies. */
export interface FaultOptions {
  /** The same seed and the same calls give the same faults. @default 0 */
  readonly seed?: number;
  /**
   * Probability of each fault, 0 to 1 (their sum over a request at most 1); or one number, the
   * probability of any fault, shared evenly by all that a request can meet. @default 0
   */
  readonly rates?: number | Readonly<Partial<Record<FaultKind, number>>>;
  /** Exactly these faults, and none by chance. */
  readonly script?: readonly ScriptedFault[];
  /** Queries of indexes answer from the past. */
  readonly lag?: LagBound;
  /** Eventually consistent reads of the table itself answer from the past. */
  readonly staleReads?: LagBound;
  /** Milliseconds that a request takes beside the inner transport's own time, least and most. */
  readonly latency?: readonly [number, number];
  /** Faults in a row on one identical request before it is let through; a script is not limited. @default 3 */
  readonly maxConsecutive?: number;
  /** Clock and sleep. @default the machine's own */
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

/** @throws {plan.invalidOption} with every finding, when an option is out of its range */
export const checkOptions = (options: FaultOptions): void => {
  const findings = [
    ...rateFindings(options.rates),
    ...boundFindings("lag", options.lag),
    ...boundFindings("staleReads", options.staleReads),
  ];
  const [least, most] = options.latency ?? [0, 0];
  if (!(least >= 0 && most >= least)) findings.push("latency takes the least and the most milliseconds, in this order.");
  if (!((options.maxConsecutive ?? 3) >= 0)) findings.push("maxConsecutive is 0 or more.");
  if (findings.length > 0)
    throw new EdgetableError("plan.invalidOption", `createFaultTransport: ${findings.join(" ")}`, { details: { findings } });
};
