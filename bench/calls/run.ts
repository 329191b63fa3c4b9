import { startEngine } from "../engine/engine.ts";
import type { Engine } from "../engine/engine.ts";
import type { BlockCost } from "../measure/block.ts";
import { randomFrom, shuffled } from "../measure/random.ts";
import { startWorker } from "../workers/parent.ts";
import type { Worker } from "../workers/parent.ts";
import { callNames } from "./calls.ts";
import type { CallName } from "./calls.ts";
import type { CandidateName } from "./candidates.ts";
import { createTable } from "./table.ts";

export interface CallsPlan {
  readonly candidates: readonly CandidateName[];
  readonly rounds: number;
  /** Calls in a block, by concurrency: `{ 1: 150, 32: 320 }`. */
  readonly blocks: Readonly<Record<number, number>>;
  readonly warmUp: number;
  readonly seed: number;
  /** Who answers what is timed: the engine, or a service that has seen the same requests and answers them from memory. */
  readonly service: "engine" | "recorded";
}

/** One block's cost and where in the run it stood. */
export interface Sample extends BlockCost {
  readonly candidate: CandidateName;
  readonly call: CallName;
  readonly concurrency: number;
  readonly round: number;
}

interface Contestant {
  readonly name: CandidateName;
  readonly worker: Worker;
  /** Ends what answers it, and says what was wrong with its answers. */
  readonly leave: () => Promise<void>;
}

const tableName = "Education";

const prepare = async (name: CandidateName, endpoint: string, warmUp: number): Promise<Worker> => {
  const worker = startWorker("calls/worker", [name, endpoint, tableName]);
  await worker.ask({ kind: "prepare", warmUp });
  return worker;
};

const openEngine = async (): Promise<Engine> => {
  const engine = await startEngine();
  await createTable(engine.endpoint, tableName);
  return engine;
};

const enterEngine = async (name: CandidateName, warmUp: number): Promise<Contestant> => {
  const engine = await openEngine();
  return { name, worker: await prepare(name, engine.endpoint, warmUp), leave: () => engine.stop() };
};

const enterRecorded = async (name: CandidateName, warmUp: number): Promise<Contestant> => {
  const engine = await openEngine();
  const recorder = startWorker("calls/recorder", [engine.endpoint]);
  const worker = await prepare(name, await recorder.ask<string>({ kind: "open" }), warmUp);
  await recorder.ask({ kind: "replay" });
  await engine.stop();
  const leave = async (): Promise<void> => {
    const unknown = await recorder.ask<number>({ kind: "unknownReads" });
    await recorder.end();
    if (unknown > 0) throw new Error(`${name} sent ${unknown} reads that it had not sent while they were recorded`);
  };
  return { name, worker, leave };
};

const enter = { engine: enterEngine, recorded: enterRecorded } as const;

const measureRound = async (
  contestants: readonly Contestant[],
  plan: CallsPlan,
  round: { readonly number: number; readonly random: () => number },
): Promise<Sample[]> => {
  const samples: Sample[] = [];
  for (const concurrency of Object.keys(plan.blocks).map(Number)) {
    const count = plan.blocks[concurrency] as number;
    for (const call of callNames) {
      for (const { name, worker } of shuffled(contestants, round.random)) {
        const cost = await worker.ask<BlockCost>({ kind: "measure", call, block: { first: round.number * count, count, concurrency } });
        samples.push({ ...cost, candidate: name, call, concurrency, round: round.number });
      }
    }
  }
  return samples;
};

/**
 * Every candidate in a process of its own against an engine, or a recorded one, of its own, both fresh, with the same
 * rows; first the gate, then the warm-up, then blocks of one call each, candidates in random order
 * within every call of every round.
 */
export const runCalls = async (plan: CallsPlan, log: (line: string) => void): Promise<readonly Sample[]> => {
  const contestants: Contestant[] = [];
  const random = randomFrom(plan.seed);
  const samples: Sample[] = [];
  try {
    for (const name of plan.candidates) {
      contestants.push(await enter[plan.service](name, plan.warmUp));
      log(`calls: ${name} gives the same rows, warm`);
    }
    for (let number = 0; number < plan.rounds; number++) {
      samples.push(...(await measureRound(contestants, plan, { number, random })));
      log(`calls: round ${number + 1} of ${plan.rounds}`);
    }
    return samples;
  } finally {
    await Promise.all(
      contestants.map(async ({ worker, leave }) => {
        await worker.end();
        await leave();
      }),
    );
  }
};
