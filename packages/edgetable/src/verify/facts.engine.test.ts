import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { average, count, defineGraph, edge, node, part, sum } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import { verify, type VerifyOptions } from "./index.ts";
import { contentOf } from "./lab.test-support.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      student: node({ key: "STUDENT#{id}", schema: z.strictObject({ id: z.string() }) }),
      course: node({
        key: "COURSE#{id}",
        schema: z.strictObject({ id: z.string() }),
        derived: {
          students: count({ in: "takes" }),
          passed: count({ in: "takes", where: { grade: { gte: 5 } } }),
          paid: sum({ in: "takes", of: "fee" }),
          mean: average({ in: "rates", of: "stars" }),
          notes: count({ parts: "note" }),
        },
      }),
    },
    parts: { note: part({ of: "course", key: "NOTE#{at:3}", schema: z.object({ at: z.int() }) }) },
    edges: {
      takes: edge({ from: "student", to: "course", schema: z.object({ grade: z.int(), fee: z.number() }), onDelete: { to: "cascade" } }),
      rates: edge({ from: "student", to: "course", schema: z.object({ stars: z.int() }), stored: "twice", onDelete: { to: "cascade" } }),
    },
    indexes: { byStudents: { entries: { course: "students:number" } } },
  });

const filled = async () => {
  const table = engine.freshTableName("facts");
  const db = graphOf(table).connect({ transport: engine.transport });
  await db.table.create();
  for (let at = 0; at < 8; at++) await db.student.create({ id: `s${at}` });
  for (let at = 0; at < 4; at++) await db.course.create({ id: `c${at}` });
  for (let at = 0; at < 20; at++) {
    const [from, to] = [{ id: `s${at % 8}` }, { id: `c${(at * 7) % 3}` }];
    await db.takes.put(from, to, { grade: at % 8, fee: at / 4 });
    await db.rates.put(from, to, { stars: at % 5 }, { reverse: { stars: 9 } });
    if (at < 5) await db.note.put(to, { at });
  }
  return { table, db };
};

const verified = async (db: object, options: VerifyOptions = {}) => {
  const { kinds, clean } = await verify(db, { settle: 5, differing: "keep", ...options });
  return { clean, found: Object.fromEntries(kinds.map(({ kind, count: all, repaired }) => [kind, [all, repaired]])), kinds };
};

const change = async (table: string, key: string, edit: (item: Record<string, AttributeValue>) => void): Promise<void> => {
  const item: Record<string, AttributeValue> = { ...((await contentOf(engine.transport, table)).get(key) as Item) };
  edit(item);
  await engine.transport.send("PutItem", { TableName: table, Item: item });
};

const course = (id: string): string => JSON.stringify([{ S: `COURSE#${id}` }, { S: "#" }]);
// DynamoDB Local writes a sum of 17.50 with its zero.
const plain = (item: Item) =>
  Object.entries(item).map(([name, value]) => [name, "N" in value ? { N: value.N.replace(/(\.\d*?)0+$/, "$1") } : value]);
const without = (items: ReadonlyMap<string, Item>) =>
  [...items]
    .map(([key, item]) => [key, { ...Object.fromEntries(plain(item)), "~derived": undefined }] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));

test("counts, sums and averages that transactions keep are right, and wrong ones are found and mended with their index keys", async () => {
  const { table, db } = await filled();
  expect(await verified(db)).toMatchObject({ clean: true, found: {} });
  const before = await contentOf(engine.transport, table);
  await change(table, course("c0"), (item) => void (item["students"] = { N: "77" }));
  await change(table, course("c1"), (item) => {
    delete item["paid"];
    item["~sum#mean"] = { N: "1" };
  });
  await change(table, course("c3"), (item) => {
    delete item["notes"];
    delete item["byStudentsPk"];
  });
  const found = await verified(db);
  expect(found.found).toEqual({ wrongAggregate: [4, 0], indexKey: [1, 0] });
  expect(found.kinds[1]?.examples.map(({ reason }) => reason).toSorted()).toEqual([
    '"notes" is missing; the parts of "note" make it 0.',
    expect.stringMatching(/^"paid" is missing; the edges of "takes" make it [\d.]+[.]$/),
    expect.stringMatching(/^"students" is 77; the edges of "takes" make it \d[.]$/),
    expect.stringMatching(/^The sum behind "mean" is 1; the edges of "rates" make it \d+[.]$/),
  ]);
  const written: string[] = [];
  const repair: VerifyOptions = { repair: true, onWrite: ({ input }) => void written.push(JSON.stringify(input)) };
  expect(await verified(db, repair)).toMatchObject({ clean: true, found: { wrongAggregate: [4, 4], indexKey: [1, 1] } });
  // A count and the index key that holds it are one write.
  expect(written.filter((input) => input.includes("COURSE#c0"))).toHaveLength(1);
  expect(without(await contentOf(engine.transport, table))).toEqual(without(before));
  expect(await verified(db)).toMatchObject({ clean: true, found: {} });
});

test("an average that others changed, and numbers that are texts, are found and mended", async () => {
  const { table, db } = await filled();
  const before = await contentOf(engine.transport, table);
  await change(table, course("c0"), (item) => void (item["mean"] = { N: "99" }));
  await change(table, course("c1"), (item) => {
    delete item["mean"];
    item["paid"] = { S: "much" };
  });
  await change(table, course("c2"), (item) => void (item["~sum#mean"] = { S: "many" }));
  expect(await verified(db, { repair: true })).toMatchObject({ clean: true, found: { wrongAggregate: [4, 4] } });
  expect(without(await contentOf(engine.transport, table))).toEqual(without(before));
  expect(await verified(db)).toMatchObject({ clean: true, found: {} });
});

test("a sum is right to its last digit, and one that was added up in doubles is a finding", async () => {
  const { table, db } = await filled();
  for (const at of [1, 2, 3, 6, 7]) await db.takes.put({ id: `s${at}` }, { id: "c3" }, { grade: 1, fee: 0.1 * at });
  expect(await verified(db)).toMatchObject({ clean: true, found: {} });
  await change(table, course("c3"), (item) => void (item["paid"] = { N: "1.9000000000000003" }));
  expect(await verified(db)).toMatchObject({ clean: false, found: { wrongAggregate: [1, 0] } });
  expect(await verified(db, { repair: true })).toMatchObject({ clean: true, found: { wrongAggregate: [1, 1] } });
  expect((await contentOf(engine.transport, table)).get(JSON.stringify([{ S: "COURSE#c3" }, { S: "#" }]))?.["paid"]).toEqual({
    N: "1.90000000000000024",
  });
});

test("an edge that nobody counted is found at its node, beside writers", async () => {
  const { table, db } = await filled();
  const items = await contentOf(engine.transport, table);
  const key = JSON.stringify([{ S: "STUDENT#s0" }, { S: "takes#COURSE#c0" }]);
  const lost = items.get(key);
  expect(lost).toBeDefined();
  await engine.transport.send("DeleteItem", { TableName: table, Key: { pk: lost!["pk"]!, sk: lost!["sk"]! } });
  const stopped = new AbortController();
  const writing = (async () => {
    for (let at = 0; !stopped.signal.aborted; at++) {
      await db.takes.put({ id: `s${at % 4}` }, { id: `c${1 + (at % 2)}` }, { grade: at % 9, fee: at });
      await db.takes.unlink({ id: `s${at % 4}` }, { id: `c${1 + (at % 2)}` });
    }
  })();
  const found = await verified(db, { repair: true });
  stopped.abort();
  await writing;
  expect(found.found).toMatchObject({ wrongAggregate: [expect.any(Number), expect.any(Number)] });
  expect(found.kinds.flatMap(({ examples }) => examples.map((one) => (one.key["pk"] as { S: string }).S))).toEqual(
    expect.arrayContaining(["COURSE#c0"]),
  );
  expect(found.kinds.every(({ examples }) => examples.every((one) => (one.key["pk"] as { S: string }).S === "COURSE#c0"))).toBe(true);
  expect(await verified(db)).toMatchObject({ clean: true, found: {} });
});

test("a wrong copy is mended before what nodes count and sum up of it, which was right", async () => {
  const table = engine.freshTableName("copied");
  const db = defineGraph({
    table,
    nodes: {
      book: node({ key: "BOOK#{id}", schema: z.object({ id: z.string(), pages: z.int() }) }),
      shelf: node({
        key: "SHELF#{id}",
        schema: z.object({ id: z.string() }),
        derived: {
          pages: sum({ in: "on", of: "pages" }),
          mean: average({ in: "on", of: "pages" }),
          thick: count({ in: "on", where: { pages: { gte: 500 } } }),
        },
      }),
    },
    edges: { on: edge({ from: "book", to: "shelf", copies: { from: ["pages"] }, onDelete: { from: "cascade", to: "cascade" } }) },
  }).connect({ transport: engine.transport });
  await db.table.create();
  for (let at = 0; at < 12; at++) {
    if (at < 4) await db.shelf.create({ id: `s${at}` });
    await db.book.create({ id: `b${at}`, pages: 100 * at });
    await db.on.link({ id: `b${at}` }, { id: `s${at % 4}` });
  }
  const before = await contentOf(engine.transport, table);
  for (let at = 0; at < 12; at += 2)
    await change(
      table,
      JSON.stringify([{ S: `BOOK#b${at}` }, { S: `on#SHELF#s${at % 4}` }]),
      (item) => void (item["pages"] = { N: "777" }),
    );
  expect(await verified(db, { repair: true })).toMatchObject({ clean: true, found: { staleCopy: [6, 6] } });
  const stamped = (items: ReadonlyMap<string, Item>) => without(items).map(([key, item]) => [key, { ...item, "~copies": undefined }]);
  expect(stamped(await contentOf(engine.transport, table))).toEqual(stamped(before));
  expect(await verified(db)).toMatchObject({ clean: true, found: {} });
});
