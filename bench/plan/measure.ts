import { median } from "../measure/statistics.ts";

/** Microseconds until a call that was planned before is planned again. */
export interface PlanTime {
  readonly call: string;
  readonly micros: number;
}

const rounds = 15;
const perRound = 20_000;

const timeOf = (plan: () => unknown): number => {
  const times: number[] = [];
  let kept: unknown;
  for (let round = 0; round < rounds; round++) {
    const before = performance.now();
    for (let index = 0; index < perRound; index++) kept = plan();
    times.push(((performance.now() - before) * 1000) / perRound);
  }
  // The result must be used, or the optimizer may drop the work.
  if (kept === undefined) throw new Error("a plan is never undefined");
  return median(times.slice(3));
};

/** Times each call's planning, the first three rounds being warm-up. */
export const measurePlans = (plans: Readonly<Record<string, () => unknown>>): readonly PlanTime[] =>
  Object.entries(plans).map(([call, plan]) => ({ call, micros: timeOf(plan) }));
