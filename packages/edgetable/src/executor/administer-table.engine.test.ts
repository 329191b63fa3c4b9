import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph } from "../client/define-graph.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { node, type TableSettings } from "../schema/definition.ts";
import { virtualClock } from "@edgetable/testing";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import type { Operation } from "../transport/operations.ts";
import type { Transport } from "../transport/transport.ts";
import { verify } from "../verify/index.ts";

let engine: TestEngine;
let table = "";
let sent: Operation[] = [];
/** Statuses that the table is told to have, one for each description, before the true one. */
let statuses: string[] = [];
/** Whether the table goes once those statuses were told. */
let goes = false;
/** Operations whose first answer is lost. */
let lost: Operation[] = [];
/** How many that create the table wait for each other before one of them is answered. */
let abreast = 1;

const creating = (): number => sent.filter((one) => one === "CreateTable").length;
const haveMet = (): boolean => creating() >= abreast;

const transport: Transport = {
  send: async (operation, input, options) => {
    sent.push(operation);
    if (operation === "CreateTable") while (!haveMet()) await new Promise((resolve) => setImmediate(resolve));
    if (goes && operation === "DescribeTable" && statuses.length === 0) {
      goes = false;
      await engine.transport.send("DeleteTable", { TableName: table });
    }
    const output = await engine.transport.send(operation, input, options);
    if (lost.includes(operation)) {
      lost = lost.filter((one) => one !== operation);
      throw new EdgetableError("execute.connection", "the answer is lost", { retryable: true, details: { ambiguous: true } });
    }
    const status = operation === "DescribeTable" ? statuses.shift() : undefined;
    return status === undefined ? output : ({ Table: { ...(output as { Table: object }).Table, TableStatus: status } } as typeof output);
  },
  close: async () => undefined,
};
const connect = (key = "STUDENT#{id}") =>
  defineGraph({ table, nodes: { student: node({ key, schema: z.object({ id: z.string() }) }) } }).connect({
    transport,
    advanced: { effects: virtualClock({ start: Date.now() }) },
  });

beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());
beforeEach(() => {
  table = engine.freshTableName("administered");
  sent = [];
  statuses = [];
  goes = false;
  lost = [];
  abreast = 1;
});

test("of several that create the table at once one has created it, and all have it", async () => {
  abreast = 5;
  const all = await Promise.all(Array.from({ length: 5 }, async () => connect().table.create()));
  expect(all.filter(({ created }) => created)).toHaveLength(1);
  expect(creating()).toBe(5);
  await connect().student.create({ id: "S" }).orThrow();
});

test("of several that delete it at once all find it gone", async () => {
  await connect().table.create();
  const all = await Promise.all(Array.from({ length: 5 }, async () => connect().table.delete()));
  // "If table is already in the DELETING state, no error is returned" (DeleteTable's reference): several may have deleted it.
  expect(all.some(({ deleted }) => deleted)).toBe(true);
  expect(await connect().table.diff()).toBeUndefined();
});

test("a lost answer is recognised: the table that is there is the own one, and the one that is gone too", async () => {
  lost = ["CreateTable"];
  expect(await connect().table.create()).toEqual({ created: true });
  expect(sent).toEqual(["DescribeTable", "CreateTable", "CreateTable", "DescribeTable", "UpdateItem"]);
  lost = ["DeleteTable"];
  expect(await connect().table.delete()).toEqual({ deleted: true });
});

test("a table that is being deleted is waited for, and created anew", async () => {
  await connect().table.create();
  statuses = ["DELETING", "DELETING"];
  goes = true;
  sent = [];
  expect(await connect().table.create()).toEqual({ created: true });
  expect(sent).toEqual(["DescribeTable", "DescribeTable", "DescribeTable", "CreateTable", "DescribeTable", "UpdateItem"]);
});

test("a table that is being created is deleted once that is done, as the service wants it", async () => {
  await connect().table.create();
  statuses = ["CREATING", "UPDATING"];
  sent = [];
  expect(await connect().table.delete()).toEqual({ deleted: true });
  expect(sent).toEqual(["DescribeTable", "DescribeTable", "DescribeTable", "DeleteTable", "DescribeTable"]);
});

test("a table that somebody deletes while it is created is told of, not waited for", async () => {
  await connect().table.create();
  statuses = ["CREATING", "DELETING"];
  await expect(connect().table.create()).rejects.toMatchObject({
    code: "execute.tableNotFound",
    message: expect.stringContaining("is being deleted") as string,
  });
});

test("a table that does not fit says whether a migration, another name or another layout mends it", async () => {
  const schema = z.object({ id: z.string(), name: z.string(), ends: z.number(), until: z.number() });
  const student = node({ key: "STUDENT#{id}", schema });
  const messageOf = async (model: object): Promise<string> => {
    const graph = defineGraph({ table, nodes: { student }, ...model } as Parameters<typeof defineGraph>[0]);
    return graph
      .connect({ transport: engine.transport })
      .table.create()
      .then(String, (error: Error) => error.message);
  };
  const byName = { entries: { student: "name" } };
  await messageOf({ indexes: { byName }, nodes: { student: node({ key: "STUDENT#{id}", schema, ttl: "ends" }) } });
  const migrate = "To change the table, run edgetable migrate run --finish, or db.migrations.run({ finish: true }),";
  const other = { ...byName, projection: "KEYS_ONLY" };
  const layout = { partitionKey: "PK", sortKey: "SK" };
  const said = [
    await messageOf({ indexes: { byName, byEnd: { entries: { student: "ends:number" } } } }),
    await messageOf({ indexes: { byName }, nodes: { student: node({ key: "STUDENT#{id}", schema, ttl: "until" }) } }),
    await messageOf({ indexes: { byName: other } }),
    await messageOf({ layout }),
  ];
  expect(said[0]).toContain(`index byEnd: the model says HASH byEndPk, RANGE byEndSk, the table missing. ${migrate}`);
  expect(said[1]).toContain(`time to live: the model says until, the table ends. ${migrate}`);
  expect(said[2]).toContain(`DynamoDB cannot change an index: give the new one another name. ${migrate}`);
  expect(said[3]).toContain("Change the model's layout, or use another table.");
  for (const one of said.slice(0, 3)) expect(one).not.toContain("another table");
});

test("a migration and a verification of a table with other keys say which keys differ", async () => {
  const student = node({ key: "STUDENT#{id}", schema: z.object({ id: z.string() }) });
  const other = engine.freshTableName("other-keys");
  const layout = { partitionKey: "PK", sortKey: "SK" };
  await defineGraph({ table: other, nodes: { student }, layout }).connect({ transport: engine.transport }).table.create();
  const db = defineGraph({ table: other, nodes: { student } }).connect({ transport: engine.transport });
  const differing = {
    code: "table.mismatch",
    message: expect.stringContaining("table keys: the model says HASH pk, RANGE sk, the table HASH PK, RANGE SK") as unknown,
  };
  await expect(db.migrations.plan()).rejects.toMatchObject(differing);
  await expect(db.migrations.run()).rejects.toMatchObject(differing);
  await expect(verify(db, { job: "nightly" })).rejects.toMatchObject(differing);
});

test("an index key of several attributes is refused with the engine's words, and what to do", async () => {
  const layout = { partitionKey: "pk", indexes: { both: { partitionKey: ["a", "b"], sortKey: ["c", "d"] } } };
  const student = node({ key: "STUDENT#{id}", schema: z.object({ id: z.string() }) });
  const db = defineGraph({ table, nodes: { student }, layout }).connect({ transport });
  await expect(db.table.create()).rejects.toMatchObject({
    code: "execute.rejected",
    message: expect.stringMatching(
      /Key Schema.*This engine lacks index keys of several attributes \("both"\): use DynamoDB or moto/,
    ) as unknown,
  });
});

test("a new table has the stream, the protection and the backups that the model's settings name, and an old one stays as it is", async () => {
  const settings = { stream: true, deletionProtection: true, pointInTimeRecovery: true };
  const inputs: unknown[] = [];
  const open = (wanted: TableSettings | undefined, knowsBackups = true) => {
    const student = node({ key: "STUDENT#{id}", schema: z.object({ id: z.string() }) });
    const graph = defineGraph({ table, nodes: { student }, ...(wanted && { settings: wanted }) });
    const send: Transport["send"] = async (operation, input, options) => {
      if (operation !== "UpdateContinuousBackups") return engine.transport.send(operation, input, options);
      inputs.push(input);
      if (!knowsBackups) throw new EdgetableError("execute.rejected", "unknown", { details: { fault: "UnknownOperationException" } });
      return { ContinuousBackupsDescription: {} } as never;
    };
    return graph.connect({ transport: { send, close: () => undefined } });
  };
  const found = async () => {
    const { Table } = await engine.transport.send("DescribeTable", { TableName: table });
    return { stream: Table?.StreamSpecification?.StreamEnabled ?? false, deletionProtection: Table?.DeletionProtectionEnabled ?? false };
  };
  expect(await open(settings).table.create()).toEqual({ created: true });
  expect(await found()).toEqual({ stream: true, deletionProtection: true });
  expect(inputs).toEqual([{ TableName: table, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } }]);
  expect((await open(settings, false).migrations.plan()).steps).toEqual([]);
  await open(settings).table.create();
  expect(inputs).toHaveLength(1);

  table = engine.freshTableName("administered");
  expect(await open(settings, false).table.create()).toEqual({ created: true });
  expect(inputs).toHaveLength(2);

  for (const wanted of [undefined, { stream: false, deletionProtection: false, pointInTimeRecovery: false }]) {
    table = engine.freshTableName("administered");
    await open(wanted).table.create();
    expect(await found()).toEqual({ stream: false, deletionProtection: false });
    expect(inputs).toHaveLength(2);
    await open(settings).table.create();
    expect(await found()).toEqual({ stream: false, deletionProtection: false });
  }
});
