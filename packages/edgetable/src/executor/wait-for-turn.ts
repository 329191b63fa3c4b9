import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Operation } from "../transport/operations.ts";
import { onAbort } from "../util/on-abort.ts";
import type { Effects } from "./effects.ts";
import type { Turn } from "./limit-concurrency.ts";

/** The request that waits, and for what. */
interface Waiting {
  readonly operation: Operation;
  /** Requests that may be under way. */
  readonly concurrency: number;
  readonly effects: Effects;
}

interface Limits {
  readonly signal?: AbortSignal | undefined;
  /** As `Effects.now` tells it. */
  readonly deadline: number;
}

// What a timer of Node can wait for; nobody queues for weeks.
const LONGEST_SLEEP = 2 ** 31 - 1;

const noRoom = ({ operation, concurrency }: Waiting): EdgetableError =>
  new EdgetableError(
    "execute.timeout",
    `${operation} was not sent: the call's time was over while ${concurrency} other requests were under way. Give it more time (deadline), or connect with a higher concurrency.`,
    { details: { ambiguous: false }, retryable: true },
  );

/**
 * Waits for room, no longer than the call may take.
 *
 * @throws {execute.timeout} when its deadline comes first
 * @throws {execute.aborted} when it is aborted
 */
export const waitForTurn = async (turn: Turn, waiting: Waiting, { signal, deadline }: Limits): Promise<void> => {
  const { effects } = waiting;
  const over = new AbortController();
  const end = (): void => over.abort(signal?.reason);
  const unwatch = signal && onAbort(signal, end);
  if (signal?.aborted) end();
  const late = async (): Promise<never> => {
    await effects.sleep(Math.min(LONGEST_SLEEP, Math.max(0, deadline - effects.now())), over.signal);
    throw noRoom(waiting);
  };
  try {
    await Promise.race([turn.comes, late()]);
  } catch (error) {
    turn.giveUp();
    throw error;
  } finally {
    unwatch?.();
    end();
  }
};
