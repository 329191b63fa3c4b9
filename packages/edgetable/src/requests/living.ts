import type { QueryStep } from "../ir/physical-plan.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import { nameIn } from "./placeholders.ts";

/** The placeholder of the time before which items have expired. */
export const NOW = ":now";

const expires = (catalog: Catalog, { shapes }: QueryStep): boolean => shapes.some((id) => catalog.shapesById[id]?.ttl !== undefined);

/**
 * The filter that leaves expired items out of a Query; undefined where nothing in it expires. An item without the
 * attribute, or with another type than a number in it, never expires.
 *
 * @param livingAt seconds since 1970; undefined to show expired items
 */
export const livingFilter = (
  catalog: Catalog,
  step: QueryStep,
  at: { readonly names: Record<string, string>; readonly values: Record<string, AttributeValue>; readonly livingAt: number | undefined },
): string | undefined => {
  if (at.livingAt === undefined || catalog.ttl === undefined || !expires(catalog, step)) return undefined;
  at.values[NOW] = { N: String(at.livingAt) };
  return `NOT (${nameIn(at.names, catalog.ttl, "#ttl")} < ${NOW})`;
};

/** Whether an item has expired, though DynamoDB has not removed it yet. */
export const isExpired = ({ ttl }: Pick<Catalog, "ttl">, item: Item, livingAt: number | undefined): boolean => {
  const value = livingAt === undefined || ttl === undefined ? undefined : item[ttl];
  return value !== undefined && livingAt !== undefined && "N" in value && Number(value.N) < livingAt;
};
