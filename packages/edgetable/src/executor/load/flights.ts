/** Something under way: writes of a range of rows. */
export interface Flight {
  /** The first row with an item in it. */
  readonly firstRow: number;
  /** Keys that no other flight may write until this one has landed. */
  readonly holds: Iterable<string>;
  /** Never rejects. */
  run(): Promise<void>;
}

/** What is under way. */
export interface Flights {
  /** Starts once there is room, after every flight that holds one of its keys. Resolves when it has its place. */
  start(flight: Flight): Promise<void>;
  /** Resolves when everything has landed. */
  landed(): Promise<void>;
  /** The first row that is not written, of those before `end`. */
  position(end: number): number;
}

/** Keeps track of what is under way, so many flights at a time. */
export const openFlights = (limit: number): Flights => {
  const running = new Map<Flight, Promise<void>>();
  const holders = new Map<string, Promise<void>>();
  const waiting: (() => void)[] = [];
  // Flights without a place yet: their rows are not written either.
  const entering = new Set<Flight>();

  const land = (flight: Flight, done: Promise<void>): void => {
    running.delete(flight);
    for (const key of flight.holds) if (holders.get(key) === done) holders.delete(key);
    waiting.shift()?.();
  };

  const earlier = (flight: Flight): readonly Promise<void>[] => {
    const found = new Set<Promise<void>>();
    for (const key of flight.holds) {
      const holder = holders.get(key);
      if (holder) found.add(holder);
    }
    return [...found];
  };

  return {
    start: async (flight) => {
      entering.add(flight);
      while (running.size >= limit) await new Promise<void>((enter) => waiting.push(enter));
      entering.delete(flight);
      const after = earlier(flight);
      const flown = after.length > 0 ? Promise.all(after).then(() => flight.run()) : flight.run();
      const done: Promise<void> = flown.then(() => land(flight, done));
      running.set(flight, done);
      for (const key of flight.holds) holders.set(key, done);
    },
    landed: async () => {
      await Promise.all(running.values());
    },
    position: (end) => {
      let position = end;
      for (const { firstRow } of running.keys()) position = Math.min(position, firstRow);
      for (const { firstRow } of entering) position = Math.min(position, firstRow);
      return position;
    },
  };
};
