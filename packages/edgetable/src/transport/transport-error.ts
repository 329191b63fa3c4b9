import type { ErrorCode } from "../errors/codes.ts";
import { addSentence, EdgetableError } from "../errors/edgetable-error.ts";
import { own } from "../util/row.ts";
import type { CancellationReason } from "./operations.ts";
import { isItem, isLoopback } from "./transport.ts";

// What a caller can do about errors whose message comes from the service or from Node.
const remedies: Readonly<Partial<Record<ErrorCode, string>>> = {
  "execute.connection": "Check endpoint, region and network; `edgetable dev` starts an engine on this machine.",
  "execute.expiredCredentials":
    "Get new credentials, such as with `aws sso login`, and connect again; a function given as `credentials` is called again.",
  "execute.credentials": "Check the access key, its secret and the session token, and the clock of this machine.",
  "execute.accessDenied": "Allow this operation on the table and its indexes in the policy of these credentials, or use others.",
  "execute.streamNotFound": "The stream or its table was removed: list the table's streams again; check endpoint, region and account.",
  "plan.indexIncomplete":
    "An index is read once a migration to this model has completed it: `db.migrations.run()` or `edgetable migrate run`.",
  "execute.tableNotFound": "`db.table.create()` or `edgetable table create` creates it; check endpoint, region and account.",
};

/** Adds what to do about an error if that follows from its code. */
const withRemedy = (code: ErrorCode, message: string): string => {
  const remedy = remedies[code];
  return remedy === undefined ? message : addSentence(message, remedy);
};

/** One attempt, as its errors name it. */
export interface Attempt {
  readonly operation: string;
  readonly input: unknown;
}

/** Why an attempt got no answer. */
export interface AttemptFailure {
  readonly code: Extract<ErrorCode, "execute.connection" | "execute.timeout" | "execute.aborted">;
  readonly message: string;
  /** Whether bytes of the request may have reached the service. */
  readonly ambiguous: boolean;
  readonly cause?: unknown;
}

// OpenSSL's messages for an answer that is not TLS.
const notTls = /wrong version number|packet length too long/;

/** Node's error of a failed socket. For a name with several addresses, `errors` has one error for each. */
interface SocketError {
  readonly code?: unknown;
  readonly address?: unknown;
  readonly port?: unknown;
  readonly errors?: readonly SocketError[];
}

/** The local address that refused the connection. Retrying cannot help: the engine has not been started. */
const refusedLocally = (cause: unknown): string | undefined => {
  const { code, address, port, errors } = (cause ?? {}) as SocketError;
  if (code !== "ECONNREFUSED") return undefined;
  if (errors?.length) return errors.every((error) => refusedLocally(error) !== undefined) ? refusedLocally(errors.at(-1)) : undefined;
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
  const message = notTls.test(failure.message) ? "the endpoint does not speak https: use http://" : failure.message;
  const refused = refusedLocally(failure.cause);
  const text =
    refused === undefined
      ? withRemedy(failure.code, `${attempt.operation}: ${message}`)
      : `${attempt.operation}: nothing listens at ${refused}. Start an engine there with \`edgetable dev\`, or correct the endpoint (the option, AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL, endpoint_url of the profile).`;
  return new EdgetableError(failure.code, text, {
    details: { ambiguous: failure.ambiguous },
    cause: failure.cause,
    retryable: failure.code !== "execute.aborted" && refused === undefined,
    request: { operation: attempt.operation, input: attempt.input },
  });
};

/** An error as the service reports it. */
export interface ServiceFault {
  /** The exception's short name, such as `ConditionalCheckFailedException`. */
  readonly name: string;
  readonly message: string;
  /** HTTP status. */
  readonly status: number;
  /** The item that failed a condition, if the request asked for it; unchecked. */
  readonly item?: unknown;
  /** Why a transaction was cancelled; unchecked. */
  readonly reasons?: unknown;
}

interface Meaning {
  readonly code: ErrorCode;
  readonly retryable: boolean;
}

// Names and their retryability: "Error handling with DynamoDB", Programming.Errors.html.
const meanings: Readonly<Record<string, Meaning>> = {
  ProvisionedThroughputExceededException: { code: "execute.throttled", retryable: true },
  ThrottlingException: { code: "execute.throttled", retryable: true },
  RequestLimitExceeded: { code: "execute.throttled", retryable: true },
  LimitExceededException: { code: "execute.throttled", retryable: true },
  TransactionConflictException: { code: "execute.conflict", retryable: true },
  TransactionInProgressException: { code: "execute.transactionInProgress", retryable: true },
  InternalServerError: { code: "execute.unavailable", retryable: true },
  InternalFailure: { code: "execute.unavailable", retryable: true },
  ServiceUnavailable: { code: "execute.unavailable", retryable: true },
  ExpiredTokenException: { code: "execute.expiredCredentials", retryable: false },
  RequestExpired: { code: "execute.expiredCredentials", retryable: false },
  UnrecognizedClientException: { code: "execute.credentials", retryable: false },
  InvalidSignatureException: { code: "execute.credentials", retryable: false },
  IncompleteSignatureException: { code: "execute.credentials", retryable: false },
  MissingAuthenticationTokenException: { code: "execute.credentials", retryable: false },
  AccessDeniedException: { code: "execute.accessDenied", retryable: false },
  ResourceNotFoundException: { code: "execute.tableNotFound", retryable: false },
};

// A cancelled transaction is retryable if all of its reasons are among these.
const passingReasons: ReadonlySet<string> = new Set(["None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"]);

// ListStreams, DescribeStream, GetShardIterator and GetRecords; no other operation has such a name.
const STREAM_OPERATION = /Stream|Shard|Records/;

const meaningOf = (fault: ServiceFault, reasons: readonly CancellationReason[], operation: string): Meaning => {
  if (fault.name === "TransactionCanceledException") {
    const codes = reasons.map((reason) => reason.Code ?? "None");
    const retryable = codes.every((code) => passingReasons.has(code)) && codes.some((code) => code !== "None");
    if (!retryable) return { code: "execute.rejected", retryable: false };
    const throttled = codes.includes("ThrottlingError") || codes.includes("ProvisionedThroughputExceeded");
    return { code: throttled ? "execute.throttled" : "execute.conflict", retryable: true };
  }
  const known = own(meanings, fault.name);
  if (known?.code === "execute.tableNotFound" && STREAM_OPERATION.test(operation))
    return { code: "execute.streamNotFound", retryable: false };
  if (known) return known;
  return fault.status >= 500 ? { code: "execute.unavailable", retryable: true } : { code: "execute.rejected", retryable: false };
};

// Leaves out malformed members but no reason: a reason's position names its item.
const readReason = (reason: unknown): CancellationReason => {
  const { Code, Message, Item } = (typeof reason === "object" && reason !== null ? reason : {}) as Readonly<Record<string, unknown>>;
  const read = { ...(typeof Code === "string" && { Code }), ...(typeof Message === "string" && { Message }) };
  // Not enumerable, like items in an error's details: loggers must not print it.
  return isItem(Item) ? Object.defineProperty(read, "Item", { value: Item, enumerable: false }) : read;
};

// The index is not there yet, was deleted, or is being built.
const INDEX_FAULT = /specified index|backfilling/;
// The table has other key attributes than the request names, or keys of another type.
const KEY_FAULT = /key (schema )?element|(ing the|for) key /;

/**
 * The error that a transport rejects with when the service answered with an error. `details.fault` is the exception's name,
 * `details.item` and `details.reasons` are what a failed condition or transaction reported. `details.ambiguous` is true if
 * the request may have taken effect: on any 5xx, and while a transaction is in progress.
 */
export const serviceError = (fault: ServiceFault, request: { readonly operation: string; readonly input: unknown }): EdgetableError => {
  const reasons = Array.isArray(fault.reasons) ? fault.reasons.map(readReason) : undefined;
  const needsIndex = fault.name === "ValidationException" && INDEX_FAULT.test(fault.message);
  const { code, retryable } = needsIndex
    ? { code: "plan.indexIncomplete" as const, retryable: false }
    : meaningOf(fault, reasons ?? [], request.operation);
  const details = {
    fault: fault.name,
    status: fault.status,
    item: isItem(fault.item) ? fault.item : undefined,
    reasons,
    ambiguous: fault.status >= 500 || fault.name === "TransactionInProgressException",
  };
  let hint = "";
  if (code === "execute.tableNotFound") {
    // The service does not name the table. Its place in the input depends on the operation.
    hint = `, table "${/"(?:TableName|RequestItems)":\{?"([^"]+)/.exec(JSON.stringify(request.input))?.[1]}"`;
  }
  // A cancelled transaction says of an item what another request says of itself.
  const said = [fault.message, ...(reasons ?? []).map(({ Message }) => Message)].join();
  if (KEY_FAULT.test(said)) hint = ". Compare the table with the model: `edgetable table diff`.";
  // Only the service knows the size that an update leads to. An expression has a maximum size, too.
  if (/Item size/.test(said)) hint = ". The item would exceed 400 KB: split it into parts, or keep the large value elsewhere.";
  // Within ten minutes.
  if (fault.name.startsWith("Idempotent"))
    hint =
      ". A transaction with this token wrote something else. Give each transaction its own token; a repetition must have the same values, times too.";
  const message = withRemedy(code, `${request.operation}: ${fault.name}: ${fault.message}${hint}`);
  return new EdgetableError(code, message, { details, retryable, request });
};
