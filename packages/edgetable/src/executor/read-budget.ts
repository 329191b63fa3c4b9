import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { type CallContext, CLOCK_TOLERANCE, type Session } from "./session.ts";

/** The limits of the Queries of a page; undefined for no limit. */
export interface ReadBudget {
  readonly requests?: number | undefined;
  readonly readUnits?: number | undefined;
}

/** Why a page ended before it was full, with more to read. */
export type ReadStop = "requests" | "units" | "time";

/** The next Query of a page. */
export interface Turn {
  /** Requests reserved for partitions that were not read yet. */
  readonly kept?: number;
  /** True if it is the first of its partition. Without it, the page could not be continued there. */
  readonly isFirst?: boolean;
}

/** Law 8 for a page: what its Queries have consumed, and whether another one may be sent. */
export interface PageSpending {
  /** The call's context, for its Queries. */
  readonly context: CallContext;
  /** Why it ended; undefined while it may continue. */
  stopped(): ReadStop | undefined;
  /**
   * Sends a request and returns its response; undefined if the budget or the call's time ended before. A first request does not
   * leave room for others, and its errors are thrown.
   */
  send<T>(request: () => Promise<T>, turn?: Turn): Promise<T | undefined>;
  /** @throws {plan.invalidOption} if the budget is less than one request for each partition */
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
    // The first attempt of a request is counted when the request begins.
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
