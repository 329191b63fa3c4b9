import { onAbort } from "../../util/time.ts";
import { type AttemptFailure, attemptError } from "../transport-error.ts";
import type { TextColumn } from "../transport.ts";
import type { Credentials } from "./credentials.ts";
import type { Answer } from "./response-reader.ts";

/** Something that expires. */
export interface Limited {
  /** When it expires, in `performance.now` time, and its index among the others: both set by {@link Deadlines}. */
  due: number;
  place: number;
  expire(): void;
}

/**
 * Expires what takes too long, with one timer for all: setting and clearing a timer for each exchange takes 3 to 4 µs of a
 * single request's 90. The timer also keeps the process alive; the sockets do not.
 */
export interface Deadlines {
  /** Expires it after so many milliseconds, unless it is removed first. */
  add(limited: Limited, timeout: number): void;
  remove(limited: Limited): void;
}

export const createDeadlines = (): Deadlines => {
  // Not a Set: the tables it discards as it changes would carry finished exchanges and their rows into the old generation,
  // 35 µs more for each list at 32 in flight.
  const inFlight: (Limited | undefined)[] = [];
  const free: number[] = [];
  let timer: NodeJS.Timeout | undefined;
  let next = Number.POSITIVE_INFINITY;

  const isIdle = (): boolean => free.length === inFlight.length;
  const remove = (limited: Limited): void => {
    if (inFlight[limited.place] !== limited) return;
    inFlight[limited.place] = undefined;
    free.push(limited.place);
    // The timer stays: it will probably be needed before it fires.
    if (isIdle()) timer?.unref();
  };
  const fireAt = (due: number, now: number): void => {
    clearTimeout(timer);
    next = due;
    timer = setTimeout(expireDue, Math.max(1, Math.ceil(due - now)));
  };
  const expireDue = (): void => {
    const now = performance.now();
    let due = Number.POSITIVE_INFINITY;
    timer = undefined;
    next = due;
    for (const limited of inFlight) {
      if (limited && limited.due > now) due = Math.min(due, limited.due);
      else if (limited) {
        remove(limited);
        limited.expire();
      }
    }
    // Expiring one may have added others and set the timer for them.
    if (due < next) fireAt(due, now);
  };
  return {
    add(limited, timeout) {
      const now = performance.now();
      limited.due = now + timeout;
      if (isIdle()) timer?.ref();
      limited.place = free.pop() ?? inFlight.length;
      inFlight[limited.place] = limited;
      if (limited.due < next) fireAt(limited.due, now);
    },
    remove,
  };
};

/** Receives the result of an exchange. */
export interface Outcome {
  answered(exchange: Exchange, answer: Answer): void;
  failed(error: unknown): void;
}

/** Limits of an exchange. */
export interface Limits {
  readonly deadlines: Deadlines;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
}

/** One request until its answer. It settles once; until then it has a deadline and an abort listener. */
export class Exchange implements Limited {
  readonly operation: string;
  readonly input: unknown;
  readonly body: string;
  credentials: Credentials | undefined;
  column: TextColumn | undefined;
  guard: (() => void) | undefined;
  /** The connection that carries it. It is destroyed if the exchange fails. */
  connection: { destroy(): void } | undefined;
  /** The time in its signature. */
  signedAt = 0;
  /** True once bytes were given to a socket. */
  written = false;
  /** True once it was sent again, on a fresh socket. */
  resent = false;
  settled = false;
  due = 0;
  place = 0;
  readonly #outcome: Outcome;
  #deadlines: Deadlines | undefined;
  #timeout = 0;
  #signal: AbortSignal | undefined;
  #unwatch: (() => void) | undefined;

  constructor(operation: string, input: unknown, outcome: Outcome) {
    this.operation = operation;
    this.input = input;
    this.body = JSON.stringify(input);
    this.#outcome = outcome;
  }

  /** Sets the timeout and, if there is one, the abort signal. */
  limit({ deadlines, timeout, signal }: Limits): void {
    this.#deadlines = deadlines;
    this.#timeout = timeout;
    deadlines.add(this, timeout);
    this.#signal = signal;
    if (signal) this.#unwatch = onAbort(signal, () => this.#abort());
  }

  expire(): void {
    this.fail({ code: "execute.timeout", message: `no answer within ${this.#timeout} ms`, ambiguous: this.written });
  }

  /** Settles with an answer. */
  answer(answer: Answer): void {
    if (!this.#settle()) return;
    try {
      this.#outcome.answered(this, answer);
    } catch (error) {
      this.#outcome.failed(error);
    }
  }

  /** Settles without an answer and destroys the connection. */
  fail(failure: AttemptFailure): void {
    this.reject(attemptError(this, failure));
  }

  reject(error: unknown): void {
    if (!this.#settle()) return;
    this.connection?.destroy();
    this.#outcome.failed(error);
  }

  #settle(): boolean {
    if (this.settled) return false;
    this.settled = true;
    this.#deadlines?.remove(this);
    this.#unwatch?.();
    return true;
  }

  #abort(): void {
    this.fail({ code: "execute.aborted", message: "aborted by the caller's signal", ambiguous: this.written, cause: this.#signal?.reason });
  }
}
