import type { QueryStep } from "../ir/physical-plan.ts";
import { renderTemplate } from "../keys/template.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Key, QueryInput } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import { encodeQuery, isEmptyRange } from "./encode-read.ts";
import type { Row } from "./item-codec.ts";

export interface HopPage {
  readonly limit: number | undefined;
  readonly start: Key | undefined;
}

/** The Query of the edges of one node after another; undefined where nothing can lie in the range. */
export type HopQuery = (id: Row, page: HopPage) => QueryInput | undefined;

const isConstant = (catalog: Catalog, step: QueryStep, near: "from" | "to"): boolean => {
  if (step.shapes.some((id) => catalog.shapesById[id]?.alias)) return false;
  const fields = step.sort?.kind === "range" ? [...step.sort.template.fields, step.sort.path] : (step.sort?.template.fields ?? []);
  return !fields.some((field) => field.startsWith(`${near}.`)) && !step.known.some(({ path }) => path.startsWith(`${near}.`));
};

const paged = (input: QueryInput, { limit, start }: HopPage): QueryInput => ({
  ...input,
  ...(limit === undefined ? {} : { Limit: limit }),
  ...(start === undefined ? {} : { ExclusiveStartKey: start }),
});

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
  const whole = (id: Row, page: HopPage): QueryInput | undefined => {
    const input = encodeQuery(catalog, step, { row: { from: id, to: id }, values }, { ...page, backward: false });
    return isEmptyRange(input) ? undefined : input;
  };
  if (!isConstant(catalog, step, near)) return whole;
  let first: { readonly input: QueryInput | undefined } | undefined;
  return (id, page) => {
    first ??= { input: whole(id, { limit: undefined, start: undefined }) };
    const { input } = first;
    if (!input) return undefined;
    const partition = { S: defined(renderTemplate(step.partition, { [near]: id }), "partition key") };
    return paged({ ...input, ExpressionAttributeValues: { ...input.ExpressionAttributeValues, ":p": partition } }, page);
  };
};
