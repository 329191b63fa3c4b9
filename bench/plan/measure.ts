import { median } from "../measure/statistics.ts";
import { newPlans, knownPlans, openNew } from "./plans.ts";

/** Microseconds of CPU to plan a call. */
export interface PlanTime {
  readonly call: string;
  /** Whether the connection has planned a call of this form before. */
  readonly form: "known" | "new";
  readonly micros: number;
}

const ROUNDS = 15;
const WARM_UP_ROUNDS = 3;
const KNOWN_PER_ROUND = 20_000;
const NEW_PER_ROUND = 1000;

// CPU and not the clock: what else the machine does is no part of a plan.
const cpuOf = async (work: () => Promise<void>): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
};

const timeKnown = async (plan: () => Promise<unknown>): Promise<number> => {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const cpu = await cpuOf(async () => {
      for (let index = 0; index < KNOWN_PER_ROUND; index++) await plan();
    });
    times.push(cpu / KNOWN_PER_ROUND);
  }
  return median(times.slice(WARM_UP_ROUNDS));
};

const timeNew = async (plan: (db: ReturnType<typeof openNew>) => Promise<unknown>): Promise<number> => {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    // Connections are opened beforehand: only planning is measured.
    const connections = Array.from({ length: NEW_PER_ROUND }, openNew);
    const cpu = await cpuOf(async () => {
      for (const db of connections) await plan(db);
    });
    times.push(cpu / NEW_PER_ROUND);
    for (const db of connections) await db.close();
  }
  return median(times.slice(WARM_UP_ROUNDS));
};

/** Times the planning of known and of new forms. */
export const measurePlans = async (): Promise<readonly PlanTime[]> => {
  const times: PlanTime[] = [];
  for (const [call, plan] of Object.entries(knownPlans())) times.push({ call, form: "known", micros: await timeKnown(plan) });
  for (const [call, plan] of Object.entries(newPlans)) times.push({ call, form: "new", micros: await timeNew(plan) });
  return times;
};
