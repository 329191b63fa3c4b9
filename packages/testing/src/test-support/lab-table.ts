import { randomBytes } from "node:crypto";
import type { CreateTableInput, Item, Key, QueryInput, Transport } from "edgetable";

const key = (hash: string, range?: string): CreateTableInput["KeySchema"] => [
  { AttributeName: hash, KeyType: "HASH" },
  ...(range === undefined ? [] : [{ AttributeName: range, KeyType: "RANGE" } as const]),
];

/** A table with an index of each kind: all attributes, some, and keys alone without a range. */
const labTable = (name: string): CreateTableInput => ({
  TableName: name,
  BillingMode: "PAY_PER_REQUEST",
  AttributeDefinitions: [
    { AttributeName: "pk", AttributeType: "S" },
    { AttributeName: "sk", AttributeType: "S" },
    { AttributeName: "g", AttributeType: "S" },
    { AttributeName: "h", AttributeType: "S" },
    { AttributeName: "n", AttributeType: "N" },
  ],
  KeySchema: key("pk", "sk"),
  GlobalSecondaryIndexes: [
    { IndexName: "byText", KeySchema: key("g", "h"), Projection: { ProjectionType: "ALL" } },
    { IndexName: "byNumber", KeySchema: key("g", "n"), Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: ["v"] } },
    { IndexName: "byGroup", KeySchema: key("g"), Projection: { ProjectionType: "KEYS_ONLY" } },
  ],
});

// The engine may be shared with other files, and other runs.
const run = randomBytes(5).toString("hex");
let tables = 0;

/** Creates a lab table under a name of its own and returns the name. */
export const createLabTable = async (transport: Transport): Promise<string> => {
  const name = `lab-${run}-${String(++tables)}`;
  await transport.send("CreateTable", labTable(name));
  return name;
};

/** An item or key with text in every attribute but `n` and `count`, which are numbers. */
export const textItem = (attributes: Readonly<Record<string, string>>): Item =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, text]) => [name, name === "n" || name === "count" ? { N: text } : { S: text }]),
  );

/** Everything in one partition of the table, or of an index. */
export const partition = (table: string, value: string, index?: string): QueryInput => ({
  TableName: table,
  ...(index !== undefined && { IndexName: index }),
  KeyConditionExpression: "#hash = :hash",
  ExpressionAttributeNames: { "#hash": index === undefined ? "pk" : "g" },
  ExpressionAttributeValues: { ":hash": { S: value } },
});

/** The item as it is, read consistently past every lie. */
export const truth = async (inner: Transport, table: string, of: Key): Promise<Item | undefined> =>
  (await inner.send("GetItem", { TableName: table, Key: of, ConsistentRead: true })).Item;
