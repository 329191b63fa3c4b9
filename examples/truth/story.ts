import type { Transport } from "edgetable";
import { refreshFacts } from "edgetable/streams";
import { verify } from "edgetable/verify";
import type { Chapter } from "../story.ts";
import type { CollegeByTeacherDb, CollegeDb } from "./model.ts";

/** What the chapters act on: one table, through both models and past them. */
export interface Stage {
  readonly db: CollegeDb;
  /** With the changed model. */
  readonly newDb: CollegeByTeacherDb;
  /** For writes that Edgetable does not see. */
  readonly foreign: Pick<Transport, "send">;
}

type TruthChapter = Chapter<Stage>;

const application = "the application";

const renamed: TruthChapter = {
  name: "renamed",
  title: "A course is renamed. Every enrolment copies its title, fresh by transaction.",
  deeds: [
    {
      by: application,
      calls: ['db.course.update({ courseId: "C1" }, { title: "Calculus" })'],
      act: async ({ db }) => void (await db.course.update({ courseId: "C1" }, { title: "Calculus" }).orThrow()),
    },
  ],
  call: 'db.course({ courseId: "C1" }).in("enrolledIn").edges()',
  ask: ({ db }) => db.course({ courseId: "C1" }).in("enrolledIn").edges().run(),
  expected: ["S1", "S2", "S3"].map((studentId) => ({ from: { studentId }, to: { courseId: "C1" }, title: "Calculus" })),
};

const counted: TruthChapter = {
  name: "counted",
  title: "A student changes courses. Courses count their students, by transaction; an index ranks them.",
  deeds: [
    {
      by: application,
      calls: ['db.enrolledIn.unlink({ studentId: "S2" }, { courseId: "C1" })'],
      act: async ({ db }) => void (await db.enrolledIn.unlink({ studentId: "S2" }, { courseId: "C1" }).orThrow()),
    },
    {
      by: application,
      calls: ['db.enrolledIn.link({ studentId: "S3" }, { courseId: "C3" })'],
      act: async ({ db }) => void (await db.enrolledIn.link({ studentId: "S3" }, { courseId: "C3" }).orThrow()),
    },
  ],
  call: 'db.find("course").reverse().limit(3).rows()',
  ask: ({ db }) => db.find("course").reverse().limit(3).rows().run(),
  expected: [
    { courseId: "C3", title: "Algebra", teacher: "Noether", students: 3 },
    { courseId: "C1", title: "Calculus", teacher: "Gauss", students: 2 },
    { courseId: "C2", title: "Physics", teacher: "Noether", students: 1 },
  ],
};

const summed: TruthChapter = {
  name: "summed",
  title: 'Bills change. The invoice\'s total is a sum with freshness "stream": it follows a little later.',
  deeds: [
    {
      by: application,
      calls: [
        'db.bill.update({ invoiceId: "I1" }, { billId: "B1" }, { amount: 150 })',
        'db.bill.create({ invoiceId: "I1" }, { billId: "B3", amount: 20 })',
        'db.invoice.get({ invoiceId: "I1" })',
      ],
      act: async ({ db }) => {
        await db.bill.update({ invoiceId: "I1" }, { billId: "B1" }, { amount: 150 }).orThrow();
        await db.bill.create({ invoiceId: "I1" }, { billId: "B3", amount: 20 }).orThrow();
        return db.invoice.get({ invoiceId: "I1" }).run();
      },
      expected: { invoiceId: "I1", due: "2026-12-01", total: 200 },
    },
    {
      by: "the upkeep of stream facts, here run once over the whole table in place of the stream's processor",
      calls: ["refreshFacts(db, { segments: 1 })"],
      act: async ({ db }) => void (await refreshFacts(db, { segments: 1 })),
    },
  ],
  call: 'db.invoice.get({ invoiceId: "I1" })',
  ask: ({ db }) => db.invoice.get({ invoiceId: "I1" }).run(),
  expected: { invoiceId: "I1", due: "2026-12-01", total: 250 },
};

const indexed: TruthChapter = {
  name: "indexed",
  title: "The new model has one more index: courses by teacher. The table follows while it is in use.",
  deeds: [
    {
      by: "the migration",
      calls: ["newDb.migrations.run({ share: 100 })"],
      act: async ({ newDb }) => void (await newDb.migrations.run({ share: 100 })),
    },
    {
      by: "a process that still has the old model",
      calls: ['db.course.create({ courseId: "C4", title: "Rings", teacher: "Noether" })'],
      act: async ({ db }) => void (await db.course.create({ courseId: "C4", title: "Rings", teacher: "Noether" }).orThrow()),
    },
    {
      by: "the migration, once that process has ended",
      calls: ["newDb.migrations.run({ share: 100, finish: true })"],
      act: async ({ newDb }) => void (await newDb.migrations.run({ share: 100, finish: true })),
    },
  ],
  call: 'newDb.find("course").where({ teacher: "Noether" }).rows()',
  ask: ({ newDb }) => newDb.find("course").where({ teacher: "Noether" }).rows().run(),
  expected: [
    { courseId: "C2", title: "Physics", teacher: "Noether", students: 1 },
    { courseId: "C3", title: "Algebra", teacher: "Noether", students: 3 },
    { courseId: "C4", title: "Rings", teacher: "Noether", students: 0 },
  ],
};

const check = async ({ newDb }: Stage, repair: boolean): Promise<unknown> => {
  const { clean, kinds } = await verify(newDb, { repair, settle: 100 });
  return kinds.length === 0 ? { clean } : kinds.map(({ kind, count, repaired }) => ({ kind, count, repaired }));
};

const damage = async ({ foreign }: Stage): Promise<void> => {
  const set = (pk: string, sk: string, name: string, value: { readonly S: string } | { readonly N: string }): Promise<unknown> =>
    foreign.send("UpdateItem", {
      TableName: "College",
      Key: { pk: { S: pk }, sk: { S: sk } },
      UpdateExpression: `SET ${name} = :value`,
      ExpressionAttributeValues: { ":value": value },
      ReturnConsumedCapacity: "TOTAL",
    });
  await set("COURSE#C1", "#", "students", { N: "40" });
  await set("STUDENT#S1", "enrolledIn#COURSE#C1", "title", { S: "Mathematics" });
  await set("COURSE#C3", "#", "byTeacherSk", { S: "Gauss#COURSE#C3" });
};

const found = (repaired: 0 | 1): unknown => [
  { kind: "indexKey", count: 1, repaired },
  { kind: "wrongAggregate", count: 1, repaired },
  { kind: "staleCopy", count: 1, repaired },
];

const repaired: TruthChapter = {
  name: "repaired",
  title: "Another program writes past Edgetable: a false count, an old title, a wrong index key.",
  deeds: [
    { by: "the other program", calls: ["three UpdateItem requests"], act: damage },
    { by: "the verification", calls: ["verify(newDb, { settle: 100 })"], act: (stage) => check(stage, false), expected: found(0) },
    { by: "the repair", calls: ["verify(newDb, { settle: 100, repair: true })"], act: (stage) => check(stage, true), expected: found(1) },
  ],
  call: "verify(newDb, { settle: 100 })",
  ask: (stage) => check(stage, false),
  expected: { clean: true },
};

/** What happens to the college, in this order: each chapter needs those before it. */
export const chapters: readonly TruthChapter[] = [renamed, counted, summed, indexed, repaired];
