import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, node, part } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { verify } from "../verify/index.ts";

// A table of somebody else, whose own keys hold what is copied from a node: a course's edges and parts lie in the order of names.

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const id = z.string();
const [ann, maths, none] = [{ id: "ann" }, { id: "maths" }, { id: "none" }];
const modelIn = (table: string, settings: object) =>
  defineGraph({
    table,
    nodes: {
      student: node({ key: "STUDENT#{id}", schema: z.object({ id }) }),
      course: node({ key: "COURSE#{id}", schema: z.object({ id, name: id }), derived: { students: count({ in: "takes" }) } }),
    },
    edges: {
      takes: edge({
        from: "student",
        to: "course",
        schema: z.object({ grade: z.int().optional() }),
        copies: { to: { course: "name" } },
        onDelete: { from: "cascade", to: "cascade" },
        ...settings,
      }),
    },
    parts: {
      lesson: part({
        of: "course",
        key: "LESSON#{at}",
        schema: z.object({ at: id, room: id.optional() }),
        copies: { course: "name" },
        timestamps: true,
      }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      nodes: { student: { keys: { SK: "student" } }, course: { keys: { SK: "course" } } },
      edges: { takes: { keys: { SK: "TAKES#{course}#{to.id}", GSI1PK: "{to}", GSI1SK: "TAKES#{from.id}" } } },
      parts: { lesson: { keys: { SK: "LESSON#{course}#{at}" } } },
    },
  });

test.each([{}, { timestamps: true }, { version: true }, { maxDegree: { from: 2 } }])(
  "edges and parts with such keys are linked, put, changed, loaded and follow the node (%o)",
  async (settings) => {
    const db = modelIn(engine.freshTableName("copies-in-keys"), settings).connect({ transport: engine.transport });
    await db.table.create();
    await db.student.create(ann).orThrow();
    await db.course.create({ ...maths, name: "Maths" }).orThrow();
    const edgeOf = async () => (await db.student(ann).out("takes").edges()).map(({ course, grade }) => [course, grade]);
    const lessons = async () => (await db.course(maths).parts("lesson").all()).map(({ course, at, room }) => [course, at, room]);
    await db.takes.put(ann, maths, { grade: 1 }).orThrow();
    await db.lesson.put(maths, { at: "8", room: "1" }).orThrow();
    expect([await edgeOf(), await lessons()]).toEqual([[["Maths", 1]], [["Maths", "8", "1"]]]);
    await db.course.update(maths, { name: "Algebra" }).orThrow();
    await db.takes.put(ann, maths, { grade: 2 }).orThrow();
    await db.lesson.put(maths, { at: "8", room: "2" }).orThrow();
    expect([await edgeOf(), await lessons()]).toEqual([[["Algebra", 2]], [["Algebra", "8", "2"]]]);
    await db.transact([db.course.update(maths, { name: "Logic" }), db.lesson.create(maths, { at: "9" })]).orThrow();
    const loaded = await db.load([
      { edge: "takes", from: ann, to: maths, attributes: { grade: 3 } },
      { part: "lesson", owner: maths, row: { at: "8", room: "3" } },
    ]);
    expect(loaded).toMatchObject({ failed: 0 });
    expect([await edgeOf(), await lessons()]).toEqual([
      [["Logic", 3]],
      [
        ["Logic", "8", "3"],
        ["Logic", "9", undefined],
      ],
    ]);
    expect(await db.course.get(maths)).toMatchObject({ students: 1 });
    expect(await db.takes.put(ann, none, {})).toMatchObject({ ok: false, reason: "endMissing" });
    expect(await db.lesson.put(none, { at: "8" })).toMatchObject({ ok: false, reason: "endMissing" });
    expect(await verify(db, { settle: 5 })).toMatchObject({ clean: true, kinds: [] });
  },
);
