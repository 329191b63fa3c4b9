import { defineGraph, edge, node } from "edgetable";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { ownGraph } from "./models.ts";
import { openTables, untyped, type Tables } from "./open-tables.ts";
import { errorOf } from "./refusal.ts";

let engine: Tables["engine"];
let inAdopted: Tables["inAdopted"];

beforeAll(async () => {
  ({ engine, inAdopted } = await openTables());
});
afterAll(() => engine.close());

describe("a table that does not fit", () => {
  test("whose keys are called differently is left as it is: table.mismatch", async () => {
    const error = await errorOf(() => ownGraph(inAdopted.name).connect({ transport: engine.transport }).table.create());
    expect(error.code).toBe("table.mismatch");
    expect(error.message).toContain("the model says HASH pk, RANGE sk, the table HASH PK, RANGE SK");
    expect(error.message).toContain("Change the model's layout, or use another table");
  });

  test("whose keys are called differently says so in every call", async () => {
    const db = ownGraph(inAdopted.name).connect({ transport: engine.transport });
    const id = { studentId: "S1" };
    const calls = {
      get: () => db.student.get(id),
      getMany: () => db.student.getMany([id]),
      create: () => db.student.create({ ...id, name: "Ann" }),
      update: () => db.student.update(id, { name: "Ann" }),
      transact: () => db.transact([db.student.delete(id), db.student.create({ studentId: "S2", name: "Ann" })]),
      collection: () => db.student(id).collection(),
    };
    for (const [name, call] of Object.entries(calls))
      expect(await errorOf(call), name).toMatchObject({
        code: "execute.rejected",
        message: expect.stringContaining("`edgetable table diff`"),
      });
  });

  test("that is not there: execute.tableNotFound, and reading does not create it", async () => {
    const absent = engine.freshTableName("absent");
    const db = ownGraph(absent).connect({ transport: engine.transport });
    expect(await errorOf(() => db.student.get({ studentId: "S1" }))).toMatchObject({ code: "execute.tableNotFound", retryable: false });
    expect(await errorOf(() => db.student.create({ studentId: "S1", name: "Ann" }))).toMatchObject({ code: "execute.tableNotFound" });
    expect(await db.table.diff()).toBeUndefined();
  });
});

describe("a model", () => {
  test("with several mistakes is refused with all of them: schema.invalidModel", async () => {
    const key = "STUDENT#{studntId}" as string;
    const student = node({ key, schema: z.object({ studentId: z.string() }) });
    const enrolledIn = edge({ from: "student", to: "cuorse" });
    const error = await errorOf(() => defineGraph({ table: "x", nodes: { student, course: student }, edges: untyped({ enrolledIn }) }));
    expect(error.code).toBe("schema.invalidModel");
    for (const words of ['"x" is not a valid DynamoDB name', "studntId", '"cuorse" is not a node type', 'Did you mean "course"?'])
      expect(error.message).toContain(words);
  });
});
