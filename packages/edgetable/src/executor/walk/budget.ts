import { CLOCK_TOLERANCE } from "../effects.ts";
import type { Meter } from "../call.ts";

/** What a walk may take. */
export interface WalkBudget {
  readonly requests: number;
  readonly readUnits: number;
  readonly breadth: number;
  readonly depth: number;
  /** Milliseconds. */
  readonly time: number;
  /** Bytes of what it keeps in mind. */
  readonly memory: number;
}

export type StopReason = "requests" | "units" | "breadth" | "depth" | "time" | "memory";

/** Law 8: what has been spent, and whether there is more. */
export interface Spending {
  stopped(): "requests" | "units" | "time" | "memory" | undefined;
  /** Whether one more request may be begun; the first refusal ends the walk. */
  isOpen(): boolean;
  /** Whether one more attempt may be sent, which it then has been. */
  take(): boolean;
  /** Lets requests go that were kept for later. */
  release(): void;
  /** Whether an error is the end of the time that was given. */
  isLate(): boolean;
}

interface Sources {
  readonly budget: WalkBudget;
  readonly meter: Meter;
  readonly now: () => number;
  readonly deadline: number;
  /** Bytes that the walk holds. */
  readonly bytes: () => number;
  /** Requests that are kept for what comes after the last hop. */
  readonly kept: () => number;
}

/** Starts counting. */
export const spending = ({ budget, meter, now, deadline, bytes, kept }: Sources): Spending => {
  let [taken, released] = [0, false];
  let stopped: ReturnType<Spending["stopped"]>;
  const reason = (): ReturnType<Spending["stopped"]> => {
    if (taken + (released ? 0 : kept()) >= budget.requests) return "requests";
    if (meter.readUnits >= budget.readUnits) return "units";
    if (now() >= deadline) return "time";
    return bytes() > budget.memory ? "memory" : undefined;
  };
  const isOpen = (): boolean => (stopped ??= reason()) === undefined;
  return {
    stopped: () => stopped,
    isOpen,
    take: () => {
      if (!isOpen()) return false;
      taken++;
      return true;
    },
    release: () => {
      released = true;
      if (stopped === "requests") stopped = undefined;
    },
    isLate: () => {
      if (now() + CLOCK_TOLERANCE < deadline) return false;
      stopped ??= "time";
      return true;
    },
  };
};
