import { type Operation, type OperationInputs, type OperationOutputs, type SendOptions, type Transport, attemptError } from "edgetable";
import { sleep } from "./sleep.ts";
import { answer } from "./faults/answer.ts";
import { decideFaults } from "./faults/decide.ts";
import type { Call } from "./faults/kinds.ts";
import type { Liar } from "./faults/liar.ts";
import { checkOptions, type FaultEffects, type FaultOptions, type Injection, type LagBound } from "./faults/options.ts";
import { createTableShapes } from "./past/table-shape.ts";
import { createWriteHistory, type Retention, type WriteHistory } from "./past/write-history.ts";

/** A transport that lies like production. */
export interface FaultTransport extends Transport {
  /** What was injected so far, in the order of requests; as `script` it replays the run. */
  readonly log: readonly Injection[];
  /** How many requests were sent so far; the next one has this ordinal plus 1. */
  readonly requests: number;
  /** Ends the lag of every write that is done: all reads see it from now on. Later writes lag again. */
  settle(): void;
}

const held = (inner: Transport, effects: FaultEffects): Transport => ({
  send: (operation, input, options) => {
    const sent = inner.send(operation, input, options);
    return effects.hold ? effects.hold(sent) : sent;
  },
  close: () => inner.close(),
});

const bounds = ({ lag, staleReads, script = [] }: FaultOptions): readonly LagBound[] => {
  const scripted = script.filter(({ fault }) => fault === "lag" || fault === "staleRead");
  const ofStep = ({ fault, amount = 1 }: (typeof script)[number]): LagBound => {
    const bound = fault === "lag" ? lag : staleReads;
    return bound?.milliseconds === undefined ? { writes: Math.ceil(amount) } : { milliseconds: amount };
  };
  return [...(lag ? [lag] : []), ...(staleReads ? [staleReads] : []), ...scripted.map(ofStep)];
};

const retention = (all: readonly LagBound[]): Retention => ({
  writes: Math.max(0, ...all.map(({ writes = 0 }) => writes)),
  milliseconds: Math.max(0, ...all.map(({ milliseconds = 0 }) => milliseconds)),
});

interface Log {
  readonly sorted: () => readonly Injection[];
  readonly note: (injection: Injection) => void;
}

const createLog = (): Log => {
  const noted = new Set<Injection>();
  return { note: (injection) => void noted.add(injection), sorted: () => [...noted].toSorted((a, b) => a.n - b.n) };
};

const createLiar = (transport: Transport, options: FaultOptions, log: Log): Liar => {
  const effects = options.effects ?? { now: () => Date.now(), sleep };
  const inner = held(transport, effects);
  const history: WriteHistory = options.history ?? createWriteHistory();
  const lags = bounds(options);
  history.retain(retention(lags));
  const past = { inner, shapes: createTableShapes(inner), history, now: () => effects.now() };
  return { inner, past, records: lags.length > 0 || options.history !== undefined, options, effects, note: log.note };
};

interface Sender {
  readonly send: Transport["send"];
  readonly requests: () => number;
}

const createSender = (liar: Liar): Sender => {
  const decide = decideFaults(liar.options);
  let requests = 0;
  const send = async <O extends Operation>(
    operation: O,
    input: OperationInputs[O],
    options: SendOptions = {},
  ): Promise<OperationOutputs[O]> => {
    const call = { operation, input } as unknown as Call;
    if (options.signal?.aborted)
      throw attemptError(call, { code: "execute.aborted", message: "aborted before it was sent", ambiguous: false });
    const decision = decide(++requests, call);
    // Pages are cut by their items.
    const { column: _, ...whole } = options;
    return (await answer(liar, call, { decision, options: whole })) as OperationOutputs[O];
  };
  return { send, requests: () => requests };
};

/**
 * Wraps a transport into one that throttles, breaks, loses answers, leaves batches undone, cuts pages
 * and answers from the past, by a seed or a script, and that never invents data.
 *
 * One fault at most befalls a request, beside lag. Lag costs further requests to the inner transport:
 * a read of the items before each write, and the whole collection for each lagging Query.
 *
 * @param inner the transport that tells the truth; what is written past the fault transport is seen at once
 * @param options what befalls requests, and how often; without any, nothing does
 * @throws {plan.invalidOption} when an option is out of its range
 * @example
 * const lying = createFaultTransport(inner, { seed: 7, rates: 0.2, lag: { writes: 10 } });
 * const again = createFaultTransport(inner, { script: lying.log, lag: { writes: 10 } });
 */
export const createFaultTransport = (inner: Transport, options: FaultOptions = {}): FaultTransport => {
  checkOptions(options);
  const log = createLog();
  const liar = createLiar(inner, options, log);
  const sender = createSender(liar);
  return {
    send: sender.send,
    close: () => inner.close(),
    get log() {
      return log.sorted();
    },
    get requests() {
      return sender.requests();
    },
    settle: () => liar.past.history.settle(),
  };
};
