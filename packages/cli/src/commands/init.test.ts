import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { createLeanTransport, defineGraph, edge, node } from "edgetable";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { createFolder, run, type Folder } from "../test-support/lab.ts";

let folder: Folder;
beforeEach(() => {
  folder = createFolder();
});
afterEach(() => folder.remove());

const init = (...argv: readonly string[]) => run(["init", ...argv], { cwd: folder.path });

test("makes a project whose model the other commands find", async () => {
  const { code, out, err } = await init("my-graph");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/^Created a project in my-graph:\n[^]*\n {2}cd my-graph\n {2}npm install\n/);
  for (const command of ["patterns", "check"])
    expect(await run([command], { cwd: join(folder.path, "my-graph") })).toMatchObject({ code: 0 });
});

test("lists the files in the way, and writes nothing", async () => {
  folder.write("src/model.ts", "mine");
  const { code, out, err } = await init();
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain("error: This folder already has src/model.ts. Nothing was written. Give the name of another folder.\n  cli.usage");
  expect(readFileSync(join(folder.path, "src/model.ts"), "utf8")).toBe("mine");
});

test("as JSON names the folder and its files", async () => {
  mkdirSync(join(folder.path, "empty"));
  const { out } = await init("empty", "--json");
  expect(JSON.parse(out)).toEqual({ folder: join(folder.path, "empty"), files: expect.arrayContaining(["src/model.ts", ".gitignore"]) });
});

test("rejects a second folder and an empty name", async () => {
  expect(await init("a", "b")).toMatchObject({ code: 2, err: expect.stringContaining("Too many arguments") });
  expect(await init("")).toMatchObject({ code: 2, err: expect.stringContaining("Give the name of a folder") });
});

describe("a draft", () => {
  const S = (text: string) => ({ S: text });
  const people = ["ann", "ben", "eve"];
  const items = [
    ...people.map((name) => ({ PK: S(`USER#${name}`), SK: S("PROFILE"), type: S("user"), username: S(name), email: S(`${name}@x.org`) })),
    ...people.map((name, at) => ({
      PK: S(`USER#${name}`),
      SK: S(`ORDER#${at}`),
      type: S("order"),
      total: { N: String(at + 0.5) },
      GSI1PK: S(`ORDER#${at}`),
      GSI1SK: S(`USER#${name}`),
    })),
    { PK: S("USER#ann"), SK: S("USER#ben"), type: S("follows"), since: S("2024-01-02") },
  ];
  const key = (partition: string, sort: string) => ({
    PartitionKey: { AttributeName: partition, AttributeType: "S" },
    SortKey: { AttributeName: sort, AttributeType: "S" },
  });
  const workbench = (...tables: readonly object[]) => JSON.stringify({ ModelName: "m", ModelMetadata: {}, DataModel: tables });
  const table = {
    TableName: "App",
    KeyAttributes: key("PK", "SK"),
    GlobalSecondaryIndexes: [{ IndexName: "GSI1", KeyAttributes: key("GSI1PK", "GSI1SK"), Projection: { ProjectionType: "ALL" } }],
    TableData: items,
  };

  let engine: LocalEngine;
  beforeAll(async () => {
    engine = await startEngine();
    const transport = createLeanTransport({ endpoint: engine.endpoint });
    const schema = (hash: string, range: string) => [
      { AttributeName: hash, KeyType: "HASH" as const },
      { AttributeName: range, KeyType: "RANGE" as const },
    ];
    for (const TableName of ["App", "Empty"])
      await transport.send("CreateTable", {
        TableName,
        BillingMode: "PAY_PER_REQUEST",
        KeySchema: schema("PK", "SK"),
        AttributeDefinitions: ["PK", "SK", "GSI1PK", "GSI1SK"].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
        GlobalSecondaryIndexes: [{ IndexName: "GSI1", KeySchema: schema("GSI1PK", "GSI1SK"), Projection: { ProjectionType: "ALL" } }],
      });
    for (const Item of items) await transport.send("PutItem", { TableName: "App", Item });
    await transport.close();
  });
  afterAll(() => engine.stop());

  const at = () => ["--endpoint", engine.endpoint];

  test("of a table is a model that reads and finds all of it", async () => {
    const { code, out, err } = await init("--from-table", "App", "--out", "edgetable.ts", ...at());
    expect({ code, out }).toEqual({ code: 0, out: "Wrote edgetable.ts.\n" });
    expect(err).toContain("Read 7 items of App by Scan, 0.5 RCU.\n");
    expect(err).toContain(
      "Drafted from 7 items of the table App: 1 node type, 1 part, 1 edge type.\nAll items read as rows, all rewrite to the same item.",
    );
    const model = readFileSync(join(folder.path, "edgetable.ts"), "utf8");
    expect(model).toContain('user: node({\n      key: "USER#{username}"');
    expect(model).toContain('of: "user",\n      key: "ORDER#{orderId}"');
    expect(model).toContain('follows: edge({ from: "user", to: "user"');
    expect(model).toContain('keys: { GSI1PK: "{key}", GSI1SK: "USER#{username}" }');
    expect(await run(["verify", ...at()], { cwd: folder.path })).toMatchObject({ code: 0 });
    expect(await run(["table", "diff", ...at()], { cwd: folder.path })).toMatchObject({ code: 0 });
    const neighbours = await run(["query", "user", "ann", "--out", "follows", "--json", ...at()], { cwd: folder.path });
    expect(JSON.parse(neighbours.out)).toMatchObject({ items: [{ to: { username: "ben" }, since: "2024-01-02" }] });
  });

  test("of a table that Edgetable writes says to use the model that writes it", async () => {
    const id = z.string();
    const user = node({ key: "USER#{id}", schema: z.object({ id, email: id }), unique: ["email"] });
    const edges = { leads: edge({ from: "user", to: "user", multiplicity: "one-to-many" }) };
    const db = defineGraph({ table: "Own", nodes: { user }, edges }).connect({ endpoint: engine.endpoint });
    await db.table.create();
    for (const name of ["ann", "ben"]) await db.user.create({ id: name, email: `${name}@x.org` }).orThrow();
    await db.leads.link({ id: "ann" }, { id: "ben" }).orThrow();
    await db.close();
    const { out, err } = await init("--from-table", "Own", ...at());
    // The record of the model, two markers and the counter of those whom nobody else may lead.
    expect(err).toContain("4 items are Edgetable's own, and left out: a model writes this table already. Use that model;");
    expect(out).not.toContain("~degree");
    expect(out).not.toContain("begins with");
  });

  test("goes to standard output, and a sample says that it is one", async () => {
    const { code, out, err } = await init("--from-table", "App", "--sample", "4", ...at());
    expect(code).toBe(0);
    expect(out).toMatch(/^\/\/ Drafted from 4 items of the table App/);
    expect(out).toContain("export const app = defineGraph({");
    expect(err).toMatch(/Read 4 items( of about 7)? of App by Scan, 0\.5 RCU\. For a larger sample: --sample\./);
  });

  test("of a file of NoSQL Workbench", async () => {
    folder.write("app.json", workbench({ ...table, TableName: "Other", TableData: [] }, table));
    expect(await init("--from-workbench", "app.json")).toMatchObject({
      code: 2,
      err: expect.stringContaining("several tables (Other, App). Choose one, such as --table Other."),
    });
    expect(await init("--from-workbench", "app.json", "--table", "Other")).toMatchObject({
      code: 2,
      err: expect.stringContaining("no sample data"),
    });
    expect(await init("--from-workbench", "app.json", "--table", "Ap")).toMatchObject({
      code: 2,
      err: expect.stringContaining('Did you mean "App"?'),
    });
    const { code, out } = await init("--from-workbench", "app.json", "--table", "App", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      table: "App",
      items: 7,
      read: 7,
      rewritten: 7,
      findings: [],
      misfits: [],
      model: expect.stringContaining("defineGraph"),
    });
  });

  test("refuses files that are none, tables that are not there, and options that do not fit", async () => {
    folder.write("a.json", "{");
    folder.write("b.json", "[]");
    folder.write("c.json", workbench({ TableName: "T" }));
    folder.write("d.json", workbench({ ...table, TableData: [{ PK: "bare" }] }));
    folder.write("mine.ts", "mine");
    const refused = async (part: string, ...argv: readonly string[]) => {
      const { code, out, err } = await init(...argv);
      expect({ code, out }, argv.join(" ")).toEqual({ code: 2, out: "" });
      expect(err.replaceAll(/\s+/g, " ")).toContain(part);
    };
    await refused("The file is not JSON", "--from-workbench", "a.json");
    await refused('The file has no "DataModel"', "--from-workbench", "b.json");
    await refused("no KeyAttributes.PartitionKey", "--from-workbench", "c.json");
    await refused("TableData[0].PK is not a value of DynamoDB", "--from-workbench", "d.json");
    await refused("none.json cannot be read: no such file", "--from-workbench", "none.json");
    await refused('There is no table "Nope" there', "--from-table", "Nope", ...at());
    await refused('The table "Empty" is empty', "--from-table", "Empty", ...at());
    await refused("mine.ts already exists", "--from-table", "App", "--out", "mine.ts", ...at());
    await refused("not both", "--from-table", "App", "--from-workbench", "a.json");
    await refused("--sample is for a draft", "--sample", "5");
    await refused("--sample is for --from-table", "--from-workbench", "a.json", "--sample", "5");
    await refused("one file, not a folder", "folder", "--from-table", "App");
    expect(readFileSync(join(folder.path, "mine.ts"), "utf8")).toBe("mine");
  });

  test("names the items that it does not describe, and exits with 1", async () => {
    // A fraction of more digits than a double holds is rounded when it is read.
    const precise = { ...items[3], SK: S("ORDER#9"), total: { N: "0.1000000000000000000001" } };
    const own = { PK: S("~model"), SK: S("#") };
    folder.write("e.json", workbench({ ...table, TableData: [...items, precise, own] }));
    const { code, out, err } = await init("--from-workbench", "e.json");
    expect(code, err).toBe(1);
    expect(out).toContain(
      "// All items read as rows, 7 of 8 rewrite to the same item.\n// To mend: order (USER#ann, ORDER#9): would be written with other values of total",
    );
    expect(err).toContain("- order (USER#ann, ORDER#9): would be written with other values of total");
  });
});
