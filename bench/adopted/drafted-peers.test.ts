import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { Table } from "dynamodb-onetable";
import { createLeanTransport } from "edgetable";
import { Entity } from "electrodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDocumentClient } from "../calls/candidates/document-client.ts";
import { createClient } from "../calls/candidates/sdk-client.ts";

let engine: LocalEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const createTable = async (
  TableName: string,
  names: readonly (readonly [index: string | undefined, hash: string, range: string])[],
): Promise<void> => {
  const transport = createLeanTransport({ endpoint: engine.endpoint });
  const schema = ([, hash, range]: (typeof names)[number]) => [
    { AttributeName: hash, KeyType: "HASH" as const },
    { AttributeName: range, KeyType: "RANGE" as const },
  ];
  const [table, ...indexes] = names;
  await transport.send("CreateTable", {
    TableName,
    BillingMode: "PAY_PER_REQUEST",
    KeySchema: schema(table!),
    AttributeDefinitions: [...new Set(names.flatMap(([, ...keys]) => keys))].map((AttributeName) => ({
      AttributeName,
      AttributeType: "S" as const,
    })),
    GlobalSecondaryIndexes: indexes.map((one) => ({
      IndexName: one[0]!,
      KeySchema: schema(one),
      Projection: { ProjectionType: "ALL" as const },
    })),
  });
  await transport.close();
};

interface Drafted {
  readonly items: number;
  readonly read: number;
  readonly rewritten: number;
  readonly findings: readonly string[];
  readonly model: string;
}

/** What the built command line drafts for a table. */
const draft = async (table: string): Promise<Drafted> => {
  const bin = fileURLToPath(new URL("../../packages/cli/bin/edgetable.js", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [
    bin,
    "init",
    "--from-table",
    table,
    "--endpoint",
    engine.endpoint,
    "--json",
  ]);
  return JSON.parse(stdout) as Drafted;
};

test("a table that ElectroDB wrote, keys in lower case, is drafted so that every item rewrites byte for byte", async () => {
  const table = "TaskManager";
  await createTable(table, [
    [undefined, "pk", "sk"],
    ["gsi1", "gsi1pk", "gsi1sk"],
    ["gsi2", "gsi2pk", "gsi2sk"],
  ]);
  const configuration = { table, client: createDocumentClient(engine.endpoint) };
  const employees = new Entity(
    {
      model: { entity: "employee", version: "1", service: "taskmanager" },
      attributes: {
        employee: { type: "string" },
        firstName: { type: "string" },
        team: { type: "string" },
        title: { type: "string" },
        salary: { type: "number" },
        manager: { type: "string" },
      },
      indexes: {
        employee: { pk: { field: "pk", composite: ["employee"] }, sk: { field: "sk", composite: [] } },
        teams: { index: "gsi1", pk: { field: "gsi1pk", composite: ["team"] }, sk: { field: "gsi1sk", composite: ["title", "employee"] } },
        managers: { index: "gsi2", pk: { field: "gsi2pk", composite: ["manager"] }, sk: { field: "gsi2sk", composite: ["team"] } },
      },
    },
    configuration,
  );
  const tasks = new Entity(
    {
      model: { entity: "task", version: "1", service: "taskmanager" },
      attributes: {
        task: { type: "string" },
        project: { type: "string" },
        employee: { type: "string" },
        points: { type: "number" },
        done: { type: "boolean" },
      },
      indexes: {
        task: { pk: { field: "pk", composite: ["task"] }, sk: { field: "sk", composite: ["project", "employee"] } },
        assigned: { index: "gsi1", pk: { field: "gsi1pk", composite: ["employee"] }, sk: { field: "gsi1sk", composite: ["project"] } },
      },
    },
    configuration,
  );
  for (const [at, name] of ["Eva Moe", "Finn Ek", "Ida Ray"].entries()) {
    const employee = {
      employee: `E-${at}`,
      firstName: name,
      team: at === 0 ? "Core" : "Web Apps",
      title: `Engineer ${"I".repeat(at + 1)}`,
      salary: 10 * at,
    };
    await employees.create(at === 0 ? employee : { ...employee, manager: "E-0" }).go();
    for (const project of ["Atlas", "Borealis"])
      await tasks.create({ task: `Write ${project} ${at}`, project, employee: `E-${at}`, points: at, done: at > 1 }).go();
  }
  const { model, ...report } = await draft(table);
  expect(report).toMatchObject({ items: 9, read: 9, rewritten: 9, findings: [] });
  expect(model).toContain('typeAttribute: "__edb_e__"');
  // ElectroDB writes keys in lower case, and values as they are.
  expect(model).toContain('gsi1pk: "$taskmanager#team_{team:lower}"');
  expect(model).not.toContain("InKey");
});

test("a table that OneTable wrote is drafted so that every item rewrites byte for byte", async () => {
  const name = "Accounts";
  await createTable(name, [
    [undefined, "pk", "sk"],
    ["gs1", "gs1pk", "gs1sk"],
  ]);
  const table = new Table({
    client: createClient(engine.endpoint),
    name,
    partial: false,
    schema: {
      format: "onetable:1.1.0",
      version: "0.0.1",
      indexes: { primary: { hash: "pk", sort: "sk" }, gs1: { hash: "gs1pk", sort: "gs1sk", project: "all" } },
      models: {
        Account: {
          pk: { type: String, value: "account:${name}" },
          sk: { type: String, value: "account:" },
          id: { type: String, required: true },
          name: { type: String, required: true },
          status: { type: String, default: "active" },
          zip: { type: String },
        },
        User: {
          pk: { type: String, value: "account:${accountName}" },
          sk: { type: String, value: "user:${email}" },
          accountName: { type: String, required: true },
          email: { type: String, required: true },
          role: { type: String, enum: ["user", "admin"], required: true, default: "user" },
          balance: { type: Number, default: 0 },
          gs1pk: { type: String, value: "user-email:${email}" },
          gs1sk: { type: String, value: "user:" },
        },
      },
    },
  });
  for (const [at, account] of ["Acme", "Globex"].entries()) {
    await table.create("Account", { id: `0${at}`, name: account, ...(at === 0 ? { zip: "98045" } : {}) });
    for (const user of ["Ann", "Ben"])
      await table.create("User", {
        accountName: account,
        email: `${user}@${account}.com`,
        ...(at === 0 ? { role: "admin" } : { balance: 1.5 }),
      });
  }
  const { model, ...report } = await draft(name);
  expect(report).toMatchObject({ items: 6, read: 6, rewritten: 6, findings: [] });
  expect(model).toContain('typeAttribute: "_type"');
  expect(model).toContain('key: "account:{name}"');
});
