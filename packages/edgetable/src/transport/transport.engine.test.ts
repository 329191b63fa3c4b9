import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { createLeanTransport } from "./lean/lean-transport.ts";
import type { AttributeValue, Item } from "./operations.ts";
import { createSdkTransport } from "./sdk/index.ts";
import type { Transport } from "./transport.ts";

const credentials = { accessKeyId: "local", secretAccessKey: "local" };
const transports: readonly (readonly [name: string, open: (endpoint: string) => Transport])[] = [
  ["lean", (endpoint) => createLeanTransport({ endpoint, region: "us-east-1" })],
  ["sdk", (endpoint) => createSdkTransport(new DynamoDBClient({ endpoint, region: "us-east-1", credentials, maxAttempts: 1 }))],
];

const table = (TableName: string) =>
  ({
    TableName,
    AttributeDefinitions: ["PK", "SK", "GSI1PK"].map((AttributeName) => ({ AttributeName, AttributeType: "S" }) as const),
    KeySchema: [
      { AttributeName: "PK", KeyType: "HASH" },
      { AttributeName: "SK", KeyType: "RANGE" },
    ],
    GlobalSecondaryIndexes: [
      { IndexName: "GSI1", KeySchema: [{ AttributeName: "GSI1PK", KeyType: "HASH" }], Projection: { ProjectionType: "ALL" } },
    ],
    BillingMode: "PAY_PER_REQUEST",
  }) as const;

const key = (PK: string, SK = "#"): Item => ({ PK: { S: PK }, SK: { S: SK } });
const missing = { ConditionExpression: "attribute_not_exists(#pk)", ExpressionAttributeNames: { "#pk": "PK" } } as const;

const everyType: Readonly<Record<string, AttributeValue>> = {
  text: { S: 'naïve 日本語 🜁 \u0000 " \\' },
  empty: { S: "" },
  number: { N: "-12345678901234567890.5" },
  yes: { BOOL: true },
  no: { BOOL: false },
  nothing: { NULL: true },
  bytes: { B: Buffer.from([0, 255, 128, 10]).toString("base64") },
  list: { L: [{ S: "a" }, { N: "1" }, { B: "AQID" }, { L: [] }] },
  map: { M: { B: { S: "an attribute called B" }, BS: { L: [{ S: "x" }] }, S: { M: {} }, 日本: { B: "AA==" } } },
  texts: { SS: ["a", "b"] },
  numbers: { NS: ["1", "2.5"] },
  blobs: { BS: ["AQ==", "Ag=="] },
};

let engine: TestEngine;
let endpoint = "";

beforeAll(async () => {
  engine = await openEngine();
  ({ endpoint } = engine);
});
afterAll(() => engine.close());

describe.each(transports)("the %s transport on a real engine", (name, open) => {
  let TableName = "";
  let transport: Transport;
  beforeAll(async () => {
    TableName = engine.freshTableName(name);
    transport = open(endpoint);
    await transport.send("CreateTable", table(TableName));
  });
  afterAll(() => transport.close());

  const get = async (Key: Item): Promise<Item | undefined> =>
    (await transport.send("GetItem", { TableName, Key, ConsistentRead: true })).Item;

  test("every attribute type comes back as it was put", async () => {
    const Item = { ...key("types"), ...everyType };
    await transport.send("PutItem", { TableName, Item });
    const stored = (await get(key("types"))) as Record<string, AttributeValue>;
    const sorted = (value: AttributeValue | undefined): unknown =>
      value === undefined
        ? value
        : Object.entries(value).map(([kind, inner]) => [
            kind,
            kind.endsWith("S") && Array.isArray(inner) ? new Set<unknown>(inner) : inner,
          ]);
    for (const [attribute, value] of Object.entries(Item)) expect(sorted(stored[attribute]), attribute).toEqual(sorted(value));
    expect(Object.keys(stored).toSorted()).toEqual(Object.keys(Item).toSorted());
  });

  test("a missing item is an answer without Item", async () => {
    expect(await transport.send("GetItem", { TableName, Key: key("nobody") })).toEqual({});
  });

  test("where one text of each item is wanted, it may come in place of the items", async () => {
    for (const to of ["b", "a", 'quoted "\\" and longer than most'])
      await transport.send("PutItem", { TableName, Item: key("texts", `knows#${to}`) });
    const query = {
      TableName,
      KeyConditionExpression: "PK = :p AND begins_with(SK, :s)",
      ProjectionExpression: "SK",
      ExpressionAttributeValues: { ":p": { S: "texts" }, ":s": { S: "knows#" } },
    };
    const { Items, ...rest } = await transport.send("Query", query);
    expect(Items).toHaveLength(3);
    const wanted = await transport.send("Query", query, { column: { attribute: "SK", beginning: "knows#" } });
    const texts = Items?.map(({ SK }) => (SK as { readonly S: string }).S.slice("knows#".length));
    expect(wanted).toEqual(name === "lean" ? { ...rest, Texts: texts } : { ...rest, Items });
    expect(await transport.send("Query", query, { column: { attribute: "SK", beginning: "likes#" } })).toEqual({ ...rest, Items });
  });

  test("a key and a value that are binary are queried by their base64 text", async () => {
    await transport.send("PutItem", { TableName, Item: { ...key("binary"), data: { B: "AQID" } } });
    const found = await transport.send("Query", {
      TableName,
      KeyConditionExpression: "#pk = :pk",
      FilterExpression: "#d = :d",
      ExpressionAttributeNames: { "#pk": "PK", "#d": "data" },
      ExpressionAttributeValues: { ":pk": { S: "binary" }, ":d": { B: "AQID" } },
    });
    expect(found).toMatchObject({ Count: 1, ScannedCount: 1, Items: [{ ...key("binary"), data: { B: "AQID" } }] });
  });

  test("Query pages through a partition, on the table and on an index, and Scan through everything", async () => {
    const items = ["1", "2", "3"].map((SK) => ({ ...key("pages", SK), GSI1PK: { S: "pages" } }));
    await transport.send("BatchWriteItem", { RequestItems: { [TableName]: items.map((Item) => ({ PutRequest: { Item } })) } });
    const query = {
      TableName,
      KeyConditionExpression: "#pk = :pk",
      ExpressionAttributeNames: { "#pk": "PK" },
      ExpressionAttributeValues: { ":pk": { S: "pages" } },
    } as const;
    const first = await transport.send("Query", { ...query, Limit: 2, ReturnConsumedCapacity: "TOTAL" });
    expect(first.Items).toEqual(items.slice(0, 2));
    expect(first.ConsumedCapacity?.CapacityUnits).toBeGreaterThan(0);
    const rest = await transport.send("Query", { ...query, ExclusiveStartKey: first.LastEvaluatedKey ?? {} });
    expect(rest.Items).toEqual(items.slice(2));
    expect(rest).not.toHaveProperty("LastEvaluatedKey");
    const byIndex = await transport.send("Query", { ...query, IndexName: "GSI1", ExpressionAttributeNames: { "#pk": "GSI1PK" } });
    expect(byIndex.Items).toHaveLength(3);
    expect((await transport.send("Scan", { TableName, Limit: 1000 })).Count).toBeGreaterThanOrEqual(3);
  });

  test("UpdateItem, DeleteItem and PutItem give back the attributes that were asked for", async () => {
    const Key = key("update");
    const set = {
      UpdateExpression: "SET #n = :n",
      ExpressionAttributeNames: { "#n": "name" },
      ExpressionAttributeValues: { ":n": { B: "/w==" } },
    };
    expect((await transport.send("UpdateItem", { TableName, Key, ...set, ReturnValues: "ALL_NEW" })).Attributes).toEqual({
      ...Key,
      name: { B: "/w==" },
    });
    expect((await transport.send("PutItem", { TableName, Item: Key, ReturnValues: "ALL_OLD" })).Attributes).toEqual({
      ...Key,
      name: { B: "/w==" },
    });
    expect((await transport.send("DeleteItem", { TableName, Key, ReturnValues: "ALL_OLD" })).Attributes).toEqual(Key);
    expect(await get(Key)).toBeUndefined();
  });

  test("batches and transactions write and read", async () => {
    const [a, b] = [key("batch-a"), key("batch-b")];
    const written = await transport.send("TransactWriteItems", {
      TransactItems: [
        { Put: { TableName, Item: { ...a, data: { BS: ["AQ=="] } } } },
        {
          Update: {
            TableName,
            Key: b,
            UpdateExpression: "SET #x = :x",
            ExpressionAttributeNames: { "#x": "x" },
            ExpressionAttributeValues: { ":x": { N: "1" } },
          },
        },
      ],
      ClientRequestToken: `token-${name}`,
    });
    expect(written).toEqual({});
    const read = await transport.send("TransactGetItems", {
      TransactItems: [{ Get: { TableName, Key: a } }, { Get: { TableName, Key: key("nobody") } }],
    });
    expect(read.Responses?.map(({ Item }) => Item)).toEqual([{ ...a, data: { BS: ["AQ=="] } }, undefined]);
    const batch = await transport.send("BatchGetItem", { RequestItems: { [TableName]: { Keys: [a, b], ConsistentRead: true } } });
    expect(batch.Responses?.[TableName]).toHaveLength(2);
    await transport.send("BatchWriteItem", { RequestItems: { [TableName]: [{ DeleteRequest: { Key: a } }] } });
    expect(await get(a)).toBeUndefined();
  });

  test("tables are described, listed, given a time to live and deleted", async () => {
    const other = `Other-${name}`;
    expect((await transport.send("CreateTable", table(other))).TableDescription?.TableName).toBe(other);
    const described = (await transport.send("DescribeTable", { TableName: other })).Table;
    expect(described).toMatchObject({ TableName: other, GlobalSecondaryIndexes: [{ IndexName: "GSI1" }] });
    expect((await transport.send("ListTables", { Limit: 100 })).TableNames).toContain(other);
    await transport.send("UpdateTimeToLive", { TableName: other, TimeToLiveSpecification: { AttributeName: "ttl", Enabled: true } });
    await transport.send("DeleteTable", { TableName: other });
    expect((await transport.send("ListTables", {})).TableNames).not.toContain(other);
  });

  test("a page of a megabyte comes back whole, through many packets", async () => {
    const text = "é".repeat(150_000);
    await Promise.all(
      ["1", "2", "3"].map((SK) => transport.send("PutItem", { TableName, Item: { ...key("large", SK), text: { S: text } } })),
    );
    const page = await transport.send("Query", {
      TableName,
      KeyConditionExpression: "#pk = :pk",
      ExpressionAttributeNames: { "#pk": "PK" },
      ExpressionAttributeValues: { ":pk": { S: "large" } },
    });
    expect(page.Items?.map((item) => item["text"])).toEqual([{ S: text }, { S: text }, { S: text }]);
  });

  test("300 requests at once all get their own answer", async () => {
    const ids = Array.from({ length: 300 }, (_, index) => `many-${index}`);
    await Promise.all(ids.map((id) => transport.send("PutItem", { TableName, Item: key(id) })));
    expect(await Promise.all(ids.map((id) => get(key(id))))).toEqual(ids.map((id) => key(id)));
  });

  test("a failed condition reports the item, binary included", async () => {
    const Item = { ...key("taken"), data: { B: "AQID" } };
    await transport.send("PutItem", { TableName, Item });
    const refused = transport.send("PutItem", { TableName, Item, ...missing, ReturnValuesOnConditionCheckFailure: "ALL_OLD" });
    await expect(refused).rejects.toMatchObject({
      code: "execute.rejected",
      retryable: false,
      details: { fault: "ConditionalCheckFailedException", status: 400, item: Item, ambiguous: false },
      request: { operation: "PutItem" },
    });
  });

  test("a cancelled transaction reports a reason for each of its items", async () => {
    const Item = { ...key("present"), data: { B: "AQID" } };
    await transport.send("PutItem", { TableName, Item });
    const cancelled = transport.send("TransactWriteItems", {
      TransactItems: [
        { Put: { TableName, Item: key("absent") } },
        { Put: { TableName, Item, ...missing, ReturnValuesOnConditionCheckFailure: "ALL_OLD" } },
      ],
    });
    const reasons = [{ Code: "None" }, { Code: "ConditionalCheckFailed", Item }];
    await expect(cancelled).rejects.toMatchObject({
      code: "execute.rejected",
      retryable: false,
      details: { fault: "TransactionCanceledException", reasons },
    });
    expect(await get(key("absent"))).toBeUndefined();
  });

  test("an unknown table and an invalid request have codes of their own", async () => {
    await expect(transport.send("GetItem", { TableName: "Nowhere", Key: key("a") })).rejects.toMatchObject({
      code: "execute.tableNotFound",
      retryable: false,
    });
    await expect(transport.send("GetItem", { TableName, Key: { PK: { S: "a" } } })).rejects.toMatchObject({
      code: "execute.rejected",
      details: { fault: "ValidationException" },
    });
    const query = { TableName, KeyConditionExpression: "PK = :p", ExpressionAttributeValues: { ":p": { S: "a" } }, IndexName: "gone" };
    await expect(transport.send("Query", query)).rejects.toMatchObject({
      code: "plan.indexIncomplete",
      message: expect.stringContaining("db.migrations.run()"),
    });
  });
});
