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

/** What is checked of a call that may have thrown. */
export interface Thrown extends Pick<CallRecord, "error" | "text"> {
  /** Undefined for a job, which goes on when it is called again, or ends as if it were called twice. */
  readonly writes?: CallRecord["writes"];
}

const reasons: ReadonlySet<string> = new Set([
  "exists",
  "notFound",
  "conditionFailed",
  "versionConflict",
  "notUnique",
  "immutable",
  "endMissing",
  "degreeExceeded",
  "hasEdges",
  "beingDeleted",
  "rolledBack",
]);

const EFFECT = "The write may have taken effect.";

// A second call, with a token of its own, ends as the first would have only if it sets values without a condition.
const isRepeatable = (writes: CallRecord["writes"]): boolean => writes.every(({ effect: { kind } }) => kind === "put" || kind === "update");

const errorComplaint = (call: Thrown, more: Expected): readonly string[] => {
  const { error, text, writes } = call;
  if (error === undefined) return [];
  if (!isEdgetableError(error)) return [`${text} threw what is no EdgetableError: ${String(error)}`];
  const isUnclear = error.message.endsWith(EFFECT);
  const mayRepeat = !isUnclear || (writes ? isRepeatable(writes) : error.retryable);
  const expected = retryable[error.code] === true ? mayRepeat : (retryable[error.code] ?? more[error.code]);
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
export const checkThrown = (errors: readonly Thrown[], more: Expected): readonly string[] =>
  errors.flatMap((one) => errorComplaint(one, more));

/** Every rejection is typed, every outcome has a known reason. */
export const checkErrors = (calls: readonly CallRecord[]): readonly string[] => [
  ...checkThrown(calls, {}),
  ...calls.flatMap(endingComplaints),
];
