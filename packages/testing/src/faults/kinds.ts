import type { Operation, OperationInputs } from "edgetable";

/** One request under way, its operation and input kept together. */
export type Call = { readonly [O in Operation]: { readonly operation: O; readonly input: OperationInputs[O] } }[Operation];

/** What can become of a request; `Before` and `After` say whether a write took effect first. */
export type FaultKind =
  | "throttleTable"
  | "throttleIndex"
  | "throttleRequest"
  | "internalErrorBefore"
  | "internalErrorAfter"
  | "unavailable"
  | "resetBefore"
  | "resetAfter"
  | "timeoutBefore"
  | "timeoutAfter"
  | "unprocessed"
  | "transactionConflict"
  | "transactionThrottled"
  | "transactionInProgressBefore"
  | "transactionInProgressAfter"
  | "writeConflict"
  | "shortPage"
  | "emptyPage";

/** How a read can answer from the past. */
export type LagKind = "lag" | "staleRead";

const singleWrites: ReadonlySet<Operation> = new Set(["PutItem", "UpdateItem", "DeleteItem"]);
const writes: ReadonlySet<Operation> = new Set([...singleWrites, "BatchWriteItem", "TransactWriteItems"]);
const reads: ReadonlySet<Operation> = new Set(["GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems"]);

const isWrite = ({ operation }: Call): boolean => writes.has(operation);
const isData = ({ operation }: Call): boolean => writes.has(operation) || reads.has(operation);
const isTransaction = ({ operation }: Call): boolean => operation === "TransactWriteItems" || operation === "TransactGetItems";
const isBatch = ({ operation }: Call): boolean => operation === "BatchWriteItem" || operation === "BatchGetItem";
const readsIndex = (call: Call): boolean => (call.operation === "Query" || call.operation === "Scan") && call.input.IndexName !== undefined;
const hasToken = (call: Call): boolean => call.operation === "TransactWriteItems" && call.input.ClientRequestToken !== undefined;
const canBeShorter = (call: Call): boolean => (call.operation === "Query" || call.operation === "Scan") && call.input.Limit !== 1;

const applicability: Readonly<Record<FaultKind, (call: Call) => boolean>> = {
  throttleTable: (call) => isData(call) && !readsIndex(call),
  // A starved index pushes back on the writes of its table, too.
  throttleIndex: (call) => isWrite(call) || readsIndex(call),
  throttleRequest: isData,
  internalErrorBefore: isData,
  internalErrorAfter: isWrite,
  unavailable: isData,
  resetBefore: isData,
  resetAfter: isWrite,
  timeoutBefore: isData,
  timeoutAfter: isWrite,
  unprocessed: isBatch,
  transactionConflict: isTransaction,
  transactionThrottled: isTransaction,
  transactionInProgressBefore: hasToken,
  transactionInProgressAfter: hasToken,
  writeConflict: ({ operation }) => singleWrites.has(operation),
  shortPage: canBeShorter,
  emptyPage: ({ operation }) => operation === "Query",
};

const eventualReads: ReadonlySet<Operation> = new Set(["GetItem", "BatchGetItem", "Query"]);

/** Whether a read may answer from the past, and in which way; a consistent read never does. */
export const lagKindOf = (call: Call): LagKind | undefined => {
  if (call.operation === "Query" && call.input.IndexName !== undefined) return "lag";
  if (!eventualReads.has(call.operation)) return undefined;
  return "ConsistentRead" in call.input && call.input.ConsistentRead ? undefined : "staleRead";
};

/** Every kind of fault, in the order in which rates are laid out. */
export const faultKinds: readonly FaultKind[] = Object.keys(applicability) as FaultKind[];

/** Whether a fault can befall a request. */
export const applies = (fault: FaultKind | LagKind, call: Call): boolean =>
  fault === "lag" || fault === "staleRead" ? lagKindOf(call) === fault : applicability[fault](call);
