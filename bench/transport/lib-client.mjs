import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  BatchGetCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";

const commands = {
  GetItem: GetCommand,
  PutItem: PutCommand,
  DeleteItem: DeleteCommand,
  UpdateItem: UpdateCommand,
  Query: QueryCommand,
  BatchGetItem: BatchGetCommand,
  TransactWriteItems: TransactWriteCommand,
};

const kinds = new Set(["S", "N", "BOOL", "L", "M"]);

/** Wire format to plain values, wherever an attribute value stands. */
const toPlain = (value) => {
  if (Array.isArray(value)) return value.map(toPlain);
  if (typeof value !== "object" || value === null) return value;
  const [[kind, inner] = [], ...more] = Object.entries(value);
  if (more.length === 0 && kinds.has(kind)) return kind === "N" ? Number(inner) : toPlain(inner);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toPlain(each)]));
};

export const libClient = (endpoint) => {
  const client = DynamoDBDocumentClient.from(
    new DynamoDBClient({ endpoint, region: "us-east-1", credentials: { accessKeyId: "local", secretAccessKey: "local" }, maxAttempts: 1 }),
  );
  return { name: "lib-dynamodb", send: (operation, input) => client.send(new commands[operation](input)), prepare: toPlain };
};
