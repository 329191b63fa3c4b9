import { parseTemplate, renderTemplate } from "../../packages/edgetable/src/keys/template.ts";
import type { NaiveEnd, Row } from "../naive/graph.ts";
import type { Value } from "./values.ts";

/** How a graph names the nodes that the naive graph knows by a short text. */
export interface Names {
  /** A node's id as answers have it. */
  readonly row: (end: NaiveEnd) => Row;
  /** The same id as a call gives it: in any of its spellings. */
  readonly given: (end: NaiveEnd) => Row;
}

/** Formats of an id field that takes values of every type. */
export const ANY_VALUE = "date|number|boolean|text";

const template = parseTemplate(`{v:${ANY_VALUE}}`, { delimiter: "#", escapes: true });
const keyOf = ([v]: readonly Value[]): Buffer => Buffer.from(renderTemplate(template, { v }) ?? "");

/** Values in the order of their keys: so a position says what comes first. */
export const inKeyOrder = (classes: readonly (readonly Value[])[]): readonly (readonly Value[])[] =>
  classes.toSorted((a, b) => Buffer.compare(keyOf(a), keyOf(b)));

/** Names of two fields, a realm and a value; the naive graph knows the node by the value's position. */
export const realmNames = (realm: string, pool: readonly (readonly Value[])[]): Names => {
  let turn = 0;
  const spellings = ({ id }: NaiveEnd): readonly Value[] => pool[Number(id)] ?? [];
  return {
    row: (end) => ({ realm, [`${end.type}Id`]: spellings(end)[0] }),
    given: (end) => ({ realm, [`${end.type}Id`]: spellings(end)[turn++ % spellings(end).length] }),
  };
};
