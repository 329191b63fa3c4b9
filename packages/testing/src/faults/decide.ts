import { mixSeeds, type Random, seededRandom } from "../random.ts";
import { boundOf, faultAmount, lagAmount } from "./amount.ts";
import { applies, type Call, type FaultKind, faultKinds, lagKindOf, type LagKind } from "./kinds.ts";
import type { FaultOptions, Injection, ScriptedFault } from "./options.ts";
import { countRepeats, type Repeats } from "./repeats.ts";
import { playScript, type ScriptTurn } from "./script.ts";

/** What is to befall one request. */
export interface Decision {
  readonly fault?: Injection & { readonly fault: FaultKind };
  readonly lag?: Injection & { readonly fault: LagKind; readonly amount: number };
  /** Milliseconds before the request reaches the inner transport, and before its answer comes back. */
  readonly latency: readonly [number, number];
}

const rateOf = (fault: FaultKind, rates: FaultOptions["rates"], possible: number): number =>
  typeof rates === "number" ? rates / possible : (rates?.[fault] ?? 0);

const drawFault = (call: Call, random: Random, rates: FaultOptions["rates"]): FaultKind | undefined => {
  const possible = faultKinds.filter((fault) => applies(fault, call));
  let left = random();
  for (const fault of possible) {
    left -= rateOf(fault, rates, possible.length);
    if (left < 0) return fault;
  }
  return undefined;
};

const wholeDraw = (random: Random): number => Math.floor(random() * 2 ** 32);

/** Every request draws the same number of times, so that one decision never shifts another. */
const byChance = (call: Call, random: Random, options: FaultOptions): ScriptTurn => {
  const fault = drawFault(call, random, options.rates);
  const draws = [wholeDraw(random), wholeDraw(random)] as const;
  const kind = lagKindOf(call);
  const bound = kind && boundOf(kind, options);
  const lags = random() < (bound ? (bound.rate ?? 1) : 0);
  return { ...(fault && { fault: { fault, draw: draws[0] } }), ...(kind && lags && { lag: { fault: kind, draw: draws[1] } }) };
};

const limited = (turn: ScriptTurn, call: Call, repeats: { readonly faults: Repeats; readonly lags: Repeats }): ScriptTurn => {
  const fault = repeats.faults.hit(call, turn.fault !== undefined);
  const lag = repeats.lags.hit(call, turn.lag !== undefined);
  return { ...(fault && turn.fault && { fault: turn.fault }), ...(lag && turn.lag && { lag: turn.lag }) };
};

const injection = <S extends ScriptedFault>(
  step: S,
  amount: number | undefined,
  at: { n: number; operation: Injection["operation"] },
): S & Injection => ({
  ...step,
  ...at,
  draw: step.draw ?? 0,
  ...(amount !== undefined && { amount }),
});

const settled = (turn: ScriptTurn, call: Call, plan: { n: number; options: FaultOptions }): Omit<Decision, "latency"> => {
  const at = { n: plan.n, operation: call.operation };
  const { fault, lag } = turn;
  const amount = lag && (lag.amount ?? lagAmount(boundOf(lag.fault, plan.options) ?? { writes: 1 }, lag.draw ?? 0));
  return {
    ...(fault && { fault: injection(fault, fault.amount ?? faultAmount(fault.fault, call, fault.draw ?? 0), at) }),
    ...(lag && amount !== undefined && { lag: { ...injection(lag, amount, at), amount } }),
  };
};

/** Decides, request by request, what is to befall it: a function of seed, ordinal and request alone. */
export const decideFaults = (options: FaultOptions): ((n: number, call: Call) => Decision) => {
  const play = options.script && playScript(options.script);
  const most = options.maxConsecutive ?? 3;
  const repeats = { faults: countRepeats(most), lags: countRepeats(most) };
  const [least, longest] = options.latency ?? [0, 0];
  return (n, call) => {
    const random = seededRandom(mixSeeds(options.seed ?? 0, n));
    const wait = (): number => (least + random() * (longest - least)) / 2;
    const latency = [wait(), wait()] as const;
    const turn = play ? play(n, call) : limited(byChance(call, random, options), call, repeats);
    return { ...settled(turn, call, { n, options }), latency };
  };
};
