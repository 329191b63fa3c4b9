import { describe, expect, test } from "vitest";
import { z } from "zod";
import { average, count, defineGraph, distinct, edge, max, min, node, part, sum } from "../index.ts";
import { factsLabOfFile, openFactsLab, sessionOn } from "./facts-lab.test-support.ts";
import { maintainFacts } from "./maintain-facts.ts";

const id = z.string();
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      student: node({ key: "STUDENT#{id}", schema: z.object({ id, name: z.string().optional() }) }),
      course: node({
        key: "COURSE#{id}",
        schema: z.object({ id, name: z.string() }),
        version: true,
        derived: {
          students: count({ in: "enrolledIn", freshness: "stream" }),
          passed: count({ in: "enrolledIn", where: { grade: { gte: 5 } }, freshness: "stream" }),
          points: sum({ in: "enrolledIn", of: "grade", freshness: "stream" }),
          mean: average({ in: "enrolledIn", of: "grade", freshness: "stream" }),
          worst: min({ in: "enrolledIn", of: "grade" }),
          best: max({ in: "enrolledIn", of: "grade" }),
          kinds: distinct({ in: "enrolledIn", of: "grade" }),
          attendees: distinct({ in: "enrolledIn" }),
          rooms: count({ parts: "room", freshness: "stream" }),
        },
      }),
    },
    edges: { enrolledIn: edge({ from: "student", to: "course", schema: z.object({ grade: z.number().optional() }) }) },
    parts: { room: part({ of: "course", key: "ROOM#{room}", schema: z.object({ room: z.string() }) }) },
    indexes: { byStudents: { entries: { course: "students:number" } } },
  });

const { opened, drain } = factsLabOfFile(modelIn);

let round = 0;
const scene = async () => {
  round++;
  const { db } = opened();
  const [ann, bob, maths] = [{ id: `ann${round}` }, { id: `bob${round}` }, { id: `maths${round}` }];
  for (const one of [ann, bob]) await db.student.create(one).orThrow();
  await db.course.create({ ...maths, name: "x" }).orThrow();
  return { db, ann, bob, maths };
};
const derivedOf = async (course: { readonly id: string }): Promise<unknown> => {
  const { id: _i, name: _n, ...rest } = (await opened().db.course.get(course, { consistent: true })) as Record<string, unknown>;
  return rest;
};
const none = { version: 1, students: 0, passed: 0, points: 0, kinds: 0, attendees: 0, rooms: 0 };

/** A session that notes its requests; `before` runs before each. */
const recording = (before: (operation: string) => Promise<unknown> = () => Promise.resolve()) => {
  const sent: string[] = [];
  const { transport } = opened().lab.engine;
  const session = sessionOn(opened().db.catalog, {
    ...transport,
    send: async (operation, input, options) => {
      sent.push(operation);
      await before(operation);
      // A slow engine is waited for: an attempt that is given up and repeated would count twice.
      return transport.send(operation, input, { ...options, timeout: 60_000 });
    },
  });
  return { session, sent };
};

describe("aggregates by the stream", () => {
  test("follow links, relinks and unlinks", async () => {
    const { db, ann, bob, maths } = await scene();
    expect(await derivedOf(maths)).toEqual(none);
    await db.enrolledIn.link(ann, maths, { grade: 0.1 }).orThrow();
    await db.enrolledIn.link(bob, maths, { grade: 0.2 }).orThrow();
    await db.room.create(maths, { room: "1" }).orThrow();
    expect(await derivedOf(maths)).toEqual(none);
    await drain();
    const two = { version: 1, students: 2, passed: 0, points: 0.3, mean: 0.15, worst: 0.1, best: 0.2, kinds: 2, attendees: 2, rooms: 1 };
    expect(await derivedOf(maths)).toEqual(two);
    await db.enrolledIn.relink(ann, maths, { grade: 7 }).orThrow();
    await drain();
    expect(await derivedOf(maths)).toMatchObject({ passed: 1, points: 7.2, mean: 3.6, worst: 0.2, best: 7 });
    await db.enrolledIn.unlink(bob, maths).orThrow();
    await drain();
    expect(await derivedOf(maths)).toMatchObject({ students: 1, worst: 7, best: 7, kinds: 1, attendees: 1 });
    await db.enrolledIn.unlink(ann, maths).orThrow();
    await db.room.delete(maths, { room: "1" }).orThrow();
    await drain();
    expect(await derivedOf(maths)).toEqual(none);
  });

  test("move the index keys that hold them", async () => {
    const { db, ann, bob, maths } = await scene();
    await db.enrolledIn.link(ann, maths, {}).orThrow();
    await db.enrolledIn.link(bob, maths, {}).orThrow();
    await drain();
    const found = await db.find("course").where({ students: 2 }).page({ limit: 100 });
    expect(found.items).toMatchObject([maths]);
  });

  test("write nothing where the node is gone, and wait for the node that comes", async () => {
    const { db, ann, maths } = await scene();
    await db.enrolledIn.link(ann, maths, { grade: 6 }).orThrow();
    await db.course.delete(maths).orThrow();
    await drain();
    expect(await db.course.get(maths, { consistent: true })).toBeUndefined();
    await db.course.create({ ...maths, name: "again" }).orThrow();
    await drain();
    expect(await derivedOf(maths)).toMatchObject({ students: 1, passed: 1, points: 6, worst: 6 });
  });

  test("come back into a node that a put without them replaced", async () => {
    const { db, ann, maths } = await scene();
    await db.enrolledIn.link(ann, maths, { grade: 6 }).orThrow();
    await drain();
    const { engine, table } = opened().lab;
    const key = { pk: { S: `COURSE#${maths.id}` }, sk: { S: "#" } };
    await engine.transport.send("PutItem", { TableName: table, Item: { ...key, type: { S: "course" }, name: { S: "old" } } });
    await drain();
    expect(await derivedOf(maths)).toMatchObject({ students: 1, points: 6, worst: 6, kinds: 1 });
  });

  test("come back where a program dropped one and kept the revision, and never stop a put", async () => {
    const { db, ann, maths } = await scene();
    await db.enrolledIn.link(ann, maths, { grade: 6 }).orThrow();
    await drain();
    const { engine, table } = opened().lab;
    const Key = { pk: { S: `COURSE#${maths.id}` }, sk: { S: "#" } };
    const drop = () => engine.transport.send("UpdateItem", { TableName: table, Key, UpdateExpression: "REMOVE students, worst" });
    await drop();
    await drain();
    expect(await derivedOf(maths)).toMatchObject({ students: 1, worst: 6 });
    await drop();
    await db.course.put({ ...maths, name: "y" }).orThrow();
    await drain();
    expect(await derivedOf(maths)).toMatchObject({ students: 1, worst: 6 });
  });

  test("end the same, however often and in whatever order records come", async () => {
    const { db, ann, bob, maths } = await scene();
    await opened().lab.take();
    await db.enrolledIn.link(ann, maths, { grade: 6 }).orThrow();
    await db.enrolledIn.relink(ann, maths, { grade: 3 }).orThrow();
    await db.enrolledIn.link(bob, maths, { grade: 3 }).orThrow();
    await db.enrolledIn.unlink(ann, maths).orThrow();
    await db.enrolledIn.link(ann, maths, { grade: 3 }).orThrow();
    await db.enrolledIn.unlink(bob, maths).orThrow();
    const records = await opened().lab.take();
    const handle = maintainFacts(opened().session, { indexLag: 0 })!;
    await Promise.all([handle([...records, ...records].reverse()), handle(records), ...records.map((one) => handle([one]))]);
    await drain();
    expect(await derivedOf(maths)).toMatchObject({ students: 1, passed: 0, points: 3, mean: 3, worst: 3, best: 3, kinds: 1, attendees: 1 });
    await Promise.all(records.map((one) => handle([one])));
    expect(await derivedOf(maths)).toMatchObject({ students: 1, points: 3 });
  });

  test("share one transaction for the rows of a node, in as many as they take", async () => {
    const { db, maths } = await scene();
    const many = Array.from({ length: 230 }, (_, at) => ({ id: `many${round}-${at}` }));
    await db.batch(many.map((one) => db.enrolledIn.put(one, maths, { grade: 1 })));
    const records = await opened().lab.take();
    const { session, sent } = recording();
    await maintainFacts(session)!(records);
    expect(sent.filter((one) => one === "TransactWriteItems")).toHaveLength(3);
    expect(await derivedOf(maths)).toMatchObject({ students: 230, points: 230, attendees: 230, kinds: 1 });
  });

  test("of several nodes share transactions, and are written one by one where somebody came between", async () => {
    const { db, ann } = await scene();
    const courses = Array.from({ length: 30 }, (_, at) => ({ id: `one${round}-${at}` }));
    for (const course of courses) await db.course.create({ ...course, name: "x" }).orThrow();
    await drain();
    const link = async (grade: number) => {
      await db.batch(courses.map((course) => db.enrolledIn.put(ann, course, { grade })));
      return opened().lab.take();
    };
    const transactions = (sent: readonly string[]): number => sent.filter((one) => one === "TransactWriteItems").length;

    const alone = recording();
    await maintainFacts(alone.session)!(await link(3));
    expect(transactions(alone.sent)).toBe(2);

    const records = await link(7);
    let other: Promise<unknown> | undefined;
    const beside = recording(async (operation) => {
      if (operation === "TransactWriteItems") await (other ??= maintainFacts(opened().session)!(records));
    });
    expect(await maintainFacts(beside.session)!(records)).toEqual([]);
    expect(transactions(beside.sent)).toBe(2 + 30);
    for (const course of courses) expect(await derivedOf(course)).toMatchObject({ students: 1, points: 7, best: 7 });
  });

  test("order texts by their bytes, as DynamoDB does, and tell sets apart by their members", async () => {
    const shape = z.object({ text: id, tags: z.set(z.string()), deep: z.record(z.string(), z.unknown()) });
    const { db, lab, session } = await openFactsLab((table) =>
      defineGraph({
        table,
        nodes: {
          box: node({
            key: "BOX#{id}",
            schema: z.object({ id }),
            derived: {
              least: min({ in: "lies", of: "text" }),
              most: max({ in: "lies", of: "text" }),
              kinds: distinct({ in: "lies", of: "tags" }),
              shapes: distinct({ in: "lies", of: "deep" }),
            },
          }),
          thing: node({ key: "THING#{id}", schema: z.object({ id }) }),
        },
        edges: { lies: edge({ from: "thing", to: "box", schema: shape }) },
      }),
    );
    try {
      await db.box.create({ id: "b" });
      // One is beyond the basic plane: two UTF-16 units that come before U+FFEE, and four bytes of UTF-8 that come after.
      const texts = ["\uffee", "\u{1f600}"];
      for (const [at, text] of texts.entries()) {
        const tags = new Set(at === 0 ? ["x", "y"] : ["y", "x"]);
        const deep = at === 0 ? { a: 1, b: [new Set([1, 2])] } : { b: [new Set([2, 1])], a: 1 };
        await db.thing.create({ id: String(at) });
        await db.lies.link({ id: String(at) }, { id: "b" }, { text, tags, deep }).orThrow();
      }
      await lab.drain(session);
      const found = await db.box.get({ id: "b" });
      expect(found).toEqual({ id: "b", least: texts[0], most: texts[1], kinds: 1, shapes: 1 });
    } finally {
      await lab.stop();
    }
  });

  test("tell how stale they were", async () => {
    const { db, ann, maths } = await scene();
    await drain();
    await db.enrolledIn.link(ann, maths, { grade: 6 }).orThrow();
    const records = (await opened().lab.take()).map((one) => ({ ...one, time: one.time - 5000 }));
    const told: unknown[] = [];
    await maintainFacts(opened().session, { onRefreshed: (one) => told.push(one) })!(records);
    expect(told).toMatchObject([{ records: 1, failed: 0, places: 1, staleness: expect.any(Number) }]);
    expect((told[0] as { staleness: number }).staleness).toBeGreaterThanOrEqual(5000);
  });

  test("of a model without such facts there is nothing to do", () => {
    const plain = defineGraph({ table: "plain", nodes: { a: node({ key: "A#{id}", schema: z.object({ id }) }) } });
    const session = sessionOn(plain.connect({ transport: opened().lab.engine.transport }).catalog, opened().lab.engine.transport);
    expect(maintainFacts(session)).toBeUndefined();
  });
});
