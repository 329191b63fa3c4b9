/** How many requests a walk has under way: up by one for each round of answers, halved when DynamoDB throttles. */
export interface Width {
  now(): number;
  answered(): void;
  throttled(): void;
}

/** Additive increase, multiplicative decrease, from `most` down to 1 and back. */
export const adaptiveWidth = (most: number): Width => {
  let width = most;
  // Several requests of one burst are throttled together, which is one sign and not many.
  let calm = 0;
  return {
    now: () => Math.max(1, Math.floor(width)),
    answered: () => {
      calm++;
      if (width < most) width = Math.min(most, width + 1 / width);
    },
    throttled: () => {
      if (calm === 0) return;
      calm = 0;
      width = Math.max(1, width / 2);
    },
  };
};

interface Lanes<Job, Result> {
  readonly width: Width;
  /** The next job, undefined when there is none, or none may be begun. */
  readonly next: () => Job | undefined;
  readonly run: (job: Job) => Promise<Result>;
  /** Is given the results in the order of the jobs. */
  readonly done: (result: Result) => void;
}

// Results that wait for an earlier one are kept in memory.
const MOST_AHEAD = 4096;

/** Runs jobs side by side and hands on their results in order. */
export const runLanes = <Job, Result>({ width, next, run, done }: Lanes<Job, Result>): Promise<void> =>
  new Promise((resolve, reject) => {
    const waiting = new Map<number, Result>();
    let [begun, handed, running, failed] = [0, 0, 0, false];
    const fail = (error: Error): void => {
      failed = true;
      reject(error);
    };
    const hand = (at: number, result: Result): void => {
      waiting.set(at, result);
      for (let ready = waiting.get(handed); ready !== undefined; ready = waiting.get(handed)) {
        waiting.delete(handed++);
        done(ready);
      }
    };
    const begin = async (job: Job, at: number): Promise<void> => {
      running++;
      const result = await run(job);
      running--;
      if (failed) return;
      hand(at, result);
      pump();
    };
    const pump = (): void => {
      while (running < width.now() && begun - handed < MOST_AHEAD) {
        const job = next();
        if (job === undefined) break;
        begin(job, begun++).catch(fail);
      }
      if (running === 0) resolve();
    };
    pump();
  });
