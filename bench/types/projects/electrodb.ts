import { upTo } from "../project.ts";
import type { Generator } from "../project.ts";

const entity = (index: number): string => `
export const Entity${index} = new Entity({
  model: { entity: "entity${index}", version: "1", service: "bench" },
  attributes: {
    id${index}: { type: "string", required: true },
    group: { type: "string", required: true },
    name: { type: "string", required: true },
    email: { type: "string" },
    level: { type: "number", required: true },
    active: { type: "boolean", required: true },
    city: { type: "string" },
    score: { type: "number" },
    status: { type: ["open", "closed", "pending"] as const, required: true },
    created: { type: "string", required: true },
  },
  indexes: {
    primary: { pk: { field: "PK", composite: ["id${index}"] }, sk: { field: "SK", composite: [] } },
    byGroup: { index: "GSI1", pk: { field: "GSI1PK", composite: ["group"] }, sk: { field: "GSI1SK", composite: ["created"] } },
  },
}, { client, table: "bench" });`;

const use = (index: number): string => `
export const query${index} = async () => (await Entity${index}.query.byGroup({ group: "g" }).gte({ created: "2024" }).go()).data;
export const update${index} = async () => (await Entity${index}.update({ id${index}: "i" }).set({ level: 3, status: "open" }).go()).data;`;

export const electrodb: Generator = (count) => ({
  files: {
    "definitions.ts": `import { Entity } from "electrodb";\nimport { DynamoDBClient } from "@aws-sdk/client-dynamodb";\nconst client = new DynamoDBClient({});\n${upTo(count, entity)}`,
    "use.ts": `import { ${upTo(count, (index) => `Entity${index},`)} } from "./definitions.ts";\n${upTo(count, use)}`,
  },
});
