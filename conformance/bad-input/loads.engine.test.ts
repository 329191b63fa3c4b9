import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openTables, untyped, type Tables } from "./open-tables.ts";
import { errorOf, scan } from "./refusal.ts";

let engine: Tables["engine"];
let own: Tables["own"];
let inOwn: Tables["inOwn"];

beforeAll(async () => {
  ({ engine, own, inOwn } = await openTables());
});
afterAll(() => engine.close());

describe("rows of a load that is not strict", () => {
  test("fail alone, named with position and reason; the others are written", async () => {
    const rows = [
      { node: "course", row: { courseId: "L2" } },
      { node: "course", row: { courseId: 3 } },
      { node: "course", row: { courseId: "" } },
      { node: "course", row: { courseId: "L4" } },
    ];
    const report = await own.load(untyped(rows));
    expect(report.failures.map(({ row, error }) => [row, error.code])).toEqual([
      [1, "schema.invalidValue"],
      [2, "keys.empty"],
    ]);
    expect(await own.course.getMany([{ courseId: "L2" }, { courseId: "L4" }])).toEqual([{ courseId: "L2" }, { courseId: "L4" }]);
  });
});

describe("rows of a load that make one key", () => {
  const rows = ["a", "b", "c"].map((name) => ({ node: "student" as const, row: { studentId: "L1", name } }));

  test("are reported, and stop a load that refuses them before the second is written: load.collision", async () => {
    const error = await errorOf(() => own.load(rows, { collisions: "refuse" }));
    expect(error).toMatchObject({
      code: "load.collision",
      retryable: false,
      details: { rows: [0, 1], of: "student", report: { failed: 0 } },
    });
    expect(error.message).toContain("Correct the input or the key");
    expect((await scan(inOwn)).join()).not.toContain('{"S":"b"}');
  });
});
