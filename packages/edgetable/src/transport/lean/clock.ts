/** Tells the service's time: the machine's clock, corrected by what answers say. */
export interface ServiceClock {
  now(): number;
  /** Looks at the `Date` header of an answer; true when it made the clock jump. */
  observe(date: string): boolean;
}

// Signatures are good for 5 minutes either way; the header itself is off by up to a second plus the way back.
const tolerance = 240_000;

export const createServiceClock = (machine: () => number): ServiceClock => {
  let offset = 0;
  return {
    now: () => machine() + offset,
    observe(date) {
      const difference = Date.parse(date) - (machine() + offset);
      if (!(Math.abs(difference) > tolerance)) return false;
      offset += difference;
      return true;
    },
  };
};
