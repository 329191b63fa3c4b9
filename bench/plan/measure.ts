import { marshall } from "@aws-sdk/util-dynamodb";
import { students } from "../calls/data.ts";
import { median } from "../measure/statistics.ts";
import { FORMS, knownPlans, newPlans, openNew } from "./plans.ts";

/** What it takes to plan a call. */
export interface PlanTime {
  readonly call: string;
  /** Whether the connection has planned a call of this form before. */
  readonly form: "known" | "new";
  /** Microseconds of CPU, on the machine as it was. */
  readonly micros: number;
  /** The same in marshallings of one student by the AWS SDK, each timed in the same round: a slow or busy machine slows both. */
  readonly marshallings: number;
}

const WARM_UP_ROUNDS = 3;
const KNOWN_PER_ROUND = 20_000;
const CONNECTIONS_PER_ROUND = 16;
const MARSHALLINGS_PER_ROUND = 10_000;

// CPU and not the clock: what else the machine does is no part of a plan.
const cpuOf = async (work: () => Promise<void>): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
};

const timeMarshalling = async (): Promise<number> => {
  const cpu = await cpuOf(async () => {
    for (let index = 0; index < MARSHALLINGS_PER_ROUND; index++) await Promise.resolve(marshall(students[index % students.length]));
  });
  return cpu / MARSHALLINGS_PER_ROUND;
};

const timeRounds = async (rounds: number, round: () => Promise<number>): Promise<Pick<PlanTime, "micros" | "marshallings">> => {
  const micros: number[] = [];
  const marshallings: number[] = [];
  for (let index = 0; index < rounds; index++) {
    const yardstick = await timeMarshalling();
    const time = await round();
    micros.push(time);
    marshallings.push(time / yardstick);
  }
  return { micros: median(micros.slice(WARM_UP_ROUNDS)), marshallings: median(marshallings.slice(WARM_UP_ROUNDS)) };
};

const timeKnown = (rounds: number, plan: () => Promise<unknown>) =>
  timeRounds(rounds, async () => {
    const cpu = await cpuOf(async () => {
      for (let index = 0; index < KNOWN_PER_ROUND; index++) await plan();
    });
    return cpu / KNOWN_PER_ROUND;
  });

const timeNew = (rounds: number, plan: (db: ReturnType<typeof openNew>, form: number) => Promise<unknown>) =>
  timeRounds(rounds, async () => {
    // Connections are opened beforehand: only planning is measured.
    const connections = Array.from({ length: CONNECTIONS_PER_ROUND }, openNew);
    const cpu = await cpuOf(async () => {
      for (const db of connections) for (let form = 1; form <= FORMS; form++) await plan(db, form);
    });
    for (const db of connections) await db.close();
    return cpu / (CONNECTIONS_PER_ROUND * FORMS);
  });

/** How often each form is timed; of the rounds, the first three warm up. */
export interface PlanRounds {
  readonly rounds: number;
}

/** Times the planning of known and of new forms. */
export const measurePlans = async ({ rounds }: PlanRounds): Promise<readonly PlanTime[]> => {
  const times: PlanTime[] = [];
  for (const [call, plan] of Object.entries(knownPlans())) times.push({ call, form: "known", ...(await timeKnown(rounds, plan)) });
  for (const [call, plan] of Object.entries(newPlans)) times.push({ call, form: "new", ...(await timeNew(rounds, plan)) });
  return times;
};
