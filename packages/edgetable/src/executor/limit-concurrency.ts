import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Operation } from "../transport/operations.ts";
import { onAbort, abortedSleep } from "../util/time.ts";
import { CLOCK_TOLERANCE, type Effects } from "./effects.ts";

/** How long a request may wait, for room or for another attempt. */
export interface Patience {
  readonly signal?: AbortSignal | undefined;
  /** As `Effects.now` tells it. */
  readonly deadline: number;
}

/** Lets at most so many requests in at a time, in the order in which they asked. */
export interface Gate {
  /**
   * A promise where one has to wait, else nothing: most requests need not. It rejects with `execute.timeout` at
   * the deadline and with `execute.aborted` at the signal, and whoever waits behind moves up.
   */
  enter(operation: Operation, patience: Patience): Promise<void> | undefined;
  leave(): void;
}

interface Waiting {
  readonly operation: Operation;
  readonly deadline: number;
  readonly enter: () => void;
  readonly refuse: (error: Error) => void;
  unwatch: (() => void) | undefined;
  gone: boolean;
}

/** Those who wait before the gate. */
interface Line {
  join(operation: Operation, patience: Patience): Promise<void>;
  /** The first, who waits no longer. */
  take(): Waiting | undefined;
}

/** When somebody's time is over next; one timer for all, for a timer each costs half of a call. */
interface Alarm {
  readonly due: number;
  readonly off: AbortController;
}

// What a timer of Node can wait for.
const LONGEST_SLEEP = 2 ** 31 - 1;

// No error to be made for a sleep that nobody waits for any more.
const ENOUGH = "nobody waits";

const noRoom = (operation: Operation, limit: number): EdgetableError =>
  new EdgetableError(
    "execute.timeout",
    `${operation} was not sent: the call's time was over while ${limit} other requests were under way. Give it more time (deadline), or connect with a higher concurrency.`,
    { details: { ambiguous: false }, retryable: true },
  );

const createLine = (limit: number, effects: Effects): Line => {
  const queue: Waiting[] = [];
  let waiting = 0;
  let alarm: Alarm | undefined;

  const leaveLine = (one: Waiting): void => {
    one.gone = true;
    one.unwatch?.();
    if (--waiting > 0) return;
    alarm?.off.abort(ENOUGH);
    alarm = undefined;
  };
  const refuse = (one: Waiting, error: Error): void => {
    if (one.gone) return;
    leaveLine(one);
    one.refuse(error);
  };
  const nextDue = (): number => queue.reduce((due, one) => (one.gone ? due : Math.min(due, one.deadline)), Number.POSITIVE_INFINITY);
  const ring = (rung: Alarm): void => {
    if (alarm !== rung) return;
    alarm = undefined;
    const now = effects.now() + CLOCK_TOLERANCE;
    for (const one of queue) if (one.deadline <= now) refuse(one, noRoom(one.operation, limit));
    // A sleep that ended early is a test's: it would end early again.
    if (waiting > 0 && now >= rung.due) setAlarm(nextDue());
  };
  const setAlarm = (due: number): void => {
    const set = { due, off: new AbortController() };
    alarm?.off.abort(ENOUGH);
    alarm = set;
    const wait = Math.min(LONGEST_SLEEP, Math.max(0, due - effects.now()));
    effects.sleep(wait, set.off.signal).then(
      () => ring(set),
      () => undefined,
    );
  };

  const join: Line["join"] = (operation, { signal, deadline }) =>
    new Promise((enter, reject) => {
      const one: Waiting = { operation, deadline, enter, refuse: reject, unwatch: undefined, gone: false };
      if (signal) one.unwatch = onAbort(signal, () => refuse(one, abortedSleep(signal.reason)));
      queue.push(one);
      waiting++;
      if (!alarm || deadline < alarm.due) setAlarm(deadline);
    });
  const take = (): Waiting | undefined => {
    let next = queue.shift();
    while (next?.gone) next = queue.shift();
    if (next) leaveLine(next);
    return next;
  };
  return { join, take };
};

/** A gate for at most `limit` requests at a time. */
export const limitConcurrency = (limit: number, effects: Effects): Gate => {
  const line = createLine(limit, effects);
  let running = 0;
  return {
    enter: (operation, patience) => {
      if (running >= limit) {
        if (patience.signal?.aborted) throw abortedSleep(patience.signal.reason);
        return line.join(operation, patience);
      }
      running++;
      return undefined;
    },
    leave: () => {
      const next = line.take();
      if (next) next.enter();
      else running--;
    },
  };
};
