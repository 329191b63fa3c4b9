import { type CancellationReason, type EdgetableError, type ServiceFault, attemptError, serviceError } from "edgetable";
import { pick, seededRandom } from "../random.ts";
import type { Call, FaultKind } from "./kinds.ts";
import type { Injection } from "./options.ts";

const tableThroughput =
  "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API.";
const indexThroughput =
  "The level of configured provisioned throughput for one or more global secondary indexes of the table was exceeded. Consider increasing your provisioning level for the under-provisioned global secondary indexes with the UpdateTable API";
const onDemand =
  "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so please try again shortly.";

const internal: ServiceFault = { name: "InternalServerError", message: "Internal server error", status: 500 };
const inProgress: ServiceFault = {
  name: "TransactionInProgressException",
  message: "The transaction with the given request token is already in progress.",
  status: 400,
};

type Answering = "unprocessed" | "shortPage" | "emptyPage";
type ServiceFaultKind = Exclude<
  FaultKind,
  Answering | `reset${string}` | `timeout${string}` | "transactionConflict" | "transactionThrottled"
>;

const answers: Readonly<Record<ServiceFaultKind, ServiceFault>> = {
  throttleTable: { name: "ProvisionedThroughputExceededException", message: tableThroughput, status: 400 },
  throttleIndex: { name: "ProvisionedThroughputExceededException", message: indexThroughput, status: 400 },
  throttleRequest: { name: "ThrottlingException", message: onDemand, status: 400 },
  internalErrorBefore: internal,
  internalErrorAfter: internal,
  unavailable: { name: "ServiceUnavailable", message: "Service is temporarily unavailable.", status: 503 },
  transactionInProgressBefore: inProgress,
  transactionInProgressAfter: inProgress,
  writeConflict: { name: "TransactionConflictException", message: "Transaction is ongoing for the item", status: 400 },
};

const conflict: CancellationReason = { Code: "TransactionConflict", Message: "Transaction is ongoing for the item" };
const throttled: CancellationReason = { Code: "ThrottlingError", Message: onDemand };

/** Some of a transaction's items are to blame, at least one. */
const cancellation = (call: Call, injection: Injection): ServiceFault => {
  const count = "TransactItems" in call.input ? call.input.TransactItems.length : 0;
  const random = seededRandom(injection.draw);
  const positions = Array.from({ length: count }, (_, position) => position);
  const blamed = new Set(pick(random, positions, random()));
  const reason = injection.fault === "transactionConflict" ? conflict : throttled;
  const reasons = positions.map((position): CancellationReason => (blamed.has(position) ? reason : { Code: "None" }));
  const codes = reasons.map(({ Code }) => Code).join(", ");
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  return { name: "TransactionCanceledException", message, status: 400, reasons };
};

/** The error that a real transport would reject with, or `undefined` for a fault that answers. */
export const faultError = (call: Call, injection: Injection & { readonly fault: FaultKind }): EdgetableError | undefined => {
  const { fault } = injection;
  switch (fault) {
    case "unprocessed":
    case "shortPage":
    case "emptyPage":
      return undefined;
    // Neither side of the wire knows what became of the request.
    case "resetBefore":
    case "resetAfter":
      return attemptError(call, { code: "execute.connection", message: "the connection was reset", ambiguous: true });
    case "timeoutBefore":
    case "timeoutAfter":
      return attemptError(call, { code: "execute.timeout", message: "no answer in time", ambiguous: true });
    case "transactionConflict":
    case "transactionThrottled":
      return serviceError(cancellation(call, injection), call);
    default:
      return serviceError(answers[fault], call);
  }
};
