import { EdgetableError, type Effects } from "edgetable";
import { setMaxListeners } from "node:events";
import { seededRandom } from "./random.ts";

/** The error of a sleep that its signal cut short. */
const abortedSleep = (cause: unknown): EdgetableError =>
  new EdgetableError("execute.aborted", "The call was aborted while it waited.", { cause });

/** Calls back when a signal is aborted, until the returned function is called. */
const onAbort = (signal: AbortSignal, callback: () => void): (() => void) => {
  // Node warns from eleven listeners on; a walk has 32 requests in flight under one signal.
  setMaxListeners(0, signal);
  signal.addEventListener("abort", callback, { once: true });
  return () => signal.removeEventListener("abort", callback);
};

/** Waits on the system's timers. @throws {execute.aborted} when the signal is aborted */
export const sleep = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortedSleep(signal.reason));
    const timer = setTimeout(() => {
      unwatch?.();
      resolve();
    }, milliseconds);
    const unwatch =
      signal &&
      onAbort(signal, () => {
        clearTimeout(timer);
        reject(abortedSleep(signal.reason));
      });
  });

/** A clock that moves when it is told to, or by itself when everything waits for it. */
export interface VirtualClock extends Effects {
  /** Moves time forward by so many milliseconds and wakes each sleeper at its moment. */
  advance(ms: number): Promise<void>;
  /** Keeps time from moving by itself while `work` (a request on a real socket, say) is under way. */
  hold<T>(work: Promise<T>): Promise<T>;
  /** Number of sleepers. */
  readonly sleepers: number;
}

/** Options of a {@link virtualClock}. */
export interface VirtualClockOptions {
  /** First value of `now()`, in milliseconds since 1970. @default 0 */
  readonly start?: number;
  /** Whether time jumps to the next sleeper's moment when nothing else can run. @default true */
  readonly automatic?: boolean;
  /**
   * Seed of `random()`. Connections with clocks of one seed draw the same transaction tokens, which DynamoDB takes for
   * repetitions. @default 0 for the first clock of a process that gives none, then 1, 2, …
   */
  readonly seed?: number;
}

let unseeded = 0;

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}
// Ready promise chains and callbacks run to their end before the second immediate.
const othersRun = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve));
  });

/**
 * Virtual time for tests: hours of backoff pass in microseconds, in the order in which they would.
 *
 * Time moves by itself only when no ready callback is left and nothing is held; real work that the
 * clock is not told of by `hold` may be overtaken.
 *
 * @param options how it begins
 * @example
 * const clock = virtualClock();
 * await clock.sleep(3_600_000); // returns at once
 * clock.now(); // 3600000
 */
export const virtualClock = (options: VirtualClockOptions = {}): VirtualClock => {
  const { automatic = true } = options;
  const asleep = new Set<Sleeper>();
  let now = options.start ?? 0;
  let holds = 0;
  let checking = false;

  const nextMoment = (): number => Math.min(...[...asleep].map(({ until }) => until));
  const wakeAt = (moment: number): void => {
    now = Math.max(now, moment);
    // A Set keeps the order of arrival: sleepers of one moment wake in that order.
    for (const { until, wake } of asleep) if (until <= now) wake();
  };
  const isIdle = (): boolean => holds === 0 && asleep.size > 0;
  const moveWhenIdle = async (): Promise<void> => {
    if (!automatic || checking) return;
    checking = true;
    await othersRun();
    while (isIdle()) {
      wakeAt(nextMoment());
      await othersRun();
    }
    checking = false;
  };

  return {
    now: () => now,
    random: seededRandom(options.seed ?? unseeded++),
    sleep: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(abortedSleep(signal.reason));
        const leave = (): void => {
          asleep.delete(sleeper);
          unwatch?.();
        };
        const sleeper = { until: now + Math.max(0, milliseconds), wake: (): void => (leave(), resolve()) };
        const unwatch = signal && onAbort(signal, () => (leave(), reject(abortedSleep(signal.reason))));
        asleep.add(sleeper);
        void moveWhenIdle();
      }),
    async advance(milliseconds) {
      const end = now + milliseconds;
      await othersRun();
      while (asleep.size > 0 && nextMoment() <= end) {
        wakeAt(nextMoment());
        await othersRun();
      }
      // Automatic moves may have passed the end.
      now = Math.max(now, end);
    },
    async hold(work) {
      holds++;
      try {
        return await work;
      } finally {
        holds--;
        void moveWhenIdle();
      }
    },
    get sleepers() {
      return asleep.size;
    },
  };
};
