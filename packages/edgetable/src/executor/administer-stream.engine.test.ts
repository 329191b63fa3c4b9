import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, node } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const connect = (table: string) =>
  defineGraph({ table, nodes: { student: node({ key: "STUDENT#{id}", schema: z.object({ id: z.string() }) }) } }).connect({
    transport: engine.transport,
  });
const streamOf = async (table: string) => {
  const { Table } = await engine.transport.send("DescribeTable", { TableName: table });
  return { enabled: Table?.StreamSpecification?.StreamEnabled ?? false, view: Table?.StreamSpecification?.StreamViewType };
};

test("a table is created with a stream if it is wanted, and without one otherwise", async () => {
  const [plain, recorded] = [engine.freshTableName("plain"), engine.freshTableName("recorded")];
  await connect(plain).table.create();
  expect(await streamOf(plain)).toEqual({ enabled: false, view: undefined });
  expect(await connect(recorded).table.create({ stream: true })).toEqual({ created: true });
  expect(await streamOf(recorded)).toEqual({ enabled: true, view: "NEW_AND_OLD_IMAGES" });
});

test("a table that exists gets its stream later, once", async () => {
  const table = engine.freshTableName("later");
  const db = connect(table);
  await db.table.create();
  expect(await db.table.create({ stream: true })).toEqual({ created: false });
  expect(await streamOf(table)).toEqual({ enabled: true, view: "NEW_AND_OLD_IMAGES" });
  const arn = (await engine.transport.send("DescribeTable", { TableName: table })).Table?.LatestStreamArn;
  await db.table.create({ stream: true });
  await db.table.create();
  expect((await engine.transport.send("DescribeTable", { TableName: table })).Table?.LatestStreamArn).toBe(arn);
});

test("a stream without images is refused, and left as it is", async () => {
  const table = engine.freshTableName("keys");
  const db = connect(table);
  await db.table.create();
  const StreamSpecification = { StreamEnabled: true, StreamViewType: "KEYS_ONLY" } as const;
  await engine.transport.send("UpdateTable", { TableName: table, StreamSpecification });
  await expect(db.table.create({ stream: true })).rejects.toMatchObject({
    code: "stream.images",
    message: expect.stringContaining("records KEYS_ONLY"),
  });
  expect(await streamOf(table)).toEqual({ enabled: true, view: "KEYS_ONLY" });
});

test("an option of another kind is refused", async () => {
  await expect(connect("any").table.create({ stream: "yes" as never })).rejects.toMatchObject({ code: "plan.invalidOption" });
});

test("a table without the stream that the model's derived attributes need differs from the model", async () => {
  const id = z.object({ id: z.string() });
  const graph = defineGraph({
    table: engine.freshTableName("unkept"),
    nodes: { course: node({ key: "COURSE#{id}", schema: id, derived: { near: count({ out: "by", freshness: "stream" }) } }) },
    edges: { by: edge({ from: "course", to: "course" }) },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  expect(await db.table.diff()).toEqual([{ place: "stream", model: 'on, it keeps "near"', table: "off", harmless: false }]);
  await db.table.create({ stream: true });
  expect(await db.table.diff()).toEqual([]);
});
