/** A write that is in flight, of a range of rows. */
export interface InFlightWrite {
  /** The first row with an item in it. */
  readonly firstRow: number;
  /** Keys that no later write may change until this one is done. */
  readonly keys: Iterable<string>;
  /** Never rejects. */
  run(): Promise<void>;
}

/** The writes in flight. */
export interface InFlight {
  /** Starts a write once there is room, after every write in flight of the same keys. Resolves when there is room. */
  start(write: InFlightWrite): Promise<void>;
  /** Resolves when all writes are done. */
  done(): Promise<void>;
  /** The first row that is not written, of those before `end`. */
  position(end: number): number;
}

/** Keeps track of the writes in flight, of which there are at most `limit`. */
export const openInFlight = (limit: number): InFlight => {
  const running = new Map<InFlightWrite, Promise<void>>();
  const lastOfKey = new Map<string, Promise<void>>();
  const queue: (() => void)[] = [];
  // Writes that wait for room: their rows are not written either.
  const waiting = new Set<InFlightWrite>();
  const remove = (write: InFlightWrite, done: Promise<void>): void => {
    running.delete(write);
    for (const key of write.keys) if (lastOfKey.get(key) === done) lastOfKey.delete(key);
    queue.shift()?.();
  };
  return {
    start: async (write) => {
      waiting.add(write);
      while (running.size >= limit) await new Promise<void>((admit) => queue.push(admit));
      waiting.delete(write);
      const earlier = new Set<Promise<void>>();
      for (const key of write.keys) {
        const last = lastOfKey.get(key);
        if (last) earlier.add(last);
      }
      const ran = earlier.size > 0 ? Promise.all(earlier).then(() => write.run()) : write.run();
      const done: Promise<void> = ran.then(() => remove(write, done));
      running.set(write, done);
      for (const key of write.keys) lastOfKey.set(key, done);
    },
    done: async () => {
      await Promise.all(running.values());
    },
    position: (end) => {
      let position = end;
      for (const { firstRow } of running.keys()) position = Math.min(position, firstRow);
      for (const { firstRow } of waiting) position = Math.min(position, firstRow);
      return position;
    },
  };
};
