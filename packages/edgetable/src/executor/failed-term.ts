import type { Failure, Term, WriteItem } from "../ir/write-plan.ts";
import { sameAttribute, sameItem } from "../requests/same-attribute.ts";
import type { Item } from "../transport/operations.ts";

const holds = (term: Term, item: Item | undefined): boolean => {
  switch (term.kind) {
    case "absent":
      return item === undefined;
    case "present":
      return item !== undefined;
    case "equals":
      return sameAttribute(item?.[term.attribute], term.value) || (term.orAbsent === true && item?.[term.attribute] === undefined);
    case "below": {
      const count = item?.[term.attribute];
      return count && "N" in count ? Number(count.N) < term.limit : term.limit > 0;
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

/**
 * Whether an item is as the step would have left it: after an attempt whose answer was lost, the
 * failed condition of the next one then means that the first took effect.
 */
export const isAsWritten = (step: WriteItem, found: Item | undefined): boolean => {
  switch (step.kind) {
    case "put":
      return found !== undefined && sameItem(found, step.item);
    case "update": {
      const { set, remove } = step.changes;
      return (
        found !== undefined &&
        Object.entries(set).every(([name, value]) => sameAttribute(found[name], value)) &&
        remove.every((name) => !(name in found))
      );
    }
    case "delete":
      return found === undefined;
    case "check":
      return false;
  }
};
