import type { Failure, Term, WriteItem } from "../ir/write-plan.ts";
import { isExpired } from "../requests/encode-read.ts";
import { sameAttribute, sameItem } from "../requests/attribute-value.ts";
import type { Item } from "../transport/operations.ts";

const holds = (term: Term, item: Item | undefined): boolean => {
  switch (term.kind) {
    case "absent":
      return item === undefined || (term.expired !== undefined && isExpired({ ttl: term.expired.attribute }, item, term.expired.before));
    case "present":
      return item !== undefined;
    case "has":
      return item?.[term.attribute] !== undefined;
    case "equals":
      return sameAttribute(item?.[term.attribute], term.value) || (term.orAbsent === true && item?.[term.attribute] === undefined);
    case "begins": {
      const value = item?.[term.attribute];
      return value === undefined || ("S" in value && value.S.startsWith(term.text));
    }
    case "below": {
      const count = item?.[term.attribute];
      return count && "N" in count ? Number(count.N) < term.limit : term.limit > 0;
    }
    case "atLeast": {
      const count = item?.[term.attribute];
      return count !== undefined && "N" in count && Number(count.N) >= term.least;
    }
    case "where":
      return true;
  }
};

/** What the failed condition of a step means, told from the item that DynamoDB found; undefined is none. */
export const failureOf = (step: WriteItem, found: Item | undefined): Failure => {
  const failed = step.terms.find((term) => !holds(term, found)) ?? step.terms.find((term) => term.kind === "where");
  // Every term holds by now: the item changed between the failure and its report. Plan again.
  return failed?.failure ?? { reason: "staleRead" };
};

/** What a retry found in place of an item, after an attempt whose answer was lost. */
export type FoundItem = "asWritten" | "different" | "absent";

/** Whether the item is as the step would have left it, by this call or by another one. */
export const foundAs = (step: WriteItem, found: Item | undefined): FoundItem => {
  if (found === undefined) return step.kind === "delete" ? "asWritten" : "absent";
  if (step.kind === "put") return sameItem(found, step.item) ? "asWritten" : "different";
  if (step.kind !== "update") return "different";
  const { set, remove } = step.changes;
  const isSet = Object.entries(set).every(([name, value]) => sameAttribute(found[name], value));
  return isSet && remove.every((name) => !(name in found)) ? "asWritten" : "different";
};

/**
 * Whether nobody can lose against a step: its outcome depends on nothing that another call decides, so that two calls
 * may both be told that they made the same write.
 */
export const isUncontested = ({ kind, terms }: WriteItem): boolean =>
  (kind === "put" || kind === "update") && terms.every(({ kind: term, failure }) => term === "present" || failure.reason === "staleRead");

/** Whether a step may be planned again after an attempt that may have taken effect: it sets values, whatever the item holds. */
export const isRepeatable = ({ kind, terms }: WriteItem): boolean =>
  kind === "update" && terms.every(({ kind: term }) => term === "present" || term === "has");
