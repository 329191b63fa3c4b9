import { expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, max, node, sum, summarize } from "../index.ts";
import { verify } from "../verify/index.ts";
import { factsLabOfFile } from "./facts-lab.test-support.ts";
import { refreshFacts } from "./refresh-facts.ts";
import { maintainFacts } from "./maintain-facts.ts";

const text = z.string();
const amount = z.union([z.number(), z.bigint()]);
const byStream = { of: "name", freshness: "stream" } as const;
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({ key: "USER#{userId}", schema: z.object({ userId: text, name: text }) }),
      course: node({
        key: "COURSE#{courseId}",
        schema: z.object({ courseId: text }),
        derived: {
          lastNote: max<string>({ in: "takes", of: "note", freshness: "stream" }),
          students: count({ in: "takes", freshness: "stream" }),
          points: sum({ in: "takes", of: "points", freshness: "stream" }),
        },
      }),
    },
    edges: {
      takes: edge({ from: "user", to: "course", schema: z.object({ note: text, points: z.number() }) }),
      sparse: edge({ from: "user", to: "course", copies: { from: { who: byStream } } }),
      ordered: edge({ from: "user", to: "course", copies: { from: { who: byStream } }, orderBy: "who" }),
      held: edge({ from: "user", to: "course", copies: { from: { who: { of: "name" } } } }),
      strict: edge({ from: "user", to: "course", copies: { from: { who: { of: "name" } } }, orderBy: "who" }),
      order: edge({ from: "user", to: "course", key: ["no"], schema: z.object({ no: text, amount }) }),
      buys: summarize(
        edge({ from: "user", to: "course" }),
        { orders: count({ along: "order" }), spent: sum({ along: "order", of: "amount" }), top: max({ along: "order", of: "amount" }) },
        { orderBy: "spent:number" },
      ),
    },
    indexes: {
      byNote: { entries: { course: { by: "lastNote", sparse: true }, held: { by: "who", sparse: true } } },
      byWho: { entries: { sparse: { by: "who", sparse: true } } },
    },
  });

const lab = factsLabOfFile(modelIn);
const long = "z".repeat(1100);

/** What verify finds, and what it leaves after a repair. */
const found = async (repair = false) => {
  const { kinds } = await verify(lab.opened().db, { settle: 10, staleAfter: 10, repair });
  return kinds.flatMap(({ kind, examples }) => examples.map(({ attribute }) => `${kind} ${attribute}`));
};

test.each([
  ["a text that is too long", long],
  ["an empty text", ""],
])("%s in a sparse index stays out of the index, and every fact follows", async (_, note) => {
  const { db } = lab.opened();
  const course = { courseId: `c${note.length}` };
  await db.course.create(course).orThrow();
  for (const userId of ["a", "b", "c"]) await db.user.put({ userId, name: "Ann" }).orThrow();
  await db.takes.link({ userId: "a" }, course, { note, points: 1 }).orThrow();
  await lab.drain();
  expect(await db.course.get(course)).toEqual({ ...course, lastNote: note, students: 1, points: 1 });
  expect(await db.find("course").using("byNote").where(course).rows()).toEqual([]);
  expect(await found()).toEqual([]);
  await db.takes.link({ userId: "b" }, course, { note: "m", points: 1 }).orThrow();
  await lab.drain();
  expect(await db.course.get(course)).toEqual({ ...course, lastNote: note === "" ? "m" : note, students: 2, points: 2 });
  expect(await found(true)).toEqual([]);
  expect((await refreshFacts(db)).failed).toEqual([]);
  await db.takes.unlink({ userId: "a" }, course).orThrow();
  await lab.drain();
  expect(await db.course.get(course)).toEqual({ ...course, lastNote: "m", students: 1, points: 1 });
  expect(await db.find("course").using("byNote").where({ lastNote: "m" }).rows()).toHaveLength(1);
  // A value that no longer fits takes the entry away again.
  await db.takes.link({ userId: "c" }, course, { note: long, points: 1 }).orThrow();
  await lab.drain();
  expect(await db.find("course").using("byNote").where({ lastNote: "m" }).rows()).toEqual([]);
  expect(await found()).toEqual([]);
});

test("an edge whose order is a sum that does not fit leaves the order, and its other summaries follow", async () => {
  const { db, session, lab: table } = lab.opened();
  const [user, course] = [{ userId: "u" }, { courseId: "p" }];
  await db.user.put({ ...user, name: "Bob" }).orThrow();
  await db.course.put(course).orThrow();
  await db.buys.link(user, course).orThrow();
  const order = (no: string, value: number) => db.order.put(user, course, { no, amount: value }).orThrow();
  await order("1", 1);
  await lab.drain();
  const ranked = () => db.course(course).in("buys").edges();
  expect(await ranked()).toMatchObject([{ orders: 1, spent: 1, top: 1 }]);
  await order("2", 1e100);
  const failed = await maintainFacts(session)?.(await table.take());
  expect(failed?.map(({ error }) => error.message)).toEqual([expect.stringContaining('"spent" of the "buys"')]);
  const row = await db.buys.get(user, course);
  expect(row).toMatchObject({ orders: 2, top: BigInt(`1${"0".repeat(100)}`) });
  expect(row).not.toHaveProperty("spent");
  expect(await ranked()).toEqual([]);
  expect(await db.user(user).out("buys").edges()).toEqual([]);
  expect(await found()).toEqual(["staleFact spent"]);
  expect(await found(true)).toEqual(["staleFact spent"]);
  expect(await db.buys.get(user, course)).toEqual(row);
  await table.take();
  await db.order.unlink(user, course, { key: { no: "2" } }).orThrow();
  await lab.drain();
  expect(await ranked()).toMatchObject([{ orders: 1, spent: 1, top: 1 }]);
  expect(await found()).toEqual([]);
});

test.each([
  ["an empty text", ""],
  ["a text that is too long", long],
])("a copy by the stream that is %s is written by link, processor and repair alike", async (_, name) => {
  const { db } = lab.opened();
  const user = { userId: `s${name.length}` };
  const [c, d, e] = ["c", "d", "e"].map((at) => ({ courseId: `s${name.length}${at}` })) as [
    { courseId: string },
    { courseId: string },
    { courseId: string },
  ];
  for (const course of [c, d, e]) await db.course.put(course).orThrow();
  await db.user.create({ ...user, name: "Ann" }).orThrow();
  for (const kind of ["sparse", "ordered"] as const) await db[kind].link(user, c).orThrow();
  await lab.drain();
  await db.user.update(user, { name }).orThrow();
  for (const kind of ["sparse", "ordered"] as const) await db[kind].link(user, d).orThrow();
  await lab.drain();
  expect(await found()).toEqual([]);
  // The repair does what the processor would have done.
  await db.user.update(user, { name: "Bea" }).orThrow();
  await lab.drain();
  await db.user.update(user, { name }).orThrow();
  expect(await found(true)).toEqual(Array.from({ length: 4 }, () => "staleCopy who"));
  expect(await found()).toEqual([]);
  await lab.drain();
  for (const kind of ["sparse", "ordered"] as const) {
    for (const course of [c, d]) expect((await db[kind].get(user, course))?.who).toBe(name);
    expect(await db.user(user).out(kind).edges()).toHaveLength(2);
  }
  expect(await db.find("sparse").using("byWho").where({ who: "Ann" }).rows()).toEqual([]);
  expect(await db.course(c).in("ordered").edges()).toMatchObject([{ who: name }]);
  const next = `Bea ${name.length}`;
  await db.user.update(user, { name: next }).orThrow();
  for (const kind of ["sparse", "ordered"] as const) await db[kind].link(user, e).orThrow();
  await lab.drain();
  for (const course of [c, d, e]) expect(await db.course(course).in("ordered").edges()).toMatchObject([{ who: next }]);
  expect(await db.find("sparse").using("byWho").where({ who: next }).rows()).toHaveLength(3);
  expect(await found()).toEqual([]);
});

test("a copy by transaction leaves a sparse index, and has a place in the order of edges", async () => {
  const { db } = lab.opened();
  const [user, c, d] = [{ userId: "t" }, { courseId: "tc" }, { courseId: "td" }];
  for (const course of [c, d]) await db.course.put(course).orThrow();
  await db.user.create({ ...user, name: "Ann" }).orThrow();
  for (const kind of ["held", "strict"] as const) await db[kind].link(user, c).orThrow();
  for (const name of ["", long]) {
    await db.user.update(user, { name }).orThrow();
    for (const kind of ["held", "strict"] as const) {
      await db[kind].put(user, d).orThrow();
      for (const course of [c, d]) expect(await db.course(course).in(kind).edges()).toMatchObject([{ who: name }]);
    }
    expect(await db.find("held").using("byNote").where({ who: "Ann" }).rows()).toEqual([]);
    await db.user.update(user, { name: "Ann" }).orThrow();
    expect(await db.find("held").using("byNote").where({ who: "Ann" }).rows()).toHaveLength(2);
  }
  expect(await found()).toEqual([]);
});

test("the order of edges takes as much of a copy as a key holds", async () => {
  const { db } = lab.opened();
  const course = { courseId: "o" };
  await db.course.put(course).orThrow();
  const names = ["", "Ann", `m${long}`, "🙂".repeat(500), "z", `~${"ä".repeat(800)}`];
  for (const [at, name] of names.entries()) {
    await db.user.put({ userId: `o${at}`, name }).orThrow();
    await db.ordered.link({ userId: `o${at}` }, course).orThrow();
  }
  const listed = (await db.course(course).in("ordered").edges()).map(({ who }) => who);
  expect(listed).toEqual(names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
  const after = (who: object) =>
    db
      .course(course)
      .in("ordered")
      .where({ who } as never)
      .edges();
  expect(await after({ gte: "m" })).toHaveLength(4);
  expect(await after({ lt: "m" })).toMatchObject([{ who: "" }, { who: "Ann" }]);
  await lab.drain();
  expect(await found()).toEqual([]);
  await db.course.delete(course).orThrow();
});
