import { upTo } from "../project.ts";
import type { Generator } from "../project.ts";

const head = `
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { Entity } from "dynamodb-toolbox/entity";
import { boolean } from "dynamodb-toolbox/schema/boolean";
import { item } from "dynamodb-toolbox/schema/item";
import { number } from "dynamodb-toolbox/schema/number";
import { string } from "dynamodb-toolbox/schema/string";
import { Table } from "dynamodb-toolbox/table";
const documentClient = DynamoDBDocumentClient.from(new DynamoDBClient({}));
export const table = new Table({
  documentClient, name: "bench",
  partitionKey: { name: "PK", type: "string" }, sortKey: { name: "SK", type: "string" },
  indexes: { GSI1: { type: "global", partitionKey: { name: "GSI1PK", type: "string" }, sortKey: { name: "GSI1SK", type: "string" } } },
});`;

const entity = (index: number): string => `
export const Entity${index} = new Entity({
  name: "entity${index}", table,
  schema: item({
    id${index}: string().key(), group: string(), name: string(), email: string().optional(), level: number(), active: boolean(),
    city: string().optional(), score: number().optional(), status: string().enum("open", "closed", "pending"), createdAt: string(),
  }).and((previous) => ({
    GSI1PK: string().hidden().optional().link<typeof previous>(({ group }) => \`GROUP#\${group}\`),
    GSI1SK: string().hidden().optional().link<typeof previous>(({ createdAt }) => createdAt),
  })),
  computeKey: ({ id${index} }) => ({ PK: \`ENTITY${index}#\${id${index}}\`, SK: "#" }),
});`;

const use = (index: number): string => `
export const query${index} = async () =>
  (await table.build(QueryCommand).query({ index: "GSI1", partition: "GROUP#g", range: { gte: "2024" } }).entities(Entity${index}).send()).Items ?? [];
export const update${index} = async () => (await Entity${index}.build(UpdateItemCommand).item({ id${index}: "i", level: 3, status: "open" }).send()).Attributes;`;

export const toolbox: Generator = (count) => ({
  files: {
    "definitions.ts": `${head}\n${upTo(count, entity)}`,
    "use.ts": `import { UpdateItemCommand } from "dynamodb-toolbox/entity/actions/update";
import { QueryCommand } from "dynamodb-toolbox/table/actions/query";
import { table, ${upTo(count, (index) => `Entity${index},`)} } from "./definitions.ts";
${upTo(count, use)}`,
  },
});
