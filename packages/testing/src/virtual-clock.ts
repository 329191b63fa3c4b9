import type { Effects } from "edgetable";
import { seededRandom } from "./random.ts";
import { abortedSleep, onAbort } from "./sleep.ts";

/** A clock that stands still unless it is moved, or moves by itself when everybody waits for it. */
export interface VirtualClock extends Effects {
  /** Moves time on by so many milliseconds, waking each sleeper at its own moment. */
  advance(ms: number): Promise<void>;
  /** Keeps time from moving by itself while `work` (a request on a real socket, say) is under way. */
  hold<T>(work: Promise<T>): Promise<T>;
  /** How many are asleep. */
  readonly sleepers: number;
}

/** How a {@link virtualClock} begins. */
export interface VirtualClockOptions {
  /** First value of `now()`, in milliseconds since 1970. @default 0 */
  readonly start?: number;
  /** Whether time jumps to the next sleeper's moment when nothing else can run. @default true */
  readonly automatic?: boolean;
  /** Seed of `random()`. @default 0 */
  readonly seed?: number;
}

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}
interface State {
  now: number;
  holds: number;
  checking: boolean;
  readonly automatic: boolean;
  readonly asleep: Set<Sleeper>;
}

// Promise chains and callbacks that are ready run to their end before the second immediate.
const othersRun = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve));
  });

const nextMoment = (state: State): number => Math.min(...[...state.asleep].map(({ until }) => until));

const wakeAt = (state: State, moment: number): void => {
  state.now = Math.max(state.now, moment);
  // A Set keeps the order of arrival, so sleepers of one moment wake in that order.
  for (const { until, wake } of state.asleep) if (until <= state.now) wake();
};

const moveWhenIdle = async (state: State): Promise<void> => {
  if (!state.automatic || state.checking) return;
  state.checking = true;
  for (await othersRun(); state.holds === 0 && state.asleep.size > 0; await othersRun()) wakeAt(state, nextMoment(state));
  state.checking = false;
};

const advance = async (state: State, ms: number): Promise<void> => {
  const end = state.now + ms;
  await othersRun();
  while (state.asleep.size > 0 && nextMoment(state) <= end) {
    wakeAt(state, nextMoment(state));
    await othersRun();
  }
  // Where time also moves by itself it may be further already.
  state.now = Math.max(state.now, end);
};

const sleep = (state: State, ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const leave = (): void => {
      state.asleep.delete(sleeper);
      unwatch?.();
    };
    const sleeper = { until: state.now + Math.max(0, ms), wake: (): void => (leave(), resolve()) };
    const abort = (): void => (leave(), reject(abortedSleep(signal?.reason)));
    if (signal?.aborted) return reject(abortedSleep(signal.reason));
    const unwatch = signal && onAbort(signal, abort);
    state.asleep.add(sleeper);
    void moveWhenIdle(state);
  });

const hold = async <T>(state: State, work: Promise<T>): Promise<T> => {
  state.holds++;
  try {
    return await work;
  } finally {
    state.holds--;
    void moveWhenIdle(state);
  }
};

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
  const state: State = { now: options.start ?? 0, holds: 0, checking: false, automatic: options.automatic ?? true, asleep: new Set() };
  return {
    now: () => state.now,
    random: seededRandom(options.seed ?? 0),
    sleep: (ms, signal) => sleep(state, ms, signal),
    advance: (ms) => advance(state, ms),
    hold: (work) => hold(state, work),
    get sleepers() {
      return state.asleep.size;
    },
  };
};
