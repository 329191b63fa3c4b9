import type { Session } from "../session.ts";

/** What stops a job. */
export interface Stopping {
  readonly signal: AbortSignal;
  /** Says that the job is under way: `close` aborts the signal, and waits until the job gave back its lease. */
  readonly hold: <T>(job: Promise<T>) => Promise<T>;
}

/** A job that is stopped by its own signal, where it has one, and by `close`. */
export const stoppedByClose = ({ jobs }: Session, signal: AbortSignal | undefined): Stopping => {
  const closing = new AbortController();
  return {
    signal: signal ? AbortSignal.any([signal, closing.signal]) : closing.signal,
    hold: async (job) => {
      const stop = async (): Promise<void> => {
        closing.abort("the connection was closed");
        await job.catch(() => undefined);
        jobs.delete(stop);
      };
      jobs.add(stop);
      try {
        return await job;
      } finally {
        jobs.delete(stop);
      }
    },
  };
};
