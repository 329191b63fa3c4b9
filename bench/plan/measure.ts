import { median } from "../measure/statistics.ts";

/** Microseconds of CPU to plan a call that was planned before. */
export interface PlanTime {
  readonly call: string;
  readonly micros: number;
}

const rounds = 15;
const perRound = 20_000;

const timeOf = async (plan: () => Promise<unknown>): Promise<number> => {
  const times: number[] = [];
  let kept: unknown;
  for (let round = 0; round < rounds; round++) {
    // CPU and not the clock: what else the machine does is no part of a plan.
    const before = process.cpuUsage();
    for (let index = 0; index < perRound; index++) kept = await plan();
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / perRound);
  }
  // The result must be used, or the optimizer may drop the work.
  if (kept === undefined) throw new Error("a plan is never undefined");
  return median(times.slice(3));
};

/** Times each call's planning, the first three rounds being warm-up. */
export const measurePlans = async (plans: Readonly<Record<string, () => Promise<unknown>>>): Promise<readonly PlanTime[]> => {
  const times: PlanTime[] = [];
  for (const [call, plan] of Object.entries(plans)) times.push({ call, micros: await timeOf(plan) });
  return times;
};
