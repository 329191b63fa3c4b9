import type { QueryStep } from "../ir/physical-plan.ts";
import { renderTemplate } from "../keys/template.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { AttributeValue, Key, QueryInput } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import { encodeQuery, isEmptyRange, type Binding } from "./encode-read.ts";
import { NOW } from "./living.ts";

import { keyValue } from "./key-value.ts";
import { inPartition, partitionsOf } from "./partitions.ts";
import type { Row } from "../util/row.ts";

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
