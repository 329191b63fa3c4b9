import { isEdgetableError, type ErrorCode } from "edgetable";
import type { CallRecord } from "./record.ts";

/** What a call under these faults may reject with, and whether making it again may help. */
const retryable: Readonly<Partial<Record<ErrorCode, boolean>>> = {
  "execute.throttled": true,
  "execute.unavailable": true,
  "execute.connection": true,
  "execute.timeout": true,
  "execute.conflict": true,
  "execute.transactionInProgress": true,
  "execute.unprocessed": true,
  // The item is in neither state: a second try might do it twice.
  "execute.ambiguous": false,
  // Two calls of a transaction that need the same item.
  "plan.unsupported": false,
};

const reasons: ReadonlySet<string> = new Set([
  "exists",
  "notFound",
  "conditionFailed",
  "versionConflict",
  "notUnique",
  "endMissing",
  "degreeExceeded",
  "hasEdges",
  "beingDeleted",
  "rolledBack",
]);

const errorComplaint = ({ error, text }: CallRecord): readonly string[] => {
  if (error === undefined) return [];
  if (!isEdgetableError(error)) return [`${text} threw what is no EdgetableError: ${String(error)}`];
  const expected = retryable[error.code];
  if (expected === undefined || (error.code === "plan.unsupported" && !text.includes('"transact"')))
    return [`${text} threw ${error.code}, which no fault means: ${error.message}`];
  return error.retryable === expected ? [] : [`${text} threw ${error.code} with retryable ${String(error.retryable)}`];
};

const endingComplaints = ({ writes, text, error }: CallRecord): readonly string[] =>
  error === undefined
    ? writes.flatMap(({ ending }) =>
        ending === "ok" || reasons.has(ending) ? [] : [`${text} ended as ${JSON.stringify(ending)}, which is no reason`],
      )
    : [];

/** Every rejection is typed, every outcome has a known reason. */
export const checkErrors = (calls: readonly CallRecord[]): readonly string[] =>
  calls.flatMap((call) => [...errorComplaint(call), ...endingComplaints(call)]);
