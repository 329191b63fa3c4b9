import { expect, test } from "vitest";
import { z } from "zod";
import { explanationText } from "../check/index.ts";
import { average, count, defineGraph, edge, node, part, sum, summarize } from "../index.ts";

const id = z.string();
const ends = { from: "cascade", to: "cascade" } as const;
const graph = defineGraph({
  table: "Notes",
  nodes: {
    student: node({ key: "STUDENT#{id}", schema: z.object({ id, name: z.string() }), derived: { courses: count({ out: "takes" }) } }),
    course: node({
      key: "COURSE#{id}",
      schema: z.object({ id, title: z.string(), room: z.string().optional() }),
      derived: {
        students: count({ in: "takes" }),
        passed: count({ in: "takes", where: { grade: { gte: 5 } } }),
        points: sum({ in: "takes", of: "grade", freshness: "stream" }),
        rooms: count({ parts: "room" }),
        fans: count({ in: "likes", shards: 4 }),
        near: count({ out: "near" }),
      },
    }),
    teacher: node({ key: "TEACHER#{id}", schema: z.object({ id }), derived: { mean: average({ out: "marks", of: "mark" }) } }),
  },
  edges: {
    takes: edge({
      from: "student",
      to: "course",
      schema: z.object({ grade: z.number().optional(), note: z.string().optional() }),
      copies: { to: ["title"], from: { student: { of: "name", freshness: "stream" } } },
      onDelete: ends,
    }),
    likes: edge({ from: "student", to: "course", onDelete: ends }),
    near: edge({ from: "course", to: "course", symmetric: true, onDelete: ends }),
    marks: edge({ from: "teacher", to: "course", schema: z.object({ mark: z.number() }), onDelete: ends }),
  },
  parts: { room: part({ of: "course", key: "ROOM#{room}", schema: z.object({ room: z.string() }) }) },
});
const db = graph.connect({ transport: { send: () => Promise.reject(new Error("nothing is sent")), close: () => undefined } });
const [ann, maths] = [{ id: "ann" }, { id: "maths" }];

const notesOf = async (call: { explain(): Promise<{ readonly notes: readonly string[] }> }): Promise<readonly string[]> =>
  (await call.explain()).notes;

const COURSES = 'changes "courses" of the "student" that it comes from, in the same transaction: 1 item, 2 write units';
const STUDENTS = 'changes "students" of the "course" that it leads to, in the same transaction: 1 item, 2 write units';
const POINTS = 'the stream brings "points" of the "course" that it leads to up to date afterwards: about 3 read units and 5 write units';

test("a write of an edge names what it changes of its nodes and what it takes from them", async () => {
  // A grade of 4 does not count as passed.
  expect((await notesOf(db.takes.link(ann, maths, { grade: 4 }))).slice(3)).toEqual([
    'takes "name" from the "student"',
    'takes "title" from the "course"',
    COURSES,
    STUDENTS,
    POINTS,
  ]);
  expect(await notesOf(db.takes.put(ann, maths, { grade: 4 }))).toContain(
    'changes "students" and "passed" of the "course" that it leads to, in the same transaction: 1 item, 2 write units',
  );
  expect((await notesOf(db.takes.relink(ann, maths, { grade: 7 }))).slice(2)).toEqual([
    'changes "passed" of the "course" that it leads to, in the same transaction: 1 item, 2 write units',
    POINTS,
  ]);
  expect(await notesOf(db.takes.relink(ann, maths, { note: "x" }))).toEqual([]);
  expect(await notesOf(db.near.link(maths, { id: "arts" }))).toContain(
    'changes "near" of the "course" at each of its ends, in the same transaction: 1 item, 2 write units each',
  );
});

test("a count that is spread over counters changes one of them", async () => {
  expect(await notesOf(db.likes.link(ann, maths))).toContain(
    'changes one of the 4 counters of "fans" of the "course" that it leads to, in the same transaction: 1 item, 2 write units; they are added up afterwards',
  );
});

test("a transaction says that it takes derived attributes along, and what it requires of older nodes", async () => {
  expect(await notesOf(db.room.create(maths, { room: "1" }))).toEqual([
    'a transaction, for twice the write units: it takes along the derived attributes of "course"',
    'requires that the "course" has "rooms"; a node that is older than this attribute costs a read and a second transaction',
    'changes "rooms" of the "course" it belongs to, in the same transaction: 1 item, 2 write units',
  ]);
});

test("a change of a node names the copies that follow it, and those that the stream changes", async () => {
  expect(await notesOf(db.course.update(maths, { title: "x" }))).toContain(
    'changes "title" of each "takes" at it, in the same transaction: 10 expected, fewer than 100, 3 write units each',
  );
  expect(await notesOf(db.student.update(ann, { name: "x" }))).toEqual([
    'the stream changes "student" of each "takes" at it afterwards: 10 expected, 1 read unit and 2 write units each',
  ]);
  expect(await notesOf(db.course.update(maths, { room: "x" }))).toEqual([]);
});

test("a deletion names what goes with each edge", async () => {
  const notes = await notesOf(db.course.delete(maths));
  expect(notes).toContain(`each "takes" that goes: ${COURSES}`);
  expect(notes.filter((note) => note.includes("students"))).toEqual([]);
});

test("the text of an explanation has the notes", async () => {
  expect(explanationText(await db.room.create(maths, { room: "1" }).explain())).toContain('changes "rooms" of the "course"');
});

test("a write of an edge names the edges that summarize it", async () => {
  const ordered = edge({ from: "student", to: "course", schema: z.object({ order: z.string(), amount: z.number() }), key: ["order"] });
  const buys = summarize(edge({ from: "student", to: "course", stored: "twice" }), {
    orders: count({ along: "ordered" }),
    spent: sum({ along: "ordered", of: "amount" }),
  });
  const nodes = {
    student: node({ key: "STUDENT#{id}", schema: z.object({ id }) }),
    course: node({ key: "COURSE#{id}", schema: z.object({ id }) }),
  };
  const shop = defineGraph({ table: "Notes", nodes, edges: { ordered, buys } });
  const connected = shop.connect({ transport: { send: () => Promise.reject(new Error("nothing is sent")), close: () => undefined } });
  const units = 'of the "buys" between its ends up to date afterwards, if there is one: about 3 read units and 6 write units';
  expect(await notesOf(connected.ordered.link(ann, maths, { order: "1", amount: 2 }))).toContain(
    `the stream brings "orders" and "spent" ${units}`,
  );
  const changed = connected.ordered.relink(ann, maths, { amount: 2 }, { key: { order: "1" } });
  expect(await notesOf(changed)).toContain(`the stream brings "spent" ${units}`);
});
