import { EdgetableError } from "../errors/edgetable-error.ts";
import type { ErrorCode } from "../errors/codes.ts";
import { withMend } from "./mends.ts";

/** One attempt, as its errors name it. */
export interface Attempt {
  readonly operation: string;
  readonly input: unknown;
}

/** Why no answer came. */
export interface Failure {
  readonly code: Extract<ErrorCode, "execute.connection" | "execute.timeout" | "execute.aborted">;
  readonly message: string;
  /** Whether bytes of the request may have reached the service. */
  readonly ambiguous: boolean;
  readonly cause?: unknown;
}

// OpenSSL's words for an answer that is not TLS.
const notTls = /wrong version number|packet length too long/;

/** The error of an attempt that got no answer; all but an abort are worth another try. */
export const attemptError = (attempt: Attempt, failure: Failure): EdgetableError => {
  const message = notTls.test(failure.message) ? "the endpoint does not speak https: write http://" : failure.message;
  return new EdgetableError(failure.code, withMend(failure.code, `${attempt.operation}: ${message}`), {
    details: { ambiguous: failure.ambiguous },
    cause: failure.cause,
    retryable: failure.code !== "execute.aborted",
    request: { operation: attempt.operation, input: attempt.input },
  });
};
