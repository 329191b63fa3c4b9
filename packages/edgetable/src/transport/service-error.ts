import type { ErrorCode } from "../errors/codes.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { withMend } from "./mends.ts";
import { isItem } from "./check-answer.ts";
import type { CancellationReason } from "./operations.ts";
import { own } from "../util/row.ts";

/** What a service answered in place of an output. */
export interface ServiceFault {
  /** The exception's short name, such as `ConditionalCheckFailedException`. */
  readonly name: string;
  readonly message: string;
  /** HTTP status. */
  readonly status: number;
  /** The item that a failed condition looked at, where it was asked for, as it came. */
  readonly item?: unknown;
  /** Why a transaction was cancelled, as it came. */
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

// A cancelled transaction is worth another try when every reason is one of these or none at all.
const passingReasons: ReadonlySet<string> = new Set(["None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"]);

const meaningOfCancellation = (reasons: readonly CancellationReason[]): Meaning => {
  const codes = reasons.map((reason) => reason.Code ?? "None");
  const retryable = codes.every((code) => passingReasons.has(code)) && codes.some((code) => code !== "None");
  if (!retryable) return { code: "execute.rejected", retryable: false };
  const throttled = codes.some((code) => code === "ThrottlingError" || code === "ProvisionedThroughputExceeded");
  return { code: throttled ? "execute.throttled" : "execute.conflict", retryable: true };
};

// What is not of DynamoDB's form is left out, one by one: the place of a reason names the item that it is of.
const readReason = (reason: unknown): CancellationReason => {
  const { Code, Message, Item } = (typeof reason === "object" && reason !== null ? reason : {}) as Readonly<Record<string, unknown>>;
  const read = { ...(typeof Code === "string" && { Code }), ...(typeof Message === "string" && { Message }) };
  // As items of details are: whoever asks reads it, loggers pass it over.
  return isItem(Item) ? Object.defineProperty(read, "Item", { value: Item, enumerable: false }) : read;
};

const meaningOf = (fault: ServiceFault, reasons: readonly CancellationReason[] | undefined): Meaning => {
  if (fault.name === "TransactionCanceledException") return meaningOfCancellation(reasons ?? []);
  const known = own(meanings, fault.name);
  if (known) return known;
  return fault.status >= 500 ? { code: "execute.unavailable", retryable: true } : { code: "execute.rejected", retryable: false };
};

// DynamoDB does not say which table; it stands in several places, by operation.
const tableOf = (input: unknown): string | undefined => /"(?:TableName|RequestItems)":\{?"([^"]+)/.exec(JSON.stringify(input))?.[1];

// Of an index that was deleted, or is not filled yet.
const missingIndex = /specified index|backfilling/;

/**
 * Turns what the service answered into the one error class. `details.fault` keeps the exception's
 * name, `details.item` and `details.reasons` what a failed condition or transaction reported, and
 * `details.ambiguous` is true when the request may have taken effect all the same (any 5xx, and a
 * transaction still under way).
 */
export const serviceError = (fault: ServiceFault, request: { readonly operation: string; readonly input: unknown }): EdgetableError => {
  const reasons = Array.isArray(fault.reasons) ? fault.reasons.map(readReason) : undefined;
  const { code, retryable } = meaningOf(fault, reasons);
  const details = {
    fault: fault.name,
    status: fault.status,
    item: isItem(fault.item) ? fault.item : undefined,
    reasons,
    ambiguous: fault.status >= 500 || fault.name === "TransactionInProgressException",
  };
  const table = code === "execute.tableNotFound" ? `, table "${tableOf(request.input)}"` : "";
  const index = missingIndex.test(fault.message) ? ". `db.table.diff()` or `edgetable table diff` compares the table with the model." : "";
  const message = withMend(code, `${request.operation}: ${fault.name}: ${fault.message}${table}${index}`);
  return new EdgetableError(code, message, { details, retryable, request });
};
