import {
  type BatchGetItemInput,
  type BatchGetItemOutput,
  type BatchWriteItemInput,
  type BatchWriteItemOutput,
  type GetItemInput,
  type GetItemOutput,
  type Operation,
  type OperationInputs,
  type OperationOutputs,
  type QueryInput,
  type QueryOutput,
  type ScanInput,
  type SendOptions,
  type Transport,
  attemptError,
  isEdgetableError,
} from "edgetable";
import { type Decision, boundOf, decideFaults } from "./decide-faults.ts";
import { type Call, type FaultEffects, type FaultOptions, type Injection, type LagBound, checkOptions } from "./fault-options.ts";
import { emptyPage, faultError, partialKeys, partialWrites } from "./inject-faults.ts";
import { type Look, type Past, type PastAnswer, pastBatchGet, pastGet, pastQuery, recordedWrite, unseenBy } from "./past.ts";
import { createTableShapes } from "./table-shape.ts";
import { sleep } from "./virtual-clock.ts";
import { type Retention, createWriteHistory } from "./write-history.ts";

/** One fault transport, as its answers need it. */
interface Faults {
  /** The inner transport. A virtual clock waits for its requests. */
  readonly inner: Transport;
  readonly past: Past;
  /** True if writes are recorded for reads that lag. */
  readonly records: boolean;
  readonly options: FaultOptions;
  readonly effects: FaultEffects;
  /** Logs an injected fault. Logging it twice has no effect. */
  log(injection: Injection): void;
}

/** The decision for one request, and the caller's options. */
interface Turn {
  readonly decision: Decision;
  readonly options: SendOptions;
}

/** Sends a write. If reads may lag, what it replaces is recorded first. */
const write = <O extends Operation>(
  faults: Faults,
  call: { operation: O; input: OperationInputs[O] },
  turn: Turn,
): Promise<OperationOutputs[O]> => {
  const run = (): Promise<OperationOutputs[O]> => faults.inner.send(call.operation, call.input, turn.options);
  return faults.records ? recordedWrite(faults.past, call as unknown as Call, run) : run();
};

/** Sends a batch of writes, or the part that the decision lets through. */
const writeBatch = (faults: Faults, input: BatchWriteItemInput, turn: Turn): Promise<BatchWriteItemOutput> => {
  const ask = (part: BatchWriteItemInput): Promise<BatchWriteItemOutput> =>
    write(faults, { operation: "BatchWriteItem", input: part }, turn);
  const { fault } = turn.decision;
  if (fault === undefined) return ask(input);
  if (fault.fault === "unprocessed") {
    faults.log(fault);
    return partialWrites(input, fault, ask);
  }
  // A lost answer: `amount` is the share that took effect.
  const share = fault.amount ?? 1;
  return share >= 1 ? ask(input) : partialWrites(input, { ...fault, amount: 1 - share }, ask);
};

/** Reads the past if the decision has a lag, else the present. */
const readPastOr = async <T>(
  faults: Faults,
  turn: Turn,
  from: { past: (look: Look) => Promise<PastAnswer<T>>; present: () => Promise<T> },
): Promise<T> => {
  const { lag } = turn.decision;
  if (lag === undefined) return from.present();
  const unseen = unseenBy(lag, boundOf(lag.fault, faults.options), faults.effects.now());
  const answer = await from.past({ unseen, options: turn.options });
  if (answer.lagged) faults.log(lag);
  return answer.output;
};

const readItem = (faults: Faults, input: GetItemInput, turn: Turn): Promise<GetItemOutput> =>
  readPastOr(faults, turn, {
    past: (look) => pastGet(faults.past, input, look),
    present: () => faults.inner.send("GetItem", input, turn.options),
  });

const readBatch = async (faults: Faults, input: BatchGetItemInput, turn: Turn): Promise<BatchGetItemOutput> => {
  const ask = (part: BatchGetItemInput): Promise<BatchGetItemOutput> =>
    readPastOr(faults, turn, {
      past: (look) => pastBatchGet(faults.past, part, look),
      present: () => faults.inner.send("BatchGetItem", part, turn.options),
    });
  const { fault } = turn.decision;
  if (fault?.fault !== "unprocessed") return ask(input);
  faults.log(fault);
  return partialKeys(input, fault, ask);
};

const shorter = (limit: number | undefined, amount: number): number => Math.max(1, Math.min(limit ?? amount, amount));

const readQuery = async (faults: Faults, input: QueryInput, turn: Turn): Promise<QueryOutput> => {
  const ask = (page: QueryInput): Promise<QueryOutput> =>
    readPastOr(faults, turn, {
      past: (look) => pastQuery(faults.past, page, look),
      present: () => faults.inner.send("Query", page, turn.options),
    });
  const { fault } = turn.decision;
  if (fault?.fault === "shortPage") {
    faults.log(fault);
    return ask({ ...input, Limit: shorter(input.Limit, fault.amount ?? 1) });
  }
  const empty = fault?.fault === "emptyPage" ? await emptyPage(ask, input, await faults.past.shapes.of(input.TableName)) : undefined;
  if (fault && empty) faults.log(fault);
  return empty ?? ask(input);
};

const readScan = (faults: Faults, input: ScanInput, turn: Turn): Promise<QueryOutput> => {
  const { fault } = turn.decision;
  if (fault?.fault !== "shortPage") return faults.inner.send("Scan", input, turn.options);
  faults.log(fault);
  return faults.inner.send("Scan", { ...input, Limit: shorter(input.Limit, fault.amount ?? 1) }, turn.options);
};

type Output = OperationOutputs[Operation];

const perform = (faults: Faults, call: Call, turn: Turn): Promise<Output> => {
  switch (call.operation) {
    case "GetItem":
      return readItem(faults, call.input, turn);
    case "BatchGetItem":
      return readBatch(faults, call.input, turn);
    case "Query":
      return readQuery(faults, call.input, turn);
    case "Scan":
      return readScan(faults, call.input, turn);
    case "BatchWriteItem":
      return writeBatch(faults, call.input, turn);
    case "PutItem":
    case "UpdateItem":
    case "DeleteItem":
    case "TransactWriteItems":
      return write(faults, call, turn);
    case "CreateTable":
    case "DeleteTable":
      return faults.inner.send(call.operation, call.input, turn.options).then((output) => {
        faults.past.shapes.forget(call.input.TableName);
        faults.past.history.forget(call.input.TableName);
        return output;
      });
    default:
      return faults.inner.send(call.operation, call.input, turn.options);
  }
};

/** Answers one request as decided: truly, in part, or with an error. */
const answer = async (faults: Faults, call: Call, turn: Turn): Promise<Output> => {
  const { fault, latency } = turn.decision;
  const { signal, timeout } = turn.options;
  if (latency[0] > 0) await faults.effects.sleep(latency[0], signal);
  const error = fault && faultError(call, fault);
  if (fault === undefined || error === undefined) {
    const output = await perform(faults, call, turn);
    if (latency[1] > 0) await faults.effects.sleep(latency[1], signal);
    return output;
  }
  faults.log(fault);
  if (fault.fault.endsWith("After")) {
    try {
      await perform(faults, call, turn);
    } catch (failure) {
      // The engine's own error is lost with the answer.
      if (!isEdgetableError(failure) || failure.code === "execute.aborted") throw failure;
    }
  }
  if (fault.fault.startsWith("timeout") && timeout !== undefined) await faults.effects.sleep(timeout, signal);
  throw error;
};

/** A transport that injects faults. */
export interface FaultTransport extends Transport {
  /** The faults injected so far, in the order of requests. Pass it as `script` to replay the run. */
  readonly log: readonly Injection[];
  /** Number of requests so far. The next one has this ordinal plus 1. */
  readonly requests: number;
  /** Ends the lag of all finished writes: reads see them from now on. Later writes lag again. */
  settle(): void;
}

/** How much of the past the options may ask for. */
const retentionOf = ({ lag, staleReads, script = [] }: FaultOptions): Retention | undefined => {
  const bounds: LagBound[] = [];
  if (lag) bounds.push(lag);
  if (staleReads) bounds.push(staleReads);
  for (const { fault, amount = 1 } of script) {
    if (fault !== "lag" && fault !== "staleRead") continue;
    const bound = fault === "lag" ? lag : staleReads;
    bounds.push(bound?.milliseconds === undefined ? { writes: Math.ceil(amount) } : { milliseconds: amount });
  }
  if (bounds.length === 0) return undefined;
  return {
    writes: Math.max(0, ...bounds.map(({ writes = 0 }) => writes)),
    milliseconds: Math.max(0, ...bounds.map(({ milliseconds = 0 }) => milliseconds)),
  };
};

/**
 * Wraps a transport into one that throttles, breaks connections, loses answers, leaves batches unprocessed, cuts pages and
 * reads stale data, by a seed or a script. It never invents data.
 *
 * A request meets at most one fault, besides lag. Lag sends further requests to the inner transport: a read of the items
 * before each write, and the whole collection for each lagging Query.
 *
 * @param inner the transport to wrap; writes that bypass the fault transport are seen at once
 * @param options which faults occur and how often; none by default
 * @throws {plan.invalidOption} if an option is out of range
 * @example
 * const faulty = createFaultTransport(inner, { seed: 7, rates: 0.2, lag: { writes: 10 } });
 * const again = createFaultTransport(inner, { script: faulty.log, lag: { writes: 10 } });
 */
export const createFaultTransport = (inner: Transport, options: FaultOptions = {}): FaultTransport => {
  checkOptions(options);
  const effects = options.effects ?? { now: () => Date.now(), sleep };
  const history = options.history ?? createWriteHistory();
  const retention = retentionOf(options);
  if (retention) history.retain(retention);
  const watched: Transport = {
    send(operation, input, sendOptions) {
      const sent = inner.send(operation, input, sendOptions);
      return effects.hold ? effects.hold(sent) : sent;
    },
    close: () => inner.close(),
  };
  const injected = new Set<Injection>();
  const faults: Faults = {
    inner: watched,
    past: { inner: watched, shapes: createTableShapes(watched), history, now: () => effects.now() },
    records: retention !== undefined || options.history !== undefined,
    options,
    effects,
    log: (injection) => void injected.add(injection),
  };
  const decide = decideFaults(options);
  let requests = 0;
  return {
    async send<O extends Operation>(operation: O, input: OperationInputs[O], sendOptions: SendOptions = {}) {
      const call = { operation, input } as unknown as Call;
      if (sendOptions.signal?.aborted)
        throw attemptError(call, { code: "execute.aborted", message: "aborted before it was sent", ambiguous: false });
      const decision = decide(++requests, call);
      // Without `column`: short pages are cut by items.
      const { column: _, ...rest } = sendOptions;
      return (await answer(faults, call, { decision, options: rest })) as OperationOutputs[O];
    },
    close: () => inner.close(),
    get log() {
      return [...injected].toSorted((a, b) => a.n - b.n);
    },
    get requests() {
      return requests;
    },
    settle: () => history.settle(),
  };
};
