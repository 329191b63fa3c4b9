import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import type { Transport } from "../transport/transport.ts";
import { verify } from "../verify/index.ts";

// A change of a node's attribute changes its copies on edges and parts. Another program changes what else their index keys hold
// after they were found and before the transaction arrives.

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const id = z.string();
const graded = z.object({ grade: id.optional(), place: id.optional() });
const [ann, maths] = [{ id: "ann" }, { id: "maths" }];
const one = { at: "1" };

const modelIn = (table: string, stored: "once" | "twice") =>
  defineGraph({
    table,
    nodes: {
      student: node({ key: "STUDENT#{id}", schema: z.object({ id, name: id }) }),
      course: node({ key: "COURSE#{id}", schema: z.object({ id, name: id }) }),
    },
    edges: {
      takes: edge({
        from: "student",
        to: "course",
        schema: graded,
        ...(stored === "twice" && { stored }),
        copies: { from: { student: "name" }, to: { course: "name" } },
        onDelete: { from: "cascade", to: "cascade" },
      }),
    },
    parts: { lesson: part({ of: "course", key: "LESSON#{at}", schema: graded.extend({ at: id }), copies: { course: "name" } }) },
    indexes: {
      byCourse: { entries: { takes: { by: ["course", "grade"], sparse: true }, lesson: { by: ["course", "grade"], sparse: true } } },
      byStudent: { entries: { takes: { by: ["student", "grade"], sparse: true } } },
    },
  });

type Db = ReturnType<ReturnType<typeof modelIn>["connect"]>;
type Act = (db: Db) => PromiseLike<unknown>;

/** A program that another one comes before, at its first transaction. */
const interleaved = (transport: Transport, act: () => PromiseLike<unknown>): Transport => {
  let hasActed = false;
  return {
    ...transport,
    send: async (operation, input, options) => {
      if (!hasActed && operation === "TransactWriteItems") {
        hasActed = true;
        await act();
      }
      return transport.send(operation, input, options);
    },
    close: () => Promise.resolve(),
  };
};

const changes: Readonly<Record<string, Act>> = {
  "an update of the course": (db) => db.course.update(maths, { name: "new" }),
  "a put of the course": (db) => db.course.put({ ...maths, name: "new" }),
  "an update of the student": (db) => db.student.update(ann, { name: "new" }),
};
const meanwhile: Readonly<Record<string, Act>> = {
  "other values": (db) => db.transact([db.takes.relink(ann, maths, { grade: "B" }), db.lesson.update(maths, one, { grade: "B" })]),
  "a removal": (db) =>
    db.transact([db.takes.relink(ann, maths, { remove: ["grade"] }), db.lesson.update(maths, one, { remove: ["grade"] })]),
  "whole rows": (db) => db.transact([db.takes.put(ann, maths, { place: "x" }), db.lesson.put(maths, { ...one, grade: "C" })]),
  "a deletion": (db) => db.transact([db.takes.unlink(ann, maths), db.lesson.delete(maths, one)]),
  "a first value": (db) => db.transact([db.takes.relink(ann, maths, { grade: "A" }), db.lesson.update(maths, one, { grade: "A" })]),
};

describe.each(["once", "twice"] as const)("edges stored %s, and parts", (stored) => {
  describe.each(Object.entries(changes))("%s", (_, change) => {
    test.each(Object.entries(meanwhile))("beside %s", async (_, act) => {
      const table = engine.freshTableName("beside");
      const db = modelIn(table, stored).connect({ transport: engine.transport });
      await db.table.create();
      for (const grade of ["A", undefined]) {
        await db.student.put({ ...ann, name: "Ann" }).orThrow();
        await db.course.put({ ...maths, name: "Maths" }).orThrow();
        await db.takes.put(ann, maths, { grade }).orThrow();
        await db.lesson.put(maths, { ...one, grade }).orThrow();
        const late = modelIn(table, stored).connect({ transport: interleaved(engine.transport, () => act(db)) });
        expect(await change(late)).toMatchObject({ ok: true });
        expect(await verify(db, { settle: 5 })).toMatchObject({ clean: true, kinds: [] });
      }
    });
  });
});
