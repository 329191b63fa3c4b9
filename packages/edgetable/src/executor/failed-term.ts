import { type EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import type { Failure, Term, WriteItem } from "../ir/write-plan.ts";
import { fitsMatches, isExpired } from "../requests/decode-item.ts";
import { sameAttribute, sameItem } from "../requests/attribute-value.ts";
import type { CancellationReason, Item } from "../transport/operations.ts";
import { own } from "../util/row.ts";

/** True if a request failed because the condition of its single item did not hold. */
export const isFailedCondition = (error: unknown): error is EdgetableError =>
  isEdgetableError(error) && error.details["fault"] === "ConditionalCheckFailedException";

/** Why a transaction was refused: a reason for each of its items; empty for other errors. */
export const cancellationReasons = (error: unknown): readonly CancellationReason[] =>
  ((isEdgetableError(error) && error.details["reasons"]) || []) as readonly CancellationReason[];

/** True if a request was answered: the condition of an item did not hold. */
export const isRefusal = (error: unknown): boolean =>
  isFailedCondition(error) || cancellationReasons(error).some(({ Code }) => Code === "ConditionalCheckFailed");

/** True if a term holds for an item. The caller's conditions (`where`) are not evaluated. */
export const isMet = (term: Term, item: Item | undefined): boolean => {
  const value = item && "attribute" in term ? own(item, term.attribute) : undefined;
  switch (term.kind) {
    case "absent":
      return item === undefined || (term.expired !== undefined && isExpired({ ttl: term.expired.attribute }, item, term.expired.before));
    case "present":
      return item !== undefined && !(term.expired && isExpired({ ttl: term.expired.attribute }, item, term.expired.before));
    case "has":
      return value !== undefined;
    case "equals":
      return sameAttribute(value, term.value) || (term.orAbsent === true && value === undefined);
    case "begins":
      return value === undefined || ("S" in value && value.S.startsWith(term.text));
    case "match":
      return item === undefined || fitsMatches(term.shape, item);
    case "below":
      // DynamoDB does not compare texts with numbers.
      return value ? "N" in value && Number(value.N) < term.limit : term.limit > 0;
    case "atLeast":
      return value !== undefined && "N" in value && Number(value.N) >= term.least;
    case "parent": {
      let inner = value;
      for (const step of term.within)
        inner = (inner && (typeof step === "number" ? "L" in inner && inner.L[step] : "M" in inner && own(inner.M, step))) || undefined;
      return inner !== undefined && term.type in inner;
    }
    case "where":
      return true;
  }
};

/** What the failed condition of a step means, from the item that DynamoDB found, or undefined if there is none. */
export const failureOf = (step: WriteItem, found: Item | undefined): Failure => {
  const failed = step.terms.find((term) => !isMet(term, found)) ?? step.terms.find((term) => term.kind === "where");
  // Every term holds now, so the item changed between the failure and its report. Plan again.
  return failed?.failure ?? { reason: "staleRead" };
};

/** The item that a retry found, after an attempt whose response was lost. */
export type FoundItem = "asWritten" | "different" | "absent";

/** Compares an item with the state that the step would have left. Another call may have written the same state. */
export const foundAs = (step: WriteItem, found: Item | undefined): FoundItem => {
  if (found === undefined) return step.kind === "delete" ? "asWritten" : "absent";
  if (step.kind === "put") return sameItem(found, step.item) ? "asWritten" : "different";
  if (step.kind !== "update") return "different";
  const { set, remove, paths } = step.changes;
  if (paths) return "different";
  for (const name in set) if (!sameAttribute(own(found, name), set[name])) return "different";
  for (const name of remove) if (Object.hasOwn(found, name)) return "different";
  return "asWritten";
};

/** True if a step's outcome does not depend on other calls, so that two calls may both report that they made the same write. */
export const isUncontested = ({ kind, terms }: WriteItem): boolean =>
  (kind === "put" || kind === "update") &&
  terms.every(({ kind: term, failure }) => term === "present" || (failure.reason === "staleRead" && !failure.guessed));

/** True if a step sets values independent of the item's state. It may be planned again after an attempt that may have taken effect. */
export const setsBlindly = ({ kind, terms }: WriteItem): boolean =>
  kind === "update" && terms.every(({ kind: term }) => term === "present" || term === "has");
