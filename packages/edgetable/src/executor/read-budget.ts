import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { type CallContext, CLOCK_TOLERANCE, type Session } from "./session.ts";

/** What the Queries of a page may take; undefined: no limit. */
export interface ReadBudget {
  readonly requests?: number | undefined;
  readonly readUnits?: number | undefined;
}

/** Why a page ended before it was full, with more to read. */
export type ReadStop = "requests" | "units" | "time";

/** Which Query of a page is to be sent. */
export interface Turn {
  /** Requests that are kept for partitions that were not read yet. */
  readonly kept?: number;
  /** Whether it is the first of its partition: without it the page could not be continued there. */
  readonly isFirst?: boolean;
}

/** Law 8 for a page: what its Queries have spent, and whether one more may be sent. */
export interface PageSpending {
  /** The call's context, for its Queries. */
  readonly context: CallContext;
  /** Why it ended; undefined while it may go on. */
  stopped(): ReadStop | undefined;
  /**
   * What a request gives; undefined where the budget or the call's time ended before that. A first request needs
   * room for itself alone, and fails as it fails.
   */
  send<T>(request: () => Promise<T>, turn?: Turn): Promise<T | undefined>;
  /** @throws {plan.invalidOption} when there is no room for one request to each of so many partitions */
  checkRoom(partitions: number): void;
}

/** Starts counting. */
export const pageSpending = ({ effects }: Session, context: CallContext, budget: ReadBudget): PageSpending => {
  const { requests = Number.POSITIVE_INFINITY, readUnits = Number.POSITIVE_INFINITY } = budget;
  const before = context.meter.readUnits;
  let [taken, answered] = [0, 0];
  let stopped: ReadStop | undefined;
  const reason = (kept: number): ReadStop | undefined => {
    if (taken + kept >= requests) return "requests";
    if (context.meter.readUnits - before >= readUnits) return "units";
    return effects.now() >= context.deadline ? "time" : undefined;
  };
  const isEnd = (error: unknown): boolean => {
    if (context.signal?.aborted || !isEdgetableError(error) || !error.retryable) return false;
    if (error.details["deadline"] === true || effects.now() + CLOCK_TOLERANCE >= context.deadline) stopped ??= "time";
    return stopped !== undefined;
  };
  return {
    // The first attempt of a request is counted when it is begun.
    context: {
      ...context,
      admits: (failed) => {
        if (failed === undefined) return true;
        if (taken >= requests) stopped ??= "requests";
        else taken++;
        return stopped === undefined;
      },
    },
    stopped: () => stopped,
    send: async (request, { kept = 0, isFirst = false } = {}) => {
      const mustSend = isFirst || answered === 0;
      if (mustSend ? taken >= requests : (stopped ??= reason(kept)) !== undefined) {
        stopped ??= "requests";
        return undefined;
      }
      taken++;
      try {
        const answer = await request();
        answered++;
        return answer;
      } catch (error) {
        if (!mustSend && isEnd(error)) return undefined;
        throw error;
      }
    },
    checkRoom: (partitions) => {
      if (partitions <= requests) return;
      throw new EdgetableError(
        "plan.invalidOption",
        `budget.requests is ${requests}, and the page reads ${partitions} partitions, each by one request or more: give ${partitions} or more.`,
        { details: { option: "budget.requests", value: requests, partitions } },
      );
    },
  };
};
