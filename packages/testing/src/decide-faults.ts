import { EdgetableError } from "edgetable";
import {
  applies,
  type Call,
  type FaultKind,
  faultKinds,
  type FaultOptions,
  type Injection,
  type LagBound,
  type LagKind,
  lagKindOf,
  type ScriptedFault,
} from "./fault-options.ts";
import { below, mixSeeds, type Random, seededRandom } from "./random.ts";

/** What happens to one request. */
export interface Decision {
  readonly fault?: Injection & { readonly fault: FaultKind };
  readonly lag?: Injection & { readonly fault: LagKind; readonly amount: number };
  /** Milliseconds before the request reaches the inner transport, and before its answer is returned. */
  readonly latency: readonly [number, number];
}

/** A request meets at most one fault and one lag. */
interface Steps {
  readonly fault?: ScriptedFault & { readonly fault: FaultKind };
  readonly lag?: ScriptedFault & { readonly fault: LagKind };
}

/**
 * Plays a script. A step with an ordinal happens at that request; the others happen one after the other, each at the first
 * request that can meet it.
 *
 * @throws {plan.invalidOption} from the player, if a step's request cannot meet the step's fault
 */
const playScript = (script: readonly ScriptedFault[]): ((n: number, call: Call) => Steps) => {
  const dated = script.filter(({ n }) => n !== undefined);
  const waiting = script.filter(({ n }) => n === undefined);
  const fits = (step: ScriptedFault, call: Call): boolean =>
    (step.operation === undefined || step.operation === call.operation) && applies(step.fault, call);
  return (n, call) => {
    const due = dated.filter((step) => step.n === n);
    const misfit = due.find((step) => !fits(step, call));
    if (misfit) {
      const wanted = misfit.operation === undefined ? misfit.fault : `${misfit.operation} with ${misfit.fault}`;
      throw new EdgetableError(
        "plan.invalidOption",
        `the script has ${wanted} for request ${String(n)}, which is ${call.operation} and cannot meet it: the calls differ from the recorded ones`,
        { details: { step: misfit, operation: call.operation } },
      );
    }
    if (waiting[0] && fits(waiting[0], call)) due.push(...waiting.splice(0, 1));
    const isLag = ({ fault }: ScriptedFault): boolean => fault === "lag" || fault === "staleRead";
    const fault = due.find((step) => !isLag(step)) as Steps["fault"];
    const lag = due.find(isLag) as Steps["lag"];
    return { ...(fault && { fault }), ...(lag && { lag }) };
  };
};

/** The bound of a lagging read. */
export const boundOf = (kind: LagKind, options: Pick<FaultOptions, "lag" | "staleReads">): LagBound | undefined =>
  kind === "lag" ? options.lag : options.staleReads;

/** Draws faults and lag. Every request draws the same number of times, so that one decision never shifts another. */
const drawSteps = (call: Call, random: Random, { rates, ...bounds }: FaultOptions): Steps => {
  const possible = faultKinds.filter((fault) => applies(fault, call));
  let left = random();
  let fault: FaultKind | undefined;
  for (const kind of possible) {
    left -= typeof rates === "number" ? rates / possible.length : (rates?.[kind] ?? 0);
    if (left < 0) {
      fault = kind;
      break;
    }
  }
  const faultDraw = Math.floor(random() * 2 ** 32);
  const lagDraw = Math.floor(random() * 2 ** 32);
  const lag = lagKindOf(call);
  const bound = lag && boundOf(lag, bounds);
  const lags = random() < (bound ? (bound.rate ?? 1) : 0);
  return { ...(fault && { fault: { fault, draw: faultDraw } }), ...(lag && lags && { lag: { fault: lag, draw: lagDraw } }) };
};

/** Limits the faults in a row on identical requests, so that progress stays possible. */
const limitRepeats = (limit: number): ((call: Call, wanted: boolean) => boolean) => {
  const inARow = new Map<string, number>();
  return ({ operation, input }, wanted) => {
    // A retry with a new token is the same request.
    const key = operation + JSON.stringify(input, (name, value: unknown) => (name === "ClientRequestToken" ? undefined : value));
    const before = inARow.get(key) ?? 0;
    const hit = wanted && before < limit;
    if (hit) inARow.set(key, before + 1);
    else inARow.delete(key);
    return hit;
  };
};

// Upper bound of a short page of a request without a Limit: small enough to cut a test's small partitions.
const largestShortPage = 10;

/** Draws a share: the whole with the given probability. */
const drawShare = (random: Random, whole: number): number => (random() < whole ? 1 : random());

/** The amount of a fault, for faults that have one. */
const faultAmount = (fault: FaultKind, call: Call, draw: number): number | undefined => {
  const random = seededRandom(draw);
  if (fault === "unprocessed") return drawShare(random, 0.25);
  if (fault === "shortPage") {
    const limit = "Limit" in call.input ? call.input.Limit : undefined;
    return 1 + below(random, Math.max(1, (limit ?? largestShortPage + 1) - 1));
  }
  // A batch is not atomic: if its answer is lost, a part of it may have taken effect.
  if (fault.endsWith("After") && call.operation === "BatchWriteItem") return drawShare(random, 0.5);
  return undefined;
};

/** How far back a lagging read looks, in its bound's unit. */
const lagAmount = (bound: LagBound, draw: number): number => {
  const random = seededRandom(draw);
  return bound.writes === undefined ? random() * (bound.milliseconds ?? 0) : 1 + below(random, bound.writes);
};

/** Decides what happens to each request, from the seed, the request and its ordinal alone. */
export const decideFaults = (options: FaultOptions): ((n: number, call: Call) => Decision) => {
  const play = options.script && playScript(options.script);
  const limit = options.maxConsecutive ?? 3;
  const mayFail = limitRepeats(limit);
  const mayLag = limitRepeats(limit);
  const [shortest, longest] = options.latency ?? [0, 0];
  return (n, call) => {
    const random = seededRandom(mixSeeds(options.seed ?? 0, n));
    const latency = [0, 0].map(() => (shortest + random() * (longest - shortest)) / 2) as [number, number];
    let { fault, lag } = play ? play(n, call) : drawSteps(call, random, options);
    if (!play) {
      if (!mayFail(call, fault !== undefined)) fault = undefined;
      if (!mayLag(call, lag !== undefined)) lag = undefined;
    }
    const at = { n, operation: call.operation };
    const decision: { -readonly [K in keyof Decision]: Decision[K] } = { latency };
    if (fault) {
      const draw = fault.draw ?? 0;
      const amount = fault.amount ?? faultAmount(fault.fault, call, draw);
      decision.fault = { ...fault, ...at, draw, ...(amount !== undefined && { amount }) };
    }
    if (lag) {
      const draw = lag.draw ?? 0;
      decision.lag = { ...lag, ...at, draw, amount: lag.amount ?? lagAmount(boundOf(lag.fault, options) ?? { writes: 1 }, draw) };
    }
    return decision;
  };
};
