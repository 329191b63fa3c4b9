import { upTo } from "../project.ts";
import type { Generator } from "../project.ts";

const model = (index: number): string => `
    Entity${index}: {
      PK: { type: String, value: "ENTITY${index}#\${id${index}}" }, SK: { type: String, value: "#" },
      GSI1PK: { type: String, value: "GROUP#\${group}" }, GSI1SK: { type: String, value: "\${createdAt}" },
      id${index}: { type: String, required: true }, group: { type: String, required: true }, name: { type: String, required: true }, email: { type: String },
      level: { type: Number, required: true }, active: { type: Boolean, required: true }, city: { type: String }, score: { type: Number },
      status: { type: String, enum: ["open", "closed", "pending"], required: true }, createdAt: { type: String, required: true },
    },`;

const head = `
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { Table } from "dynamodb-onetable";
import type { Entity, Model } from "dynamodb-onetable";`;

const getModel = (index: number): string => `
export type Row${index} = Entity<typeof schema.models.Entity${index}>;
export const Entity${index}: Model<Row${index}> = table.getModel("Entity${index}");`;

const use = (index: number): string => `
export const query${index} = async (): Promise<Row${index}[]> => Entity${index}.find({ group: "g", createdAt: { ">=": "2024" } } as never, { index: "GSI1" });
export const update${index} = async (): Promise<Row${index}> => Entity${index}.update({ id${index}: "i", level: 3, status: "open" });`;

export const onetable: Generator = (count) => ({
  files: {
    "definitions.ts": `${head}
const schema = {
  format: "onetable:1.1.0", version: "0.0.1",
  indexes: { primary: { hash: "PK", sort: "SK" }, GSI1: { hash: "GSI1PK", sort: "GSI1SK" } },
  models: {${upTo(count, model)}
  },
} as const;
export const table = new Table({ client: new DynamoDBClient({}), name: "bench", schema, partial: true });
${upTo(count, getModel)}`,
    "use.ts": `import { ${upTo(count, (index) => `Entity${index},`)} } from "./definitions.ts";\nimport type { ${upTo(count, (index) => `Row${index},`)} } from "./definitions.ts";\n${upTo(count, use)}`,
  },
});
