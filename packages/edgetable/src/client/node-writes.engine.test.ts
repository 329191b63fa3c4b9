import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { node, part } from "../schema/definition.ts";
import { nodeWrites } from "./writes.ts";
import { openWriteLab, type WriteLab } from "../test-support/write-lab.ts";

const student = node({
  key: "STUDENT#{studentId}",
  schema: z.object({
    studentId: z.string(),
    name: z.string().trim(),
    year: z.int().optional(),
    tags: z.array(z.string()).optional(),
    born: z.date().optional(),
  }),
  immutable: ["born"],
  dates: ["born"],
});
const account = node({
  key: "ACCOUNT#{id}",
  schema: z.object({ id: z.string(), email: z.string(), note: z.string().optional() }),
  unique: ["email"],
  version: true,
});
const line = part({ of: "student", key: "LINE#{n:4}", schema: z.object({ n: z.int(), text: z.string() }) });

let lab: WriteLab;
beforeAll(async () => {
  lab = await openWriteLab({ table: "Nodes", nodes: { student, account }, parts: { line } });
});
afterAll(() => lab.stop());
beforeEach(() => {
  lab.sent.length = 0;
  lab.hooks = {};
});

const codeOf = async (act: () => unknown): Promise<string> => {
  try {
    await act();
    return "none";
  } catch (error) {
    return error instanceof EdgetableError ? error.code : String(error);
  }
};

test("create is one conditional PutItem of the schema's output, and refuses a second one with the item in the way", async () => {
  const create = lab.node("student").create({ studentId: "S1", name: " John ", year: 3, tags: undefined });
  const explained = await create.explain();
  const outcome = await create;
  expect(lab.sent).toEqual([
    {
      operation: "PutItem",
      input: {
        TableName: "Nodes",
        Item: {
          pk: { S: "STUDENT#S1" },
          sk: { S: "#" },
          type: { S: "student" },
          studentId: undefined,
          name: { S: "John" },
          year: { N: "3" },
        },
        ConditionExpression: "attribute_not_exists(pk)",
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
        ReturnConsumedCapacity: "TOTAL",
      },
    },
  ]);
  expect(lab.shown(explained.requests[0]?.input)).toEqual(lab.sent[0]?.input);
  expect(outcome).toMatchObject({ ok: true, row: { studentId: "S1", name: "John", year: 3 }, atomic: { kind: "item" } });
  expect(outcome.cost).toEqual({ requests: 1, readUnits: 0, writeUnits: 1 });
  expect(explained.cost).toEqual({ requests: 1, readUnits: 0, writeUnits: 1 });

  const again = await lab.node("student").create({ studentId: "S1", name: "Jane" });
  expect(again).toMatchObject({ ok: false, reason: "exists", current: { studentId: "S1", name: "John", year: 3 } });
  expect(await codeOf(() => lab.node("student").create({ studentId: "S1", name: "Jane" }).orThrow())).toBe("execute.notWritten");
});

test("update is one UpdateItem that gives the new row, and does not create", async () => {
  await lab.node("student").create({ studentId: "S2", name: "Ann", year: 1, tags: ["a"] });
  lab.sent.length = 0;
  const outcome = await lab
    .node("student")
    .update({ studentId: "S2" }, { set: { name: "Anna" }, remove: ["year"] }, { if: { name: "Ann" } });
  expect(lab.sent).toHaveLength(1);
  expect(lab.sent[0]).toMatchObject({
    operation: "UpdateItem",
    input: {
      Key: { pk: { S: "STUDENT#S2" }, sk: { S: "#" } },
      UpdateExpression: "SET #0 = :0 REMOVE #1",
      ConditionExpression: "attribute_exists(pk) AND #0 = :1",
      ExpressionAttributeNames: { "#0": "name", "#1": "year" },
      ExpressionAttributeValues: { ":0": { S: "Anna" }, ":1": { S: "Ann" } },
      ReturnValues: "ALL_NEW",
    },
  });
  expect(outcome).toMatchObject({ ok: true, row: { studentId: "S2", name: "Anna", tags: ["a"] } });
  expect(await lab.node("student").update({ studentId: "S2" }, { name: "B" }, { if: { name: "Ann" } })).toMatchObject({
    ok: false,
    reason: "conditionFailed",
    current: { name: "Anna" },
  });
  expect(await lab.node("student").update({ studentId: "none" }, { name: "B" })).toMatchObject({ ok: false, reason: "notFound" });
});

test("what accumulates is one UpdateItem that gives the new row", async () => {
  await lab.node("student").create({ studentId: "S3", name: "Ann", year: 1 });
  lab.sent.length = 0;
  const update = lab.node("student").update({ studentId: "S3" }, { add: { year: 2 }, append: { tags: ["x"] } });
  expect((await update.explain()).notes.join()).toMatch(/execute\.ambiguous.*idempotent/);
  const outcome = await update;
  expect(outcome).toMatchObject({
    ok: true,
    atomic: { kind: "item" },
    row: { year: 3, tags: ["x"] },
    cost: { requests: 1, writeUnits: 1 },
  });
  expect(lab.sent.map(({ operation }) => operation)).toEqual(["UpdateItem"]);
  expect(lab.sent[0]?.input.UpdateExpression).toBe("SET #0 = list_append(if_not_exists(#0, :0), :1) ADD #1 :2");
  expect((await lab.items())["STUDENT#S3 / #"]).toMatchObject({ year: { N: "3" }, tags: { L: [{ S: "x" }] } });
});

test("nothing is added to what is no number, nor appended to what is no list, also where the item is read first", async () => {
  await lab.node("account").create({ id: "added", email: "a@x.org", note: "n" });
  const before = await lab.items();
  const unvalidated = nodeWrites({ ...lab.driver, validates: false }, lab.catalog.nodes["account"]!);
  for (const changes of [{ add: { email: 1 } }, { add: { email: new Set(["b"]) } }, { append: { email: ["b"] } }, { add: { note: 1 } }]) {
    expect(await codeOf(() => lab.node("account").update({ id: "added" }, changes))).toBe("schema.invalidValue");
    expect(await codeOf(() => unvalidated.update({ id: "added" }, changes))).toBe("execute.rejected");
  }
  expect(await lab.items()).toEqual(before);
  await lab.node("account").delete({ id: "added" });
});

test("delete gives what was there, and notFound the second time", async () => {
  await lab.node("student").create({ studentId: "S4", name: "Ann", born: new Date(0) });
  expect(await lab.node("student").delete({ studentId: "S4" })).toMatchObject({
    ok: true,
    row: { studentId: "S4", name: "Ann", born: new Date(0) },
  });
  expect(await lab.node("student").delete({ studentId: "S4" })).toMatchObject({ ok: false, reason: "notFound" });
});

test("misuse is refused with its code, before anything is sent", async () => {
  const students = lab.node("student");
  expect(await codeOf(() => students.update({ studentId: "S1" }, { nmae: "x" }))).toBe("schema.unknownAttribute");
  expect(await codeOf(() => students.create({ studentId: "S1", nmae: "x" }))).toBe("schema.unknownAttribute");
  expect(await codeOf(() => students.update({ studentId: "S1" }, { studentId: "S2" }))).toBe("schema.immutableAttribute");
  expect(await codeOf(() => students.update({ studentId: "S1" }, { born: new Date() }))).toBe("schema.immutableAttribute");
  expect(() => lab.node("account").update({ id: "A1" }, { version: 5 })).toThrow(
    expect.objectContaining({
      code: "schema.immutableAttribute",
      message: '"version" of "account" counts its writes and cannot be set. To check it, pass the option `ifVersion`.',
    }),
  );
  expect(() => lab.node("account").create({ id: "A9", email: "a@x.org", version: 5 })).toThrow(
    expect.objectContaining({
      code: "schema.immutableAttribute",
      message: '"version" of "account" counts its writes and cannot be set. Leave it out: a new item has version 1.',
    }),
  );
  expect(await codeOf(() => students.update({ studentId: "S1" }, { name: 5 }))).toBe("schema.invalidValue");
  expect(await codeOf(() => students.update({ studentId: "S1" }, { remove: ["name"] }))).toBe("schema.invalidValue");
  expect(await codeOf(() => students.update({ studentId: "S1" }, {}))).toBe("plan.invalidOption");
  expect(await codeOf(() => students.create({ studentId: "S1" }))).toBe("schema.invalidValue");
  expect(await codeOf(() => students.update({}, { name: "x" }))).toBe("schema.invalidValue");
  expect(await codeOf(() => students.update({ studentId: "" }, { name: "x" }))).toBe("keys.empty");
  expect(await codeOf(() => students.update({ studentId: 5 }, { name: "x" }))).toBe("keys.wrongType");
  expect(await codeOf(() => students.update({ studentId: "S1", name: "x" }, { name: "x" }))).toBe("schema.unknownAttribute");
  expect(await codeOf(() => students.update({ studentId: "S1" }, { name: "x" }, { ifVersion: 1 }))).toBe("plan.invalidOption");
  expect(await codeOf(() => students.create({ studentId: "S1", name: "x".repeat(410_000) }))).toBe("request.itemTooLarge");
  expect(lab.sent).toEqual([]);
});

test("a unique value is reserved by a marker, moved by an update and given back by a deletion", async () => {
  const accounts = lab.node("account");
  const created = await accounts.create({ id: "A1", email: "a@x" });
  expect(created).toMatchObject({ ok: true, row: { id: "A1", version: 1 }, atomic: { kind: "transaction", items: 2 } });
  expect((await lab.items())["~unique#account#email#a@x / #"]).toEqual({
    pk: { S: "~unique#account#email#a@x" },
    sk: { S: "#" },
    type: { S: "~unique" },
    "~owner": { S: '["A1"]' },
  });
  expect(await accounts.create({ id: "A2", email: "a@x" })).toMatchObject({ ok: false, reason: "notUnique", attribute: "email" });
  expect(await codeOf(() => accounts.create({ id: "A2", email: "x".repeat(2048) }))).toBe("keys.tooLong");

  lab.sent.length = 0;
  expect(await accounts.update({ id: "A1" }, { email: "b@x" })).toMatchObject({ ok: true, row: { id: "A1", email: "b@x", version: 2 } });
  expect(lab.sent.map(({ operation }) => operation)).toEqual(["GetItem", "TransactWriteItems"]);
  expect(Object.keys(await lab.items())).toEqual(expect.arrayContaining(["~unique#account#email#b@x / #"]));
  expect(await accounts.create({ id: "A2", email: "a@x" })).toMatchObject({ ok: true });
  expect(await accounts.put({ id: "A2", email: "b@x" })).toMatchObject({ ok: false, reason: "notUnique" });
  expect(await accounts.put({ id: "A2", email: "c@x" })).toMatchObject({ ok: true, row: { version: 2 } });
  expect(await accounts.delete({ id: "A1" })).toMatchObject({ ok: true });
  expect(Object.keys(await lab.items()).filter((key) => key.startsWith("~unique"))).toEqual(["~unique#account#email#c@x / #"]);
});

test("a version rises with every write, and an older one is refused", async () => {
  const accounts = lab.node("account");
  await accounts.create({ id: "V1", email: "v@x" });
  lab.sent.length = 0;
  expect(await accounts.update({ id: "V1" }, { note: "n" }, { ifVersion: 1 })).toMatchObject({ ok: true, row: { version: 2, note: "n" } });
  expect(lab.sent.map(({ operation }) => operation)).toEqual(["UpdateItem"]);
  expect(await accounts.update({ id: "V1" }, { note: "m" }, { ifVersion: 1 })).toMatchObject({
    ok: false,
    reason: "versionConflict",
    current: { version: 2 },
  });
  expect(await accounts.update({ id: "V1" }, { note: "m" })).toMatchObject({
    ok: true,
    row: { version: 3, note: "m" },
    atomic: { kind: "item" },
    cost: { requests: 1 },
  });
  expect(await accounts.delete({ id: "V1" }, { ifVersion: 3 })).toMatchObject({ ok: true });
});

test("an asynchronous schema is waited for, and refuses before anything is sent", async () => {
  const student = lab.catalog.nodes["student"]!;
  const schema = z.object({ studentId: z.string(), name: z.string().refine(async (name) => name !== "taken") });
  const catalog = {
    ...lab.catalog,
    nodes: { ...lab.catalog.nodes, student: { ...student, definition: { ...student.definition, schema } } },
  };
  const slow = nodeWrites({ ...lab.driver, catalog }, catalog.nodes.student);
  expect((await slow.create({ studentId: "S9", name: "x" }).explain()).requests).toHaveLength(1);
  expect(await codeOf(() => slow.create({ studentId: "S9", name: "taken" }))).toBe("schema.invalidValue");
  expect(await codeOf(() => slow.update({ studentId: "S9" }, { name: "taken" }))).toBe("schema.invalidValue");
  expect(lab.sent).toEqual([]);
  expect(await slow.create({ studentId: "S9", name: "x" })).toMatchObject({ ok: true });
});

test("parts are written in their node's partition", async () => {
  const lines = lab.part("line");
  expect(await lines.create({ studentId: "S1" }, { n: 7, text: "a" })).toMatchObject({
    ok: true,
    row: { studentId: "S1", n: 7, text: "a" },
  });
  expect(await lines.update({ studentId: "S1" }, { n: 7 }, { text: "b" })).toMatchObject({
    ok: true,
    row: { studentId: "S1", n: 7, text: "b" },
  });
  expect((await lab.items())["STUDENT#S1 / LINE#0007"]).toEqual({
    pk: { S: "STUDENT#S1" },
    sk: { S: "LINE#0007" },
    type: { S: "line" },
    text: { S: "b" },
  });
  expect(await lines.delete({ studentId: "S1" }, { n: 7 })).toMatchObject({ ok: true });
});
