import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, node, part, sum } from "../../index.ts";
import { dyingTransport, leasesEnded } from "../../test-support/dying-transport.ts";
import { readCounters } from "../../streams/index.ts";
import { startEngine, type TestEngine } from "../../test-support/engine.ts";
import { verify } from "../../verify/index.ts";

const id = z.string();
const modelIn = (table: string, counts = true) =>
  defineGraph({
    table,
    nodes: {
      student: node({ key: "STUDENT#{id}", schema: z.strictObject({ id }) }),
      course: node({
        key: "COURSE#{id}",
        schema: z.strictObject({ id }),
        ...(counts && {
          derived: { students: count({ in: "takes" }), points: sum({ in: "takes", of: "grade" }), rooms: count({ parts: "room" }) },
        }),
      }),
    },
    edges: {
      takes: edge({
        from: "student",
        to: "course",
        schema: z.strictObject({ grade: z.int() }),
        onDelete: { from: "cascade", to: "cascade" },
      }),
    },
    parts: { room: part({ of: "course", key: "ROOM#{room}", schema: z.strictObject({ room: id }) }) },
  });

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const STUDENTS = 60;
const COURSES = 5;
const range = (length: number): readonly number[] => Array.from({ length }, (_, at) => at);
const edges = range(STUDENTS * COURSES).map(
  (at) =>
    ({
      edge: "takes",
      from: { id: `s${at % STUDENTS}` },
      to: { id: `c${Math.floor(at / STUDENTS)}` },
      attributes: { grade: at % 10 },
    }) as const,
);
const nodes = [
  ...range(STUDENTS).map((at) => ({ node: "student", row: { id: `s${at}` } }) as const),
  ...range(COURSES).map((at) => ({ node: "course", row: { id: `c${at}` } }) as const),
];
const rooms = range(40).map((at) => ({ part: "room", owner: { id: "c1" }, row: { room: `r${at}` } }) as const);

const open = async (counts = true) => {
  const table = engine.freshTableName("counted");
  const sent: string[] = [];
  const db = modelIn(table, counts).connect({ transport: engine.transport, onRequest: ({ operation }) => sent.push(operation) });
  await db.table.create();
  await db.load(nodes as never);
  sent.length = 0;
  return { table, db, sent };
};

const isRight = async (db: object): Promise<void> => {
  const courses = db as ReturnType<ReturnType<typeof modelIn>["connect"]>;
  for (const at of range(COURSES))
    expect(await courses.course.get({ id: `c${at}` }, { consistent: true })).toMatchObject({ students: STUDENTS, points: 270 });
  expect(await verify(db, { settle: 5 })).toMatchObject({ clean: true, kinds: [] });
};

test("rows that count share transactions: the node at which they count is written once for many", async () => {
  const { db, sent } = await open();
  const report = await db.load([...edges, ...rooms]);
  expect(report).toMatchObject({ failed: 0, items: edges.length + rooms.length });
  // 340 rows: some 40 of a course fit into one transaction.
  expect(sent.filter((operation) => operation === "TransactWriteItems").length).toBeLessThan(20);
  await isRight(db);
  // Once more: everything counts already.
  expect(await db.load([...edges, ...rooms])).toMatchObject({ failed: 0 });
  await isRight(db);
});

test("a row that fails takes no other with it, and one that comes twice counts once", async () => {
  const { db } = await open();
  const rows = [
    ...edges.slice(0, 50),
    { edge: "takes", from: { id: "s0" }, to: { id: "nowhere" }, attributes: { grade: 1 } } as const,
    ...edges,
  ];
  const report = await db.load(rows);
  expect(report.failures.map(({ row }) => row)).toEqual([50]);
  await isRight(db);
});

test("nodes and their edges load together in the order of the input", async () => {
  const table = engine.freshTableName("counted");
  const db = modelIn(table).connect({ transport: engine.transport });
  await db.table.create();
  expect(await db.load([...nodes, ...edges], { order: "kept" })).toMatchObject({ failed: 0 });
  await isRight(db);
});

test("a load that is killed after any request counts every row once in the end", { timeout: 180_000 }, async () => {
  const { table, db } = await open();
  for (const n of [2, 3, 5, 7, 9]) {
    // The last request takes effect, and nobody learns of it.
    const { transport, died } = dyingTransport(engine.transport, n, false);
    const loaded = modelIn(table)
      .connect({ transport })
      .load(edges, { job: "edges", lease: 1_500 })
      .catch(() => undefined);
    await Promise.race([loaded, died]);
    await leasesEnded(db);
  }
  const report = await db.load(edges, { job: "edges", lease: 5000 });
  expect(report.failed).toBe(0);
  await isRight(db);
});

const spread = (table: string, shards: number | undefined) =>
  defineGraph({
    table,
    nodes: {
      post: node({
        key: "POST#{id}",
        schema: z.strictObject({ id }),
        derived: { likes: count({ in: "likes", ...(shards && { shards }) }), notes: count({ parts: "note" }) },
      }),
      user: node({ key: "USER#{id}", schema: z.strictObject({ id }) }),
    },
    parts: { note: part({ of: "post", key: "NOTE#{note}", schema: z.strictObject({ note: id }) }) },
    edges: { likes: edge({ from: "user", to: "post", onDelete: { from: "cascade", to: "cascade" } }) },
  });

describe.each([undefined, 4])("with %s shards, what counts at a node that comes later", (shards) => {
  const users = range(250).map((at) => ({ node: "user", row: { id: `u${at}` } }) as const);
  const likes = users.map(({ row }) => ({ edge: "likes", from: row, to: { id: "p" }, attributes: {} }) as const);
  const notes = range(30).map((at) => ({ part: "note", owner: { id: "p" }, row: { note: `n${at}` } }) as const);
  const post = { node: "post", row: { id: "p" } } as const;
  const openSpread = async () => {
    const db = spread(engine.freshTableName("spread"), shards).connect({ transport: engine.transport });
    await db.table.create();
    return db;
  };
  const holds = async (db: Awaited<ReturnType<typeof openSpread>>, many: number, parts: number): Promise<void> => {
    expect(await db.post({ id: "p" }).in("likes").count({ kept: "none" })).toBe(many);
    const kept = shards ? await readCounters(db, "post", { id: "p" }) : await db.post.get({ id: "p" }, { consistent: true });
    expect(kept).toMatchObject({ likes: many, ...(!shards && { notes: parts }) });
    expect(await db.post.get({ id: "p" })).toMatchObject({ notes: parts });
    expect(await verify(db, { settle: 5 })).toMatchObject({ clean: true, kinds: [] });
  };

  test.each(["any", "kept"] as const)(
    "is written and counted once the input has brought the node, order %s",
    { timeout: 60_000 },
    async (order) => {
      const db = await openSpread();
      const report = await db.load([...likes, ...notes, likes[0]!, post, ...users], { order, collisions: "ignore" });
      expect(report).toMatchObject({ failed: 0, position: 250 + 30 + 2 + 250 });
      await holds(db, 250, 30);
    },
  );

  test(
    "fails, each row for itself, if no row brings the node, whatever the order; a later load counts it",
    { timeout: 60_000 },
    async () => {
      const db = await openSpread();
      const rows = [...likes.slice(0, 50), ...notes, likes[0]!];
      const report = await db.load(rows, { collisions: "ignore" });
      expect(report.failures.map(({ row }) => row)).toEqual(range(81));
      for (const { error } of report.failures)
        expect(error).toMatchObject({ code: "execute.notWritten", details: { reason: "endMissing", id: { id: "p" } } });
      expect(await db.load([post])).toMatchObject({ failed: 0 });
      await holds(db, 0, 0);
      expect(await db.load([...rows, ...users])).toMatchObject({ failed: 0 });
      await holds(db, 50, 30);
    },
  );
});
