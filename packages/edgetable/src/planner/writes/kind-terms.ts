import type { Failure, Term, WriteItem } from "../../ir/write-plan.ts";
import { type Catalog, kindMark } from "../../schema/catalog.ts";
import { NOT_FOUND } from "./planning.ts";

const EXISTS: Failure = { reason: "exists" };

// What a check says where nothing is there, it says of another kind of item too.
const failureOf = (item: WriteItem): Failure => {
  if (item.kind === "put") return EXISTS;
  return item.terms.find(({ kind }) => kind === "present")?.failure ?? NOT_FOUND;
};

/**
 * A step on condition that what lies under its key is of its own kind. Only where ids are shared can
 * another kind lie there: elsewhere the step stays as it is.
 */
export const ofItsKind = (catalog: Catalog, item: WriteItem): WriteItem => {
  const mark = item.shape && kindMark(catalog, item.shape);
  if (!mark || item.terms.some(({ kind }) => kind === "absent")) return item;
  const failure = failureOf(item);
  const { attribute } = mark;
  const term: Term =
    mark.kind === "type"
      ? { kind: "equals", attribute, value: { S: mark.value }, orAbsent: true, failure }
      : { kind: "begins", attribute, text: mark.text, failure };
  return { ...item, terms: [...item.terms, term] };
};
