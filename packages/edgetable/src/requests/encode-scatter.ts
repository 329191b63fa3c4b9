import type { QueryStep } from "../ir/physical-plan.ts";
import { comparePrimary, keyBytes, type Partition, renderPartitions, renderTemplate, type Template } from "../keys/template.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { AttributeValue, Key, QueryInput } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";
import { keyValue } from "./attribute-value.ts";
import { type Binding, encodeQuery, isEmptyRange, NOW, type PageRequest, rowOf } from "./encode-read.ts";
import { after, keyRange } from "./key-range.ts";
import { nameIn, namesOf } from "./placeholders.ts";

const literal = (text: string, like: Template): Template => ({
  ...like,
  source: text,
  parts: [{ kind: "literal", text }],
  fields: [],
  optional: [],
});

const without = (row: Row, path: string): Row => {
  const [field = "", ...rest] = path.split(".");
  const value = row[field];
  if (rest.length === 0 || typeof value !== "object" || value === null) return { ...row, [field]: undefined };
  return { ...row, [field]: without(value as Row, rest.join(".")) };
};

/**
 * The partitions of a step, in their order: one, unless its items are spread over shards. What the plan does
 * not know says nothing: the anchor of an edge stands at both its ends.
 */
export const partitionsOf = (catalog: Catalog, step: QueryStep, binding: Binding): readonly Partition[] => {
  const row = rowOf(catalog, step, binding);
  const known = (step.scatter?.unknown ?? []).reduce((left, path) => without(left, path), row);
  return defined(renderPartitions(step.partition, known), "partition key");
};

/** The step in one of its partitions alone. */
export const inPartition = (step: QueryStep, partition: string): QueryStep => ({ ...step, partition: literal(partition, step.partition) });

/** How many rows each of several partitions is asked for: its share and two deviations more, so that most pages need one round. */
export const shareOf = (rows: number, partitions: number): number => {
  const mean = rows / partitions;
  return partitions === 1 ? rows : Math.ceil(mean + 2 * Math.sqrt(mean)) + 1;
};

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

export interface HopPage {
  /** One of the node's partitions, where its edges are spread over shards. */
  readonly partition: string | undefined;
  readonly limit: number | undefined;
  readonly start: Key | undefined;
  readonly livingAt: number | undefined;
}

/** The Queries of the edges of one node after another. */
export interface HopQuery {
  /** Undefined where nothing can lie in the range. */
  readonly encode: (id: Row, page: HopPage) => QueryInput | undefined;
  /** The partitions over which a node's edges are spread; undefined where they lie in one. */
  readonly partitions: ((id: Row) => readonly string[]) | undefined;
}

const isConstant = (catalog: Catalog, step: QueryStep, near: "from" | "to"): boolean => {
  if (step.shapes.some((id) => catalog.shapesById[id]?.alias)) return false;
  const fields = step.sort?.kind === "range" ? [...step.sort.template.fields, step.sort.path] : (step.sort?.template.fields ?? []);
  return !fields.some((field) => field.startsWith(`${near}.`)) && !step.known.some(({ path }) => path.startsWith(`${near}.`));
};

/**
 * A hop asks the same of every node: the Query is encoded once, and only the partition's value changes.
 *
 * @param near the end of the edges at which the nodes stand
 */
export const hopQuery = (
  catalog: Catalog,
  step: QueryStep,
  { near, values }: { readonly near: "from" | "to"; readonly values: readonly unknown[] },
): HopQuery => {
  const bind = (id: Row): Binding => ({ row: { from: id, to: id }, values });
  const whole = (id: Row, { partition, ...page }: HopPage): QueryInput | undefined => {
    const one = partition === undefined ? step : inPartition(step, partition);
    const input = encodeQuery(catalog, one, { ...page, binding: bind(id), backward: false });
    return isEmptyRange(input) ? undefined : input;
  };
  if (step.scatter) return { encode: whole, partitions: (id) => partitionsOf(catalog, step, bind(id)).map(({ text }) => text) };
  if (!isConstant(catalog, step, near)) return { encode: whole, partitions: undefined };
  let first: { readonly input: QueryInput | undefined; readonly hides: boolean } | undefined;
  const encode = (id: Row, page: HopPage): QueryInput | undefined => {
    const { livingAt } = page;
    const hides = livingAt !== undefined;
    if (first?.hides !== hides) first = { input: whole(id, { partition: undefined, limit: undefined, start: undefined, livingAt }), hides };
    const { input } = first;
    if (!input) return undefined;
    const partition = keyValue(step.partition.type, defined(renderTemplate(step.partition, { [near]: id }), "partition key"));
    const ExpressionAttributeValues: Record<string, AttributeValue> = { ...input.ExpressionAttributeValues, ":p": partition };
    if (hides && NOW in ExpressionAttributeValues) ExpressionAttributeValues[NOW] = { N: String(livingAt) };
    const { limit, start } = page;
    const asked = limit === undefined ? { ...input, ExpressionAttributeValues } : { Limit: limit, ...input, ExpressionAttributeValues };
    return start === undefined ? asked : { ExclusiveStartKey: start, ...asked };
  };
  return { encode, partitions: undefined };
};
