import type { Session } from "../session.ts";
import { bookkeeping, farewell } from "./bookkeeping.ts";
import type { JobFacts } from "./job-item.ts";
import { type Lease, releaseLease, renewLease, type Save } from "./lease.ts";

const LONGEST_BEAT = 1000;

/**
 * Gives a lease back after a job was cut off. The error that cut it off is the one to tell: this never rejects, and a
 * lease that cannot be given back runs out.
 */
export const giveBack = async (session: Session, save: Save): Promise<void> => {
  await releaseLease(session, save, farewell(session, save.lease.duration)).catch(() => undefined);
};

/** Renews a lease and saves the job's facts, until it is stopped. */
export interface Heartbeat {
  /** Resolves when the last renewal is over; one that is under way is given up. */
  stop(): Promise<void>;
}

/**
 * Starts to renew a lease, four times in its duration and at least once a second. A renewal that fails
 * is tried again with the next beat: the lease tells whether there is still time.
 */
export const startHeartbeat = (session: Session, lease: Lease, facts: () => JobFacts): Heartbeat => {
  const stopping = new AbortController();
  const beat = async (): Promise<void> => {
    while (!stopping.signal.aborted && lease.until > 0) {
      await session.effects.sleep(Math.min(LONGEST_BEAT, lease.duration / 4), stopping.signal).catch(() => undefined);
      if (stopping.signal.aborted) return;
      const context = { ...bookkeeping(session, lease.duration), signal: stopping.signal };
      await renewLease(session, { lease, facts: facts() }, context).catch(() => undefined);
    }
  };
  const beating = beat();
  return {
    stop: async () => {
      stopping.abort();
      await beating;
    },
  };
};
