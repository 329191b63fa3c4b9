import { didYouMean } from "edgetable";
import { usageError } from "../failure.ts";
import type { RawItem, SampledIndex, SampledTable } from "./sample.ts";

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
const objects = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isObject) : []);
const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

const keysOf = (
  place: string,
  value: unknown,
): Pick<SampledTable, "partitionKey" | "sortKey"> & { readonly types: SampledTable["types"] } => {
  const keys = isObject(value) ? value : {};
  const [partition, sort] = [keys["PartitionKey"], keys["SortKey"]].map((one) => (isObject(one) ? one : {}));
  const partitionKey = text(partition?.["AttributeName"]);
  const sortKey = text(sort?.["AttributeName"]);
  if (partitionKey === undefined)
    throw usageError(`${place} has no KeyAttributes.PartitionKey.AttributeName: it is not a data model of NoSQL Workbench.`);
  const types: Record<string, "N" | "B"> = {};
  for (const one of [partition, sort]) {
    const [name, type] = [text(one?.["AttributeName"]), one?.["AttributeType"]];
    if (name !== undefined && (type === "N" || type === "B")) types[name] = type;
  }
  return { partitionKey, ...(sortKey === undefined ? {} : { sortKey }), types };
};

const TYPES = ["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"];

const itemOf = (place: string, value: Json): RawItem => {
  for (const [name, attribute] of Object.entries(value)) {
    const members = isObject(attribute) ? Object.keys(attribute) : [];
    if (members.length !== 1 || !TYPES.includes(members[0] ?? ""))
      throw usageError(`${place}.${name} is not a value of DynamoDB, such as {"S": "text"}.`);
  }
  return value as RawItem;
};

const tableOf = (one: Json): SampledTable => {
  const name = text(one["TableName"]) ?? "";
  const { types, ...keys } = keysOf(`The table "${name}"`, one["KeyAttributes"]);
  const all: Record<string, "N" | "B"> = { ...types };
  const indexes: Record<string, SampledIndex> = {};
  for (const index of [...objects(one["GlobalSecondaryIndexes"]), ...objects(one["LocalSecondaryIndexes"])]) {
    const indexName = text(index["IndexName"]) ?? "";
    const { types: ofIndex, ...indexKeys } = keysOf(`The index "${indexName}" of "${name}"`, index["KeyAttributes"]);
    Object.assign(all, ofIndex);
    const projection = isObject(index["Projection"]) ? index["Projection"] : {};
    const named = Array.isArray(projection["NonKeyAttributes"])
      ? projection["NonKeyAttributes"].filter((attribute) => typeof attribute === "string")
      : [];
    indexes[indexName] = {
      ...indexKeys,
      ...(projection["ProjectionType"] === "KEYS_ONLY" ? { projection: "KEYS_ONLY" as const } : {}),
      ...(projection["ProjectionType"] === "INCLUDE" ? { projection: named } : {}),
    };
  }
  const items = objects(one["TableData"]).map((item, at) => itemOf(`TableData[${at}]`, item));
  return { name, ...keys, types: all, indexes, settings: {}, items };
};

/**
 * Reads a table of a data model of NoSQL Workbench: keys, indexes, and the sample data as items.
 *
 * @param name the table to take from a model of several
 * @throws {cli.usage} if the text is no such model, or has no such table or no sample data
 */
export const readWorkbench = (content: string, name: string | undefined): SampledTable => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(content);
  } catch (error) {
    throw usageError(`The file is not JSON: ${(error as Error).message}`);
  }
  const tables = isObject(parsed) ? objects(parsed["DataModel"]) : [];
  if (tables.length === 0)
    throw usageError('The file has no "DataModel" with a table. Export the data model from NoSQL Workbench as JSON.');
  const names = tables.map((one) => text(one["TableName"]) ?? "");
  if (name === undefined && tables.length > 1)
    throw usageError(`The file has several tables (${names.join(", ")}). Choose one, such as --table ${names[0] ?? ""}.`);
  const found = name === undefined ? tables[0] : tables[names.indexOf(name)];
  if (!found) throw usageError(`The file has no table "${name ?? ""}".${didYouMean(name ?? "", names)}`);
  const table = tableOf(found);
  if (table.items.length === 0)
    throw usageError(
      `The table "${table.name}" has no sample data (TableData), so there is nothing to draft from. Add a few items of each kind in Workbench.`,
    );
  return table;
};
