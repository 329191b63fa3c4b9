import type { CandidateName } from "../calls/candidates.ts";
import { createTable } from "../calls/table.ts";
import { startEngine } from "../engine/engine.ts";
import { randomFrom, shuffled } from "../measure/random.ts";
import { median } from "../measure/statistics.ts";
import { startWorker } from "../workers/parent.ts";
import type { Worker } from "../workers/parent.ts";
import { shareCalls } from "./share-calls.ts";
import type { ShareCall } from "./share-calls.ts";

export interface SharePlan {
  readonly candidates: readonly CandidateName[];
  readonly rounds: number;
  readonly count: number;
  readonly seed: number;
}

/** Microseconds of CPU a call with the service replaced by a canned answer, medians over the rounds. */
export interface Share {
  readonly candidate: CandidateName;
  readonly cpu: Readonly<Record<ShareCall, number>>;
}

interface Contestant {
  readonly name: CandidateName;
  readonly worker: Worker;
  readonly cpu: Record<ShareCall, number[]>;
}

const noSamples = (): Record<ShareCall, number[]> =>
  Object.fromEntries(shareCalls.map((call) => [call, []])) as unknown as Record<ShareCall, number[]>;

const enter = async (name: CandidateName, endpoint: string): Promise<Contestant> => {
  const table = `Share-${name}`;
  await createTable(endpoint, table);
  const worker = startWorker("share/worker", [name, endpoint, table]);
  await worker.ask({ kind: "prepare" });
  return { name, worker, cpu: noSamples() };
};

const measureRound = async (contestants: readonly Contestant[], count: number, random: () => number): Promise<void> => {
  for (const call of shareCalls) {
    for (const { worker, cpu } of shuffled(contestants, random))
      cpu[call].push((await worker.ask<number | undefined>({ kind: "measure", call, count })) ?? Number.NaN);
  }
};

/** The library's own share of a call: everything but the SDK, the network and the engine. */
export const runShare = async (plan: SharePlan, log: (line: string) => void): Promise<readonly Share[]> => {
  const engine = await startEngine();
  const contestants: Contestant[] = [];
  const random = randomFrom(plan.seed);
  try {
    for (const name of plan.candidates) contestants.push(await enter(name, engine.endpoint));
    // The first round warms up and is dropped.
    for (let round = 0; round <= plan.rounds; round++) {
      await measureRound(contestants, plan.count, random);
      log(`share: round ${round} of ${plan.rounds}`);
    }
  } finally {
    await Promise.all(contestants.map(({ worker }) => worker.end()));
    await engine.stop();
  }
  const medianOf = (cpu: Record<ShareCall, number[]>): Record<ShareCall, number> =>
    Object.fromEntries(shareCalls.map((call) => [call, median(cpu[call].slice(1))])) as Record<ShareCall, number>;
  return contestants.map(({ name, cpu }) => ({ candidate: name, cpu: medianOf(cpu) }));
};
