import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, max, node, part, sum, summarize } from "../index.ts";

const id = z.string();
const student = node({ key: "STUDENT#{id}", schema: z.object({ id, name: z.string(), year: z.number().optional() }) });
const course = node({
  key: "COURSE#{id}",
  schema: z.object({ id, title: z.string() }),
  derived: { students: count({ in: "takes" }), best: max({ in: "takes", of: "grade" }), last: max<Date>({ in: "takes", of: "at" }) },
});
const graph = defineGraph({
  table: "Types",
  nodes: { student, course },
  edges: {
    takes: edge({
      from: "student",
      to: "course",
      schema: z.object({ grade: z.number(), at: z.date() }),
      dates: ["at"],
      copies: { to: ["title"], from: { student: "name", year: { of: "year", freshness: "stream" } } },
      orderBy: "title",
    }),
  },
  parts: { room: part({ of: "course", key: "ROOM#{room}", schema: z.object({ room: z.string() }), copies: { course: "title" } }) },
  indexes: {
    bySize: { entries: { course: "students:number" } },
    byTitle: { entries: { takes: "title", room: "course" } },
  },
});
const db = graph.connect({ endpoint: "http://127.0.0.1:1" });

test("derived attributes are in the row and not in what is written", async () => {
  const row = await db.course.get({ id: "C1" });
  expectTypeOf(row!.students).toEqualTypeOf<number>();
  expectTypeOf(row!.best).toEqualTypeOf<number | undefined>();
  expectTypeOf(row!.last).toEqualTypeOf<Date | undefined>();
  void db.course.create({ id: "C1", title: "x" });
  void db.course.update({ id: "C1" }, { title: "y" }, { if: { students: { lt: 30 } } });
  // @ts-expect-error -- derived
  void db.course.update({ id: "C1" }, { students: 3 });
  // @ts-expect-error -- derived
  void db.course.create({ id: "C1", title: "x", students: 3 });
});

test("a row with derived attributes can be put as it was read", async () => {
  const note = z.exactOptional(z.string());
  const lesson = node({ key: "LESSON#{id}", schema: z.object({ id, note }), derived: { takers: count({ in: "attends" }) }, version: true });
  const attends = edge({ from: "student", to: "lesson", onDelete: { from: "cascade", to: "cascade" } });
  const lessons = defineGraph({ table: "Lessons", nodes: { student, lesson }, edges: { attends } }).connect();
  const row = await lessons.lesson.get({ id: "L1" });
  if (row) void lessons.lesson.put({ ...row, id: "L2" });
  expectTypeOf<Pick<NonNullable<typeof row>, "note">>().toEqualTypeOf<{ note?: string }>();
});

test("no name of the types' own is offered among changes", () => {
  type NamesOf<One> = One extends unknown ? keyof One : never;
  expectTypeOf<Extract<NamesOf<Parameters<typeof db.course.update>[1]>, `~${string}`>>().toEqualTypeOf<never>();
});

test("copies have the type of their source, in results, filters and orders", async () => {
  const [one] = await db.student({ id: "S1" }).out("takes").where({ title: { beginsWith: "A" } }).edges();
  expectTypeOf(one!.title).toEqualTypeOf<string>();
  expectTypeOf(one!.student).toEqualTypeOf<string>();
  expectTypeOf(one!.year).toEqualTypeOf<number | undefined>();
  const rooms = await db.course({ id: "C1" }).parts("room").all();
  expectTypeOf(rooms[0]!.course).toEqualTypeOf<string>();
  void db.takes.link({ id: "S1" }, { id: "C1" }, { grade: 1, at: new Date() });
  // @ts-expect-error -- a copy
  void db.takes.relink({ id: "S1" }, { id: "C1" }, { title: "x" });
  // @ts-expect-error -- a number is compared with a number
  void db.student({ id: "S1" }).out("takes").where({ year: "x" });
});

test("an index names derived attributes and copies that there are", () => {
  const misspelt = { entries: { course: "student:number" } } as const;
  defineGraph({
    table: "Types",
    nodes: { course },
    indexes: {
      // @ts-expect-error -- there is no "student"
      bySize: misspelt,
    },
  });
  // @ts-expect-error -- no copy has this name
  edge({ from: "student", to: "course", copies: { to: ["title"] }, orderBy: "tittle" });
});

test("summaries are in an edge's row, in filters, orders and indexes, and not in what is written", async () => {
  const takes = edge({ from: "student", to: "course", schema: z.object({ term: z.string(), hours: z.number() }), key: ["term"] });
  const attends = summarize(
    edge({ from: "student", to: "course", schema: z.object({ note: z.string() }), copies: { to: ["title"] } }),
    { terms: count({ along: "takes" }), hours: sum({ along: "takes", of: "hours" }), last: max<Date>({ along: "takes", of: "term" }) },
    { orderBy: "hours:number" },
  );
  const model = { table: "Types", nodes: { student, course }, edges: { takes, attends } };
  const summaries = defineGraph({ ...model, indexes: { byTerms: { entries: { attends: "terms:number" } } } });
  const connected = summaries.connect({ endpoint: "http://127.0.0.1:1" });
  const [row] = await connected.student({ id: "S1" }).out("attends").where({ terms: { gte: 2 }, title: "x" }).edges();
  expectTypeOf(row!.terms).toEqualTypeOf<number>();
  expectTypeOf(row!.last).toEqualTypeOf<Date | undefined>();
  expectTypeOf(row!.title).toEqualTypeOf<string>();
  void connected.attends.link({ id: "S1" }, { id: "C1" }, { note: "x" });
  // @ts-expect-error -- derived
  void connected.attends.relink({ id: "S1" }, { id: "C1" }, { terms: 3 });
  // @ts-expect-error -- no derived attribute has this name
  summarize(takes, { terms: count({ along: "takes" }) }, { orderBy: "term:number" });
  // @ts-expect-error -- one direction at a time
  count({ along: "takes", against: "takes" });
  const misspelt = { byTerms: { entries: { attends: "term:number" } } } as const;
  // @ts-expect-error -- there is no "term"
  defineGraph({ ...model, indexes: misspelt });
});
