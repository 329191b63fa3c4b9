import type { Catalog } from "edgetable";
import { exampleItems, tableDesign } from "edgetable/check";
import { usageError } from "../failure.ts";
import type { Capacity } from "./infrastructure.ts";

type Design = ReturnType<typeof tableDesign>;

const keyAttributes = ({ AttributeDefinitions }: Design["input"], schema: Design["input"]["KeySchema"]): object => {
  const keys = schema.map(({ AttributeName, KeyType }) => {
    const AttributeType = AttributeDefinitions.find((one) => one.AttributeName === AttributeName)?.AttributeType ?? "S";
    return [KeyType === "HASH" ? "PartitionKey" : "SortKey", { AttributeName, AttributeType }] as const;
  });
  return Object.fromEntries(keys);
};

/** The types of attributes that Workbench shows beside the keys. */
const nonKeyAttributes = (items: ReturnType<typeof exampleItems>, keys: readonly string[]): readonly object[] => {
  const types = new Map<string, string>();
  for (const item of items)
    for (const [name, value] of Object.entries(item)) if (!keys.includes(name)) types.set(name, Object.keys(value)[0] ?? "S");
  return [...types].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }));
};

/** A data model of NoSQL Workbench: the table, a facet for each kind of item, and example items. */
export const workbench = (catalog: Catalog, capacity: Capacity | undefined, now: Date): object => {
  const { input } = tableDesign(catalog);
  const several = catalog.indexes.find(({ partitionKeys, sortKeys }) => partitionKeys.length > 1 || sortKeys.length > 1);
  if (several)
    throw usageError(
      `The index "${several.name}" has a key of several attributes, which a data model of NoSQL Workbench cannot contain. Print the table with --cloudformation, --cdk or --terraform.`,
    );
  const items = exampleItems(catalog);
  const keys = input.KeySchema.map(({ AttributeName }) => AttributeName);
  const [partition = "", sort = ""] = keys;
  const facets = catalog.shapes.map((shape) => {
    const own = items.find((item) => Object.keys(shape.keys).every((name) => name in item));
    return {
      FacetName: shape.id,
      KeyAttributeAlias: {
        PartitionKeyAlias: shape.keys[partition]?.source ?? "",
        ...(sort === "" ? {} : { SortKeyAlias: shape.keys[sort]?.source ?? "" }),
      },
      NonKeyAttributes: Object.keys(own ?? {}).filter((name) => !keys.includes(name)),
      DataAccess: { MySql: {} },
    };
  });
  const time = now.toISOString();
  return {
    ModelName: input.TableName,
    ModelMetadata: {
      Author: "Edgetable",
      DateCreated: time,
      DateLastModified: time,
      Description: `The table ${input.TableName} of an Edgetable model, with example items.`,
      AWSService: "Amazon DynamoDB",
      Version: "3.0",
    },
    DataModel: [
      {
        TableName: input.TableName,
        KeyAttributes: keyAttributes(input, input.KeySchema),
        NonKeyAttributes: nonKeyAttributes(items, keys),
        TableFacets: facets,
        GlobalSecondaryIndexes: (input.GlobalSecondaryIndexes ?? []).map(({ IndexName, KeySchema, Projection }) => ({
          IndexName,
          KeyAttributes: keyAttributes(input, KeySchema),
          Projection,
        })),
        TableData: items,
        DataAccess: { MySql: {} },
        BillingMode: capacity ? "PROVISIONED" : "PAY_PER_REQUEST",
        ...(capacity && {
          ProvisionedCapacitySettings: {
            ProvisionedThroughput: { ReadCapacityUnits: capacity.read, WriteCapacityUnits: capacity.write },
          },
        }),
      },
    ],
  };
};
