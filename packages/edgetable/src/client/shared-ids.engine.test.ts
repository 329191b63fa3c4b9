import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part, type SentRequest } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();

/** Students and teachers in one space of ids, told apart by a type attribute or by what an index key begins with. */
const schoolIn = (table: string, typed: boolean) =>
  defineGraph({
    table,
    nodes: {
      student: node({ key: "{id}", schema: z.object({ id: text, name: text.optional(), mail: text.optional() }) }),
      teacher: node({ key: "{id}", schema: z.object({ id: text, name: text.optional(), mail: text.optional() }), unique: ["mail"] }),
    },
    parts: { note: part({ of: "student", key: "NOTE#{n}", schema: z.object({ n: text }) }) },
    edges: { advises: edge({ from: "teacher", to: "student", stored: "twice", schema: z.object({ since: text.optional() }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      sharedIds: true,
      ...(typed ? { typeAttribute: "Type" } : {}),
      indexes: { byKind: { partitionKey: "Kind", sortKey: "KindId" } },
      nodes: {
        student: { keys: { SK: "META", Kind: "STUDENT#ALL", KindId: "{id}" } },
        teacher: { keys: { SK: "META", Kind: "TEACHER#ALL", KindId: "{id}" } },
      },
      edges: { advises: { keys: { SK: "ADVISES#{to}" }, mirror: { keys: { SK: "ADVISED#{from}" } } } },
    },
  });

const id = { id: "7" };

test.each([true, false])("a write of one kind never meets another kind of the same id (type attribute: %s)", async (typed) => {
  const graph = schoolIn(engine.freshTableName("school"), typed);
  const sent: SentRequest[] = [];
  const db = graph.connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
  await db.table.create();
  await db.teacher.create({ ...id, name: "T", mail: "t@x" }).orThrow();
  await db.student.create({ id: "8", name: "S" }).orThrow();
  const before = await db.teacher.get(id);

  expect(await db.student.get(id)).toBeUndefined();
  expect(await db.student.delete(id)).toMatchObject({ ok: false, reason: "notFound" });
  expect(await db.student.update(id, { name: "x" })).toMatchObject({ ok: false, reason: "notFound" });
  expect(await db.student.put({ ...id, name: "x" })).toMatchObject({ ok: false, reason: "exists" });
  expect(await db.student.create({ ...id, name: "x" })).toMatchObject({ ok: false, reason: "exists" });
  expect(await db.advises.link({ id: "7" }, { id: "7" }, {})).toMatchObject({ ok: false, reason: "endMissing", end: "to" });
  expect(await db.advises.link({ id: "8" }, { id: "8" }, {})).toMatchObject({ ok: false, reason: "endMissing", end: "from" });
  expect(await db.teacher.delete({ id: "8" })).toMatchObject({ ok: false, reason: "notFound" });
  expect((await db.load([{ node: "student", row: { ...id, name: "x" } }])).failures).toHaveLength(1);
  await expect(db.batch([db.student.put({ ...id, name: "x" })]).run()).rejects.toMatchObject({ code: "plan.unsupported" });
  expect(await db.transact([db.student.update(id, { name: "x" })])).toMatchObject({ ok: false });
  expect(await db.teacher.get(id)).toEqual(before);

  sent.length = 0;
  expect(await db.teacher.update(id, { name: "U" }).orThrow()).toMatchObject({ row: { name: "U" } });
  const update = sent.at(-1)?.input as { readonly ConditionExpression: string };
  expect(update.ConditionExpression).toBe(
    typed
      ? "attribute_exists(PK) AND (attribute_not_exists(#1) OR #1 = :1)"
      : "attribute_exists(PK) AND (attribute_not_exists(#1) OR begins_with(#1, :1))",
  );
  await db.advises.link(id, { id: "8" }, { since: "2020" }).orThrow();
  expect(await db.teacher(id).out("advises").nodes()).toEqual([{ id: "8", name: "S" }]);
  await db.advises.unlink(id, { id: "8" }).orThrow();
  await db.note.put({ id: "8" }, { n: "1" }).orThrow();
  await db.student.put({ id: "8", name: "S2" }).orThrow();
  await db.student.delete({ id: "8" }).orThrow();
  await db.teacher.delete(id).orThrow();
  expect(await db.teacher.get(id)).toBeUndefined();
});

test("where no other kind can lie under a key, a write has no condition more", async () => {
  const graph = schoolIn(engine.freshTableName("school"), true);
  const sent: SentRequest[] = [];
  const db = graph.connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
  await db.table.create();
  await db.note.put({ id: "8" }, { n: "1" }).orThrow();
  expect(sent.at(-1)?.input).not.toHaveProperty("ConditionExpression");
});
