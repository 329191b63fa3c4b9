import { EdgetableError } from "../../errors/edgetable-error.ts";
import { attemptError } from "../attempt-error.ts";
import type { Attempt } from "../attempt-error.ts";
import { serviceError } from "../service-error.ts";
import { toWire } from "./binary.ts";

/** The fields of the SDK's errors and of Node's that tell them apart. */
interface SdkError {
  readonly name?: string;
  readonly message?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string };
  readonly $fault?: string;
  readonly $response?: { readonly statusCode?: number };
  readonly CancellationReasons?: unknown;
  readonly Item?: unknown;
  readonly errors?: readonly { readonly message?: string }[];
}

// Nothing was sent: the name did not resolve or nobody was listening.
const neverConnected: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CERT_HAS_EXPIRED",
]);

const isCredentialsError = ({ name, message }: SdkError): boolean =>
  name === "CredentialsProviderError" || name === "TokenProviderError" || /credential/i.test(message ?? "");

const connectionError = (error: SdkError, attempt: Attempt): EdgetableError => {
  const message = error.message || error.errors?.[0]?.message || error.code || "no answer came";
  return attemptError(attempt, { code: "execute.connection", message, ambiguous: !neverConnected.has(error.code ?? ""), cause: error });
};

const timeoutError = (error: SdkError, attempt: Attempt): EdgetableError => {
  // Two more cases that @smithy/node-http-handler calls by that name: a reset, and a socket that was never connected.
  if (error.code === "ECONNRESET" || error.code === "EPIPE") return connectionError(error, attempt);
  const ambiguous = !/did not establish a connection/i.test(error.message ?? "");
  return attemptError(attempt, { code: "execute.timeout", message: error.message ?? "no answer in time", ambiguous, cause: error });
};

// What the SDK calls an answer that names no exception.
const nameless: ReadonlySet<string> = new Set(["Error", "SyntaxError", "Unknown", "UnknownError"]);

const answeredError = (error: SdkError, status: number, attempt: Attempt): EdgetableError => {
  const request = error.$metadata?.requestId;
  const { name = "Error" } = error;
  const isNameless = nameless.has(name);
  if (isNameless && status < 500 && request === undefined)
    return attemptError(attempt, {
      code: "execute.connection",
      message: `HTTP ${status}, not DynamoDB's JSON: ${error.message ?? ""}. Is there a proxy, or another server, at the endpoint?`,
      ambiguous: true,
      cause: error,
    });
  return serviceError(
    {
      name: isNameless ? `Http${status}` : name,
      message: `${error.message || "(no message)"}${request === undefined ? "" : ` (request ${request})`}`,
      status,
      item: toWire(error.Item),
      reasons: toWire(error.CancellationReasons),
    },
    { operation: attempt.operation, input: attempt.input },
  );
};

/** The error class and code for whatever the SDK's client rejects with. */
export const readSdkError = (cause: unknown, attempt: Attempt): EdgetableError => {
  if (cause instanceof EdgetableError) return cause;
  const error = (typeof cause === "object" && cause !== null ? cause : { message: String(cause) }) as SdkError;
  const status = error.$metadata?.httpStatusCode ?? error.$response?.statusCode;
  if (error.name === "TimeoutError" && error.$fault === undefined) return timeoutError(error, attempt);
  if (status !== undefined && status !== 200) return answeredError(error, status, attempt);
  if (status === 200)
    return attemptError(attempt, {
      code: "execute.connection",
      message: `the answer is not DynamoDB's JSON: ${error.message ?? ""}`,
      ambiguous: true,
      cause,
    });
  if (error.code !== undefined) return connectionError(error, attempt);
  if (isCredentialsError(error))
    return new EdgetableError("execute.credentials", `${attempt.operation}: ${error.message ?? error.name}`, { cause, request: attempt });
  return new EdgetableError("execute.rejected", `${attempt.operation}: the DynamoDBClient failed: ${error.message ?? error.name}`, {
    cause,
    request: attempt,
    details: { ambiguous: true },
  });
};
