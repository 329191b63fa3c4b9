import type { ReadNeed } from "../ir/write-plan.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { GetItemInput, QueryInput } from "../transport/operations.ts";
import { keyValue } from "./key-value.ts";
import { Placeholders } from "./placeholders.ts";

/** The strongly consistent Get of an item that a write depends on. */
export const encodeNeededGet = (catalog: Catalog, need: ReadNeed & { readonly kind: "get" }): GetItemInput => ({
  TableName: catalog.table,
  Key: need.key,
  ConsistentRead: true,
  ReturnConsumedCapacity: "TOTAL",
});

/** The strongly consistent Query for an item whose sort key is known only in part. */
export const encodeNeededQuery = (catalog: Catalog, need: ReadNeed & { readonly kind: "find" }): QueryInput => {
  const names = new Placeholders();
  const { partitionKey, sortKey = "" } = catalog.index;
  const partition = `${names.name(partitionKey)} = ${names.value(keyValue(need.shape.keys[partitionKey]!.type, need.partition))}`;
  const prefix = need.prefix === "" ? "" : ` AND begins_with(${names.name(sortKey)}, ${names.value({ S: need.prefix })})`;
  return {
    TableName: catalog.table,
    KeyConditionExpression: partition + prefix,
    ConsistentRead: true,
    ReturnConsumedCapacity: "TOTAL",
    ...names.fields,
  };
};
