import { Meter } from "../call.ts";
import type { CallContext, Session } from "../session.ts";

// Who gives up, because he was told to or the service does not answer, has no more time than this for a farewell.
const LONGEST_FAREWELL = 2000;

/** A context for a job's own bookkeeping: it is neither aborted with the job nor charged to it. */
export const bookkeeping = (session: Session, deadline: number): CallContext => ({
  meter: new Meter(),
  deadline: session.effects.now() + deadline,
});

/** The same for who gives a lease of so many milliseconds back. */
export const farewell = (session: Session, duration: number): CallContext => bookkeeping(session, Math.min(LONGEST_FAREWELL, duration));
