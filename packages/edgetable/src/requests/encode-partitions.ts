import { createHash } from "node:crypto";
import type { QueryStep } from "../ir/physical-plan.ts";
import { type Partition, renderPartitions } from "../keys/partitions.ts";
import { comparePrimary, keyBytes, renderTemplate } from "../keys/template.ts";
import type { Catalog } from "../schema/catalog.ts";
import { keyType } from "../schema/layout.ts";
import type { AttributeValue, QueryInput } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";
import { keyValue } from "./attribute-value.ts";
import { filters } from "./filters.ts";
import { bindQuery, type Binding, type BoundQuery, NOW, pageInput, type QueryPage, rowOf } from "./encode-read.ts";
import { after, type KeyRange, nameIn, namesOf } from "./expression.ts";

const without = (row: Row, path: string): Row => {
  const [field = "", ...rest] = path.split(".");
  const value = row[field];
  if (rest.length === 0 || typeof value !== "object" || value === null) return { ...row, [field]: undefined };
  return { ...row, [field]: without(value as Row, rest.join(".")) };
};

/** The partitions of a step, in their order: one, unless its items are spread over shards. */
export const partitionsOf = (catalog: Catalog, step: QueryStep, binding: Binding): readonly Partition[] => {
  let row = rowOf(catalog, step, binding);
  // The row has the anchor at both ends, including the end that the plan does not know.
  for (const path of step.scatter?.unknown ?? []) row = without(row, path);
  const partitions = defined(renderPartitions(step.partition, row), "partition key");
  const only = step.scatter?.only;
  return only ? partitions.filter(({ shard }) => only.includes(shard)) : partitions;
};

/** Number of rows to request from each of several partitions: its share plus two standard deviations, so that most pages need one round. */
export const shareOf = (rows: number, partitions: number): number => {
  const mean = rows / partitions;
  return partitions === 1 ? rows : Math.ceil(mean + 2 * Math.sqrt(mean)) + 1;
};

// "Sort key length 1 to 1024 bytes", ServiceQuotas.
const SORT_KEY_BYTES = 1024;

/** The least text greater than another one, if a key has room for it; else the text itself. */
const above = (text: string): string => (keyBytes(text) < SORT_KEY_BYTES ? `${text}\u0000` : text);

/** A text less than the given one and greater than all other lesser texts that fit into a key. The given text is not empty. */
const below = (text: string): string => {
  const isPair = (text.codePointAt(text.length - 2) ?? 0) > 0xffff;
  const at = text.length - (isPair ? 2 : 1);
  const before = text.slice(0, at);
  const code = (text.codePointAt(at) ?? 0) - 1;
  if (code < 0) return before;
  const lower = before + String.fromCodePoint(code >= 0xd800 && code <= 0xdfff ? 0xd7ff : code);
  return lower + "\u{10FFFF}".repeat(Math.max(0, Math.floor((SORT_KEY_BYTES - keyBytes(lower)) / 4)));
};

/** Bounds of a sort key, inclusive unless they are open. */
export interface Bounds {
  readonly low?: string | undefined;
  readonly high?: string | undefined;
  /** True if the bound itself is not in the range. */
  readonly isOpen?: boolean;
  /** The text next to an open bound that is in the range, for key conditions that only accept inclusive bounds. */
  readonly beside?: string | undefined;
}

const boundsOf = (range: KeyRange | undefined): Bounds => {
  switch (range?.kind) {
    case undefined:
      return {};
    case "equals":
      return { low: range.text, high: range.text };
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

/** The part of a range within other bounds; undefined if it is empty. It has an open bound only if it has no other bound. */
const tighterBounds = (range: Bounds, bounds: Bounds): Bounds | undefined => {
  let { low, high } = range;
  if (low === undefined || (bounds.low !== undefined && comparePrimary(bounds.low, low) > 0)) low = bounds.low;
  if (high === undefined || (bounds.high !== undefined && comparePrimary(bounds.high, high) < 0)) high = bounds.high;
  if (low === undefined || high === undefined)
    return { low, high, isOpen: bounds.isOpen === true && low === bounds.low && high === bounds.high };
  if (bounds.isOpen && low === bounds.low) low = bounds.beside ?? low;
  if (bounds.isOpen && high === bounds.high) high = bounds.beside ?? high;
  return comparePrimary(low, high) > 0 ? undefined : { low, high };
};

/** The comparison of a sort key with bounds, whose values are `:s` and `:t`. */
const comparisonIn = (name: string, { low, high, isOpen }: Bounds): string => {
  if (low === undefined) return `${name} ${isOpen ? "<" : "<="} :t`;
  return high === undefined ? `${name} ${isOpen ? ">" : ">="} :s` : `${name} BETWEEN :s AND :t`;
};

/** The sort keys after all those equal to the given one, in either direction. */
export const boundsBehind = (catalog: Catalog, { sortKey = "" }: QueryStep, sort: string, descending: boolean): Bounds => {
  const isText = keyType(catalog.layout, sortKey) === "S";
  if (descending) return { high: sort, isOpen: true, beside: isText ? below(sort) : undefined };
  return isText ? { low: above(sort) } : { low: sort, isOpen: true };
};

/**
 * The key condition of a Query within further bounds, if an earlier page ended in another partition. Without bounds, the condition
 * of the Query.
 *
 * @returns undefined if the range is empty
 */
export const narrowedTo = (
  catalog: Catalog,
  { sortKey }: QueryStep,
  { input, range, isPartition }: BoundQuery,
  bounds: Bounds,
): Partial<QueryInput> | undefined => {
  if (bounds.low === undefined && bounds.high === undefined) return {};
  const tighter = tighterBounds(boundsOf(range), bounds);
  if (!tighter) return undefined;
  const { low, high } = tighter;
  const names = { ...input.ExpressionAttributeNames };
  const name = nameIn(names, defined(sortKey, "sort key"), "#s");
  const type = keyType(catalog.layout, sortKey ?? "");
  const { ":s": _low, ":t": _high, ...rest } = input.ExpressionAttributeValues ?? {};
  return {
    KeyConditionExpression: `${isPartition} AND ${comparisonIn(name, tighter)}`,
    ...namesOf(names),
    ExpressionAttributeValues: {
      ...rest,
      ...(low === undefined ? {} : { ":s": keyValue(type, low) }),
      ...(high === undefined ? {} : { ":t": keyValue(type, high) }),
    },
  };
};

/** The length of a SHA-256 in base64. */
const HASH_LENGTH = 43;

/**
 * A short name for an item, whichever partition of an index it is in: the text of its whole table key, or the SHA-256 of a long
 * one, which no two keys share.
 */
export const shortName = (key: string): string => (key.length < HASH_LENGTH ? key : createHash("sha256").update(key).digest("base64url"));

/** A page of one node's edges. */
export interface HopPage extends Omit<QueryPage, "backward" | "narrowed"> {
  /** One of the node's partitions, if its edges are spread over shards. */
  readonly partition: string | undefined;
  readonly livingAt: number | undefined;
}

/** The Queries of the edges of one node after another. */
export interface HopQuery {
  /** Undefined if the range is empty. */
  readonly encode: (id: Row, page: HopPage) => QueryInput | undefined;
  /** The partitions over which a node's edges are spread; undefined if they are in one. */
  readonly partitions: ((id: Row) => readonly string[]) | undefined;
}

/** True if a Query is the same for every node but for the partition's value. */
const isConstant = (catalog: Catalog, step: QueryStep, near: "from" | "to"): boolean => {
  if (step.shapes.some((id) => catalog.shapesById[id]?.alias)) return false;
  // Other fields of a partition are values of the walk's conditions.
  if (!step.partition.fields.every((field) => field.startsWith(`${near}.`))) return false;
  const fields = (step.equal ?? []).flatMap(({ template }) => template.fields);
  if (step.sort) fields.push(...step.sort.template.fields, ...(step.sort.kind === "range" ? [step.sort.path] : []));
  return !fields.some((field) => field.startsWith(`${near}.`)) && !step.known.some(({ path }) => path.startsWith(`${near}.`));
};

/**
 * Every node of a hop takes the same Query: it is bound once, and only the partition's value changes.
 *
 * @param near the end of the edges at which the nodes are
 */
export const hopQuery = (
  catalog: Catalog,
  step: QueryStep,
  { near, values }: { readonly near: "from" | "to"; readonly values: readonly unknown[] },
): HopQuery => {
  const whole: HopQuery["encode"] = (id, { partition, livingAt, limit, start }) => {
    const query = bindQuery(catalog, step, { binding: { row: { from: id, to: id }, values }, livingAt, partition, filters });
    return pageInput(query, { limit, start, backward: false });
  };
  if (step.scatter) {
    const partitions = (id: Row): readonly string[] =>
      partitionsOf(catalog, step, { row: { from: id, to: id }, values }).map(({ text }) => text);
    return { encode: whole, partitions };
  }
  if (!isConstant(catalog, step, near)) return { encode: whole, partitions: undefined };
  let first: { readonly input: QueryInput | undefined; readonly hides: boolean } | undefined;
  const encode: HopQuery["encode"] = (id, { livingAt, limit, start }) => {
    const hides = livingAt !== undefined;
    if (first?.hides !== hides) first = { input: whole(id, { partition: undefined, limit: undefined, start: undefined, livingAt }), hides };
    const { input } = first;
    if (!input) return undefined;
    const partition = keyValue(step.partition.type, defined(renderTemplate(step.partition, { [near]: id }), "partition key"));
    const ExpressionAttributeValues: Record<string, AttributeValue> = { ...input.ExpressionAttributeValues, ":p": partition };
    if (hides && NOW in ExpressionAttributeValues) ExpressionAttributeValues[NOW] = { N: String(livingAt) };
    const asked = limit === undefined ? { ...input, ExpressionAttributeValues } : { Limit: limit, ...input, ExpressionAttributeValues };
    return start === undefined ? asked : { ExclusiveStartKey: start, ...asked };
  };
  return { encode, partitions: undefined };
};
