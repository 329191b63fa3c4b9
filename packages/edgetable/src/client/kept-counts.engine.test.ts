import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, node, part, type SentRequest, sum } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

const id = z.string();
const ends = { from: "cascade", to: "cascade" } as const;
const course = node({ key: "COURSE#{id}", schema: z.object({ id }) });
const nodes = {
  student: node({ key: "STUDENT#{id}", schema: z.object({ id }), derived: { courses: count({ out: "takes" }) } }),
  course: node({
    key: "COURSE#{id}",
    schema: z.object({ id }),
    derived: {
      students: count({ in: "takes" }),
      passed: count({ in: "takes", where: { grade: { in: ["A", "B"] } } }),
      points: sum({ in: "takes", of: "points" }),
      visitors: count({ in: "visits", freshness: "stream" }),
      fans: count({ in: "likes", shards: 2 }),
      rooms: count({ parts: "room" }),
      near: count({ out: "near" }),
      before: count({ in: "leads" }),
      after: count({ out: "leads" }),
    },
  }),
};
const edges = {
  takes: edge({
    from: "student",
    to: "course",
    schema: z.object({ grade: z.string().optional(), points: z.number().optional() }),
    onDelete: ends,
  }),
  likes: edge({ from: "student", to: "course", onDelete: ends }),
  visits: edge({ from: "student", to: "course", onDelete: ends }),
  near: edge({ from: "course", to: "course", symmetric: true, onDelete: ends }),
  leads: edge({ from: "course", to: "course", onDelete: ends }),
};
const parts = { room: part({ of: "course", key: "ROOM#{room}", schema: z.object({ room: z.string() }) }) };
const modelIn = (table: string) => defineGraph({ table, nodes, edges, parts });
const plainIn = (table: string) => defineGraph({ table, nodes: { ...nodes, course }, edges, parts });

let engine: TestEngine;
let table: string;
let db: ReturnType<ReturnType<typeof modelIn>["connect"]>;
const sent: SentRequest[] = [];
const onRequest = (one: SentRequest): unknown => sent.push(one);
beforeAll(async () => {
  engine = await startEngine();
  table = engine.freshTableName("kept");
  db = modelIn(table).connect({ transport: engine.transport, onRequest });
  await db.table.create();
});
afterAll(() => engine.stop());

const operations = (): readonly string[] => sent.map(({ operation }) => operation);

let round = 0;
let [ann, bob, maths, arts] = [{ id: "" }, { id: "" }, { id: "" }, { id: "" }];
beforeEach(async () => {
  round++;
  [ann, bob, maths, arts] = [{ id: `ann${round}` }, { id: `bob${round}` }, { id: `maths${round}` }, { id: `arts${round}` }];
  for (const one of [ann, bob]) await db.student.create(one).orThrow();
  for (const one of [maths, arts]) await db.course.create(one).orThrow();
  await db.takes.link(ann, maths, { grade: "A" }).orThrow();
  await db.takes.link(bob, maths, { grade: "C" }).orThrow();
  // The record is read once a minute.
  await db.course(maths).in("takes").count();
  sent.length = 0;
});

describe("count() takes a kept count", () => {
  test("of edges in either direction, by one GetItem", async () => {
    expect(await db.course(maths).in("takes").count()).toBe(2);
    expect(await db.student(ann).out("takes").count()).toBe(1);
    expect(await db.course(arts).in("takes").count()).toBe(0);
    expect(operations()).toEqual(["GetItem", "GetItem", "GetItem"]);
  });

  test("says so in its plan and its report", async () => {
    const counting = db.course(maths).in("takes").count();
    const explained = await counting.explain();
    expect(explained.plan.count).toEqual({
      kind: "count",
      kept: { kind: "kept", node: "course", attributes: ["students"], freshness: "transaction" },
    });
    expect(explained.requests.map(({ operation }) => operation)).toEqual(["GetItem"]);
    expect(explained.cost).toEqual({ requests: 1, readUnits: 0.5 });
    expect(explained.notes[0]).toBe('takes "students" of "course", which the transaction of each write keeps, and counts nothing');
    expect(sent).toEqual([]);
    const report = await counting.report();
    expect(report).toMatchObject({ value: 2, kept: [{ attributes: ["students"], freshness: "transaction" }], cost: { requests: 1 } });
    expect(report.requests[0]?.input).toEqual(explained.requests[0]?.input);
  });

  test("of the same conditions, in any order, and counts with others", async () => {
    const passed = (grades: readonly string[]) =>
      db
        .course(maths)
        .in("takes")
        .where({ grade: { in: grades } })
        .count();
    expect(await passed(["B", "A"])).toBe(1);
    expect(await passed(["C"])).toBe(1);
    expect(await db.course(maths).in("takes").where({ grade: "A" }).count()).toBe(1);
    expect(operations()).toEqual(["GetItem", "Query", "Query"]);
  });

  test("of parts, of symmetric edges, and of both directions together", async () => {
    await db.room.create(maths, { room: "1" }).orThrow();
    await db.near.link(maths, arts).orThrow();
    await db.leads.link(maths, arts).orThrow();
    await db.leads.link(maths, maths).orThrow();
    sent.length = 0;
    expect(await db.course(maths).parts("room").count()).toBe(1);
    expect(await db.course(arts).in("near").count()).toBe(1);
    expect(await db.course(maths).both("leads").count()).toBe(3);
    expect(await db.course(maths).both("leads").count({ kept: "none" })).toBe(3);
    expect(operations()).toEqual(["GetItem", "GetItem", "GetItem", "Query", "Query"]);
  });

  test("no further than its limit, and strongly consistent where asked for", async () => {
    expect(await db.course(maths).in("takes").limit(1).count()).toBe(1);
    expect(await db.student(ann).out("takes").consistent().count()).toBe(1);
    expect(sent[1]?.input).toMatchObject({ ConsistentRead: true });
  });

  test("not with kept: none, an index of the caller's, or the rule off", async () => {
    const off = modelIn(table).connect({ transport: engine.transport, onRequest, advanced: { rulesOff: ["use-kept-counts"] } });
    expect(await db.course(maths).in("takes").count({ kept: "none" })).toBe(2);
    expect(await db.course(maths).in("takes").using("reverse").count()).toBe(2);
    expect(await off.course(maths).in("takes").count()).toBe(2);
    // A connection that did not create the table reads its record beside its first Query of an index: either may be answered first.
    expect(operations().slice(0, 2)).toEqual(["Query", "Query"]);
    expect(operations().slice(2).toSorted()).toEqual(["GetItem", "Query"]);
    expect(() =>
      db
        .course(maths)
        .in("takes")
        .count({ kept: "stale" as never }),
    ).toThrow(expect.objectContaining({ code: "plan.invalidOption" }) as Error);
  });
});

describe("a walk takes the number of its last hop's edges from the nodes that keep it", () => {
  test("when it counts paths, 100 nodes a request", async () => {
    await db.takes.link(ann, arts).orThrow();
    sent.length = 0;
    const counting = db.student(ann).out("takes").in("takes").count();
    // Ann takes maths, as Bob does, and arts.
    expect(await counting).toMatchObject({ count: 3, complete: true });
    expect(operations()).toEqual(["Query", "BatchGetItem"]);
    const { requests, notes, plan } = await counting.explain();
    expect(requests.map(({ operation }) => operation)).toEqual(["Query", "BatchGetItem"]);
    expect(plan.steps[1]).toMatchObject({ by: "kept", kept: { course: { attributes: ["students"], freshness: "transaction" } } });
    expect(notes).toContain('takes "students" of "course", which the transaction of each write keeps, and counts nothing');
    expect(await counting.report()).toMatchObject({ kept: [{ node: "course", attributes: ["students"] }] });
    sent.length = 0;
    expect(await db.student(ann).out("takes").in("takes").count({ kept: "none" })).toMatchObject({ count: 3 });
    expect(operations()).toEqual(["Query", "Query", "Query"]);
  });

  test("when it ranks nodes by degree, or has the same conditions", async () => {
    await db.takes.link(ann, arts).orThrow();
    sent.length = 0;
    const ranked = await db.student(ann).out("takes").walk().rank({ in: "takes" }, { by: "degree", top: 2 });
    expect(ranked.items).toEqual([
      { id: maths, count: 2, value: 2 },
      { id: arts, count: 1, value: 1 },
    ]);
    const passed = { grade: { in: ["A", "B"] } };
    expect(await db.student(bob).out("takes").in("takes").where(passed).count()).toMatchObject({ count: 1 });
    expect(operations()).toEqual(["Query", "BatchGetItem", "Query", "BatchGetItem"]);
  });

  test("and the sum over them, when it ranks nodes by a sum", async () => {
    await db.takes.relink(ann, maths, { points: 0.1 }).orThrow();
    await db.takes.relink(bob, maths, { points: 0.2 }).orThrow();
    await db.takes.link(ann, arts).orThrow();
    sent.length = 0;
    const ranking = db
      .student(ann)
      .out("takes")
      .walk()
      .rank({ in: "takes" }, { by: { sum: "points" } });
    // No edge of arts has the attribute, which a sum of 0 does not tell: its edges are listed.
    expect((await ranking).items).toEqual([
      { id: maths, count: 2, value: 0.3 },
      { id: arts, count: 1, value: undefined },
    ]);
    expect(operations()).toEqual(["Query", "BatchGetItem", "Query"]);
    const { notes, plan } = await ranking.explain();
    expect(plan.steps.at(-1)).toMatchObject({ by: "kept", kept: { course: { attributes: ["students"], sums: ["points"] } } });
    expect(notes).toContain('takes "students" and "points" of "course", which the transaction of each write keeps, and counts nothing');
    sent.length = 0;
    await db
      .student(ann)
      .out("takes")
      .walk()
      .rank({ in: "takes" }, { by: { sum: "points" }, kept: "none" });
    expect(operations()).toEqual(["Query", "Query", "Query"]);
  });

  test("not when it samples, or asks for more than the number", async () => {
    await db.student(ann).out("takes").in("takes").count({ supernode: "sample" });
    await db.student(ann).out("takes").in("takes").groupCount();
    expect(operations()).toEqual(["Query", "Query", "Query", "Query"]);
  });

  test("within its budget, and goes on from where it stopped", async () => {
    await db.takes.link(ann, arts).orThrow();
    const walk = db.student(ann).out("takes").in("takes");
    // A stopped walk needs two requests for the secret of its cursor.
    const first = await walk.count({ budget: { requests: 5 } });
    expect(first).toMatchObject({ count: 3, complete: true });
    const begun = await walk.count({ budget: { requests: 3 } });
    expect(begun).toMatchObject({ count: 0, complete: false, stopped: { by: "requests" } });
    expect(await walk.count({ cursor: begun.next })).toMatchObject({ count: 3, complete: true });
  });
});

describe("count() counts where a kept count may be wrong", () => {
  test("one of the stream is taken only where the call allows it", async () => {
    await db.visits.link(ann, maths).orThrow();
    expect(await db.course(maths).in("visits").count()).toBe(1);
    sent.length = 0;
    // No consumer runs here: the kept count is behind.
    const report = await db.course(maths).in("visits").count({ kept: "any" }).report();
    expect(report).toMatchObject({ value: 0, kept: [{ attributes: ["visitors"], freshness: "stream" }] });
    const { notes } = await db.course(maths).in("visits").count({ kept: "any" }).explain();
    expect(notes[0]).toContain('freshness "stream": usually a second behind');
  });

  test("one that is spread over counters shows their sum later", async () => {
    await db.likes.link(ann, maths).orThrow();
    expect(await db.course(maths).in("likes").count()).toBe(1);
    expect(await db.course(maths).in("likes").count({ kept: "any" }).report()).toMatchObject({
      value: 0,
      kept: [{ attributes: ["fans"], freshness: "stream" }],
    });
  });

  test("a node that is not there, or has no such attribute yet", async () => {
    expect(await db.course({ id: "none" }).in("takes").count()).toBe(0);
    expect(operations()).toEqual(["GetItem", "Query"]);
  });

  test("a table whose record does not have the attribute, until a migration has computed it", async () => {
    const own = engine.freshTableName("kept");
    const before = plainIn(own).connect({ transport: engine.transport });
    await before.table.create();
    await before.student.create(ann).orThrow();
    await before.course.create(maths).orThrow();
    await before.takes.link(ann, maths).orThrow();
    let clock = Date.now();
    const effects = { now: () => clock, random: Math.random, sleep: async () => undefined };
    const after = modelIn(own).connect({ transport: engine.transport, onRequest, advanced: { effects } });
    // The old program goes on writing, and the new one has a node that counts all but the old edges.
    await after.course.create(arts).orThrow();
    await before.takes.link(ann, arts).orThrow();
    sent.length = 0;
    expect(await after.course(arts).in("takes").count()).toBe(1);
    expect(await after.course(maths).in("takes").count()).toBe(1);
    // The record is read beside the first Query.
    expect(operations().toSorted()).toEqual(["GetItem", "GetItem", "Query", "Query"]);
    await after.migrations.run({ finish: true, indexLag: 0 });
    clock += 61_000;
    sent.length = 0;
    expect(await after.course(arts).in("takes").count()).toBe(1);
    expect(await after.course(maths).in("takes").count()).toBe(1);
    expect(operations()).toEqual(["GetItem", "GetItem", "GetItem"]);
    // A program whose migration takes the attribute away no longer keeps it.
    await before.migrations.run();
    clock += 61_000;
    sent.length = 0;
    await before.takes.unlink(ann, arts).orThrow();
    expect(await after.course(arts).in("takes").count()).toBe(0);
  });
});

test("parts that count are removed in transactions when a job deletes their node", async () => {
  await Promise.all(Array.from({ length: 110 }, (_, at) => db.room.create(maths, { room: `${at}` }).orThrow({ deadline: 60_000 })));
  sent.length = 0;
  await db.course.delete(maths, { indexLag: 0 }).orThrow();
  expect(operations()).not.toContain("BatchWriteItem");
  expect(await db.course(maths).parts("room").count()).toBe(0);
});

test("a load takes nodes that count and have a date in their key", async () => {
  const at = new Date(0);
  const event = node({ key: "EVENT#{at:date}", schema: z.object({ at: z.date() }), derived: { notes: count({ parts: "note" }) } });
  const note = part({ of: "event", key: "NOTE#{note}", schema: z.object({ note: z.string() }) });
  const events = defineGraph({ table: engine.freshTableName("events"), nodes: { event }, parts: { note } }).connect({
    transport: engine.transport,
  });
  await events.table.create();
  await events.load([{ node: "event", row: { at } }], { strict: true });
  await events.note.create({ at }, { note: "1" }).orThrow();
  expect(await events.event({ at }).parts("note").count()).toBe(1);
});

test("a rank by a sum of fractions is the same with and without the kept sum", async () => {
  const courses = Object.entries({ one: [0.3], two: [0.1, 0.2], three: [0.1, 0.1, 0.1] }).map(([name, points]) => ({
    id: `${name}${round}`,
    points,
  }));
  for (const { id: name, points } of courses) {
    await db.course.create({ id: name }).orThrow();
    await db.takes.link(ann, { id: name }, {}).orThrow();
    for (const [at, one] of points.entries()) {
      await db.student.create({ id: `${name}-${at}` }).orThrow();
      await db.takes.link({ id: `${name}-${at}` }, { id: name }, { points: one }).orThrow();
    }
  }
  const ranked = async (kept: "transaction" | "none") =>
    [
      ...(await db
        .student(ann)
        .out("takes")
        .walk()
        .dedupe()
        .rank({ in: "takes" }, { by: { sum: "points" }, kept })),
    ]
      .filter(({ id: { id: name } }) => courses.some((one) => one.id === name))
      .map(({ value }) => value);
  expect(await ranked("transaction")).toEqual([0.3, 0.3, 0.3]);
  expect(await ranked("none")).toEqual([0.3, 0.3, 0.3]);
});
