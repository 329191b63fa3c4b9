/** What is given up when its time is over. */
export interface Limited {
  /** When, as `performance.now` tells it, and its place among the others: set by {@link Deadlines}. */
  due: number;
  place: number;
  expire(): void;
}

/**
 * Gives up what takes too long: one timer for all of it, because setting and clearing one for each
 * exchange takes 3 to 4 µs of a lone request's 90. The timer also keeps the process alive meanwhile:
 * the sockets themselves do not.
 */
export interface Deadlines {
  /** Expires it after so many milliseconds, unless it is removed before. */
  add(limited: Limited, timeout: number): void;
  remove(limited: Limited): void;
}

export const createDeadlines = (): Deadlines => {
  // No Set: the tables that it leaves behind as it changes would carry finished exchanges, and the rows
  // that hang on them, into the old generation: 35 µs more for each list, 32 at a time.
  const underWay: (Limited | undefined)[] = [];
  const free: number[] = [];
  let timer: NodeJS.Timeout | undefined;
  let next = Number.POSITIVE_INFINITY;

  const isIdle = (): boolean => free.length === underWay.length;
  const remove = (limited: Limited): void => {
    if (underWay[limited.place] !== limited) return;
    underWay[limited.place] = undefined;
    free.push(limited.place);
    // The timer stays: it is likely to be needed again before it rings.
    if (isIdle()) timer?.unref();
  };
  const wakeAt = (due: number, now: number): void => {
    clearTimeout(timer);
    next = due;
    timer = setTimeout(wake, Math.max(1, Math.ceil(due - now)));
  };
  const wake = (): void => {
    const now = performance.now();
    let due = Number.POSITIVE_INFINITY;
    timer = undefined;
    next = due;
    for (const limited of underWay) {
      if (limited && limited.due > now) due = Math.min(due, limited.due);
      else if (limited) expire(limited);
    }
    // What expired may have added others, and set the timer for them.
    if (due < next) wakeAt(due, now);
  };
  const expire = (limited: Limited): void => {
    remove(limited);
    limited.expire();
  };

  return {
    add(limited, timeout) {
      const now = performance.now();
      limited.due = now + timeout;
      if (isIdle()) timer?.ref();
      limited.place = free.pop() ?? underWay.length;
      underWay[limited.place] = limited;
      if (limited.due < next) wakeAt(limited.due, now);
    },
    remove,
  };
};
