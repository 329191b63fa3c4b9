import { attemptError } from "../attempt-error.ts";
import type { AttemptFailure } from "../attempt-error.ts";
import { onAbort } from "../../util/time.ts";
import type { Operation } from "../operations.ts";
import type { TextColumn } from "../transport.ts";
import type { Credentials } from "./credentials.ts";
import type { Deadlines, Limited } from "./deadlines.ts";
import type { Answer } from "./response-reader.ts";

/** What becomes of an exchange. */
export interface Outcome {
  answered(exchange: Exchange, answer: Answer): void;
  failed(error: unknown): void;
}

/** What ends an exchange. */
export interface Limits {
  readonly deadlines: Deadlines;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
}

/** One request on its way to its answer: it settles once, and has a deadline and an abort listener until then. */
export class Exchange implements Limited {
  readonly operation: Operation;
  readonly input: unknown;
  readonly body: string;
  credentials: Credentials | undefined;
  column: TextColumn | undefined;
  guard: (() => void) | undefined;
  /** What carries it now; ends with it when it fails. */
  connection: { destroy(): void } | undefined;
  /** The time its signature tells. */
  signedAt = 0;
  /** Whether bytes were given to a socket. */
  written = false;
  /** Whether it went out again on a fresh socket. */
  resent = false;
  settled = false;
  due = 0;
  place = 0;
  readonly #outcome: Outcome;
  #deadlines: Deadlines | undefined;
  #timeout = 0;
  #signal: AbortSignal | undefined;
  #unwatch: (() => void) | undefined;

  constructor(operation: Operation, input: unknown, outcome: Outcome) {
    this.operation = operation;
    this.input = input;
    this.body = JSON.stringify(input);
    this.#outcome = outcome;
  }

  /** Limits the exchange to so many milliseconds, and to the signal where there is one. */
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

  /** Settles without an answer, and gives up the connection that was to bring it. */
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
