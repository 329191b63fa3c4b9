import { EdgetableError } from "../errors/edgetable-error.ts";
import type { ErrorCode } from "../errors/codes.ts";
import { isLoopback } from "./loopback.ts";
import { withMend } from "./mends.ts";

/** One attempt, as its errors name it. */
export interface Attempt {
  readonly operation: string;
  readonly input: unknown;
}

/** Why no answer came. */
export interface AttemptFailure {
  readonly code: Extract<ErrorCode, "execute.connection" | "execute.timeout" | "execute.aborted">;
  readonly message: string;
  /** Whether bytes of the request may have reached the service. */
  readonly ambiguous: boolean;
  readonly cause?: unknown;
}

// OpenSSL's words for an answer that is not TLS.
const notTls = /wrong version number|packet length too long/;

/** What Node tells of a socket that failed; of a name with several addresses, in `errors`. */
interface SocketError {
  readonly code?: unknown;
  readonly address?: unknown;
  readonly port?: unknown;
  readonly errors?: readonly SocketError[];
}

/** Where nothing listens on this machine. Another try would find nothing either: whoever develops here has forgotten to start the engine. */
const refusedHere = (cause: unknown): string | undefined => {
  const { code, address, port, errors } = (cause ?? {}) as SocketError;
  if (code !== "ECONNREFUSED") return undefined;
  if (errors?.length) return errors.every((error) => refusedHere(error) !== undefined) ? refusedHere(errors.at(-1)) : undefined;
  if (typeof address !== "string" || !isLoopback(address)) return undefined;
  return `${address.includes(":") ? `[${address}]` : address}:${String(port)}`;
};

/**
 * The error that a transport rejects with when no answer came. Every such error is retryable, except an abort and a
 * connection refused on this machine.
 *
 * @param attempt the operation and its input, as they were sent
 */
export const attemptError = (attempt: Attempt, failure: AttemptFailure): EdgetableError => {
  const message = notTls.test(failure.message) ? "the endpoint does not speak https: write http://" : failure.message;
  const here = refusedHere(failure.cause);
  const text =
    here === undefined
      ? withMend(failure.code, `${attempt.operation}: ${message}`)
      : `${attempt.operation}: nothing listens at ${here}. Start an engine there with \`edgetable dev\`, or correct the endpoint (the option, AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL, endpoint_url of the profile).`;
  return new EdgetableError(failure.code, text, {
    details: { ambiguous: failure.ambiguous },
    cause: failure.cause,
    retryable: failure.code !== "execute.aborted" && here === undefined,
    request: { operation: attempt.operation, input: attempt.input },
  });
};
