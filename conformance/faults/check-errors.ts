import { isEdgetableError, type ErrorCode } from "edgetable";
import type { CallRecord } from "./record.ts";

/** Codes by whether making the call again may help. */
export type Expected = Readonly<Partial<Record<ErrorCode, boolean>>>;

/** What a call under these faults may reject with, and whether making it again may help. */
const retryable: Expected = {
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

const errorComplaint = ({ error, text }: Pick<CallRecord, "error" | "text">, more: Expected): readonly string[] => {
  if (error === undefined) return [];
  if (!isEdgetableError(error)) return [`${text} threw what is no EdgetableError: ${String(error)}`];
  const expected = retryable[error.code] ?? more[error.code];
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

/** Every error is typed, one of these or of `more`, and says rightly whether to try again. */
export const checkThrown = (errors: readonly Pick<CallRecord, "error" | "text">[], more: Expected): readonly string[] =>
  errors.flatMap((one) => errorComplaint(one, more));

/** Every rejection is typed, every outcome has a known reason. */
export const checkErrors = (calls: readonly CallRecord[]): readonly string[] => [
  ...checkThrown(calls, {}),
  ...calls.flatMap(endingComplaints),
];
