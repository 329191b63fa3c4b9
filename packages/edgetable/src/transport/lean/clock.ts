/** Tells the service's time: the machine's clock, corrected by what answers say. */
export interface ServiceClock {
  now(): number;
  /** Looks at the `Date` header of an answer, at most once a minute. */
  glance(date: string): void;
  /** Looks at the `Date` header of a refusal; true when the refused request was signed with a wrong time. */
  observe(date: string, signedAt: number): boolean;
}

// Signatures are good for 5 minutes either way; the header itself is off by up to a second plus the way back.
const tolerance = 240_000;
const glanceEvery = 60_000;

export const createServiceClock = (machine: () => number): ServiceClock => {
  let offset = 0;
  let lastGlance = Number.NEGATIVE_INFINITY;
  const correct = (date: string): void => {
    const difference = Date.parse(date) - (machine() + offset);
    if (Math.abs(difference) > tolerance) offset += difference;
  };
  return {
    now: () => machine() + offset,
    glance(date) {
      const now = machine();
      if (Math.abs(now - lastGlance) < glanceEvery) return;
      lastGlance = now;
      correct(date);
    },
    observe(date, signedAt) {
      correct(date);
      return Math.abs(Date.parse(date) - signedAt) > tolerance;
    },
  };
};
