import { comparePrimary, keyBytes, renderTemplate } from "../keys/template.ts";
import type { QueryStep } from "../ir/physical-plan.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { QueryInput } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import { encodeQuery, isEmptyRange, rowOf, type PageRequest } from "./encode-read.ts";
import { keyValue } from "./key-value.ts";
import { after, keyRange } from "./key-range.ts";

import { nameIn, namesOf } from "./placeholders.ts";
import type { Row } from "../util/row.ts";

/** What is left of a sort key's range: both ends included. */
export interface Bounds {
  readonly low?: string | undefined;
  readonly high?: string | undefined;
}

const LONGEST_SORT_KEY = 1024;

/** The least text above another, where there is room for it; else that text itself. */
export const above = (text: string): string => (keyBytes(text) < LONGEST_SORT_KEY ? `${text}\u0000` : text);

const rangeOf = (step: QueryStep, row: Row, values: readonly unknown[]): Bounds => {
  const { sort } = step;
  if (!sort) return {};
  if (sort.kind !== "range") {
    const text = defined(renderTemplate(sort.template, row), "sort key");
    return sort.kind === "equals" ? { low: text, high: text } : { low: text, high: after(text) };
  }
  const range = keyRange(sort, row, values);
  switch (range.kind) {
    case "prefix":
      return { low: range.text, high: after(range.text) };
    case "between":
      return range;
    case "atLeast":
      return { low: range.low };
    case "atMost":
      return { high: range.high };
  }
};

const higher = (a: string | undefined, b: string | undefined): string | undefined =>
  a === undefined || (b !== undefined && comparePrimary(b, a) > 0) ? b : a;
const lower = (a: string | undefined, b: string | undefined): string | undefined =>
  a === undefined || (b !== undefined && comparePrimary(b, a) < 0) ? b : a;

const expression = (name: string, { low, high }: Bounds): string => {
  if (low === undefined) return `${name} <= :t`;
  return high === undefined ? `${name} >= :s` : `${name} BETWEEN :s AND :t`;
};

/** One Query in a partition, from or up to where an earlier page ended. */
export interface LaneRequest extends PageRequest {
  readonly bounds: Bounds;
}

/** The Query of a step in one of its partitions; undefined when nothing can be there. */
export const encodeLane = (catalog: Catalog, step: QueryStep, request: LaneRequest): QueryInput | undefined => {
  const { bounds, binding } = request;
  const input = encodeQuery(catalog, step, request);
  if (isEmptyRange(input)) return undefined;
  if (step.sortKey === undefined || (bounds.low === undefined && bounds.high === undefined)) return input;
  const range = rangeOf(step, rowOf(catalog, step, binding), binding.values);
  const narrow: Bounds = { low: higher(range.low, bounds.low), high: lower(range.high, bounds.high) };
  const { low, high } = narrow;
  if (low !== undefined && high !== undefined && comparePrimary(low, high) > 0) return undefined;
  const type = catalog.layout.types?.[step.sortKey] ?? "S";
  const { ":s": _low, ":t": _high, ...values } = input.ExpressionAttributeValues ?? {};
  const names = { ...input.ExpressionAttributeNames };
  const [partition, sort] = [nameIn(names, step.partitionKey, "#p"), nameIn(names, step.sortKey, "#s")];
  return {
    ...input,
    KeyConditionExpression: `${partition} = :p AND ${expression(sort, narrow)}`,
    ...namesOf(names),
    ExpressionAttributeValues: {
      ...values,
      ...(low === undefined ? {} : { ":s": keyValue(type, low) }),
      ...(high === undefined ? {} : { ":t": keyValue(type, high) }),
    },
  };
};

/** What every sort key of a step begins with, where bounds have to be drawn a little wider than that. */
export const prefixOf = ({ sort }: QueryStep, row: Row, values: readonly unknown[]): string => {
  if (sort?.kind === "prefix") return renderTemplate(sort.template, row) ?? "";
  const range = sort?.kind === "range" ? keyRange(sort, row, values) : undefined;
  return range?.kind === "prefix" ? range.text : "";
};
