import { average, count, defineGraph, distinct, edge, max, min, node, type Item, part, sum, summarize } from "edgetable";
import { z } from "zod";

const id = z.string();

/** Students on courses, with an aggregate of every kind, copies of both ends, and a chain over both. */
export const graphIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      student: node({
        key: "STUDENT#{id}",
        schema: z.object({ id, name: z.string().optional() }),
        derived: {
          credits: sum({ out: "enrolledIn", of: "credits", freshness: "stream" }),
          effort: sum({ out: "attends", of: "total", freshness: "stream" }),
        },
      }),
      course: node({
        key: "COURSE#{id}",
        schema: z.object({ id, name: z.string().optional() }),
        derived: {
          students: count({ in: "enrolledIn", freshness: "stream" }),
          passed: count({ in: "enrolledIn", where: { grade: { gte: 5 } }, freshness: "stream" }),
          points: sum({ in: "enrolledIn", of: "grade", freshness: "stream" }),
          mean: average({ in: "enrolledIn", of: "grade", freshness: "stream" }),
          weight: average({ in: "enrolledIn", of: "weight", freshness: "stream" }),
          worst: min({ in: "enrolledIn", of: "grade" }),
          best: max({ in: "enrolledIn", of: "grade" }),
          kinds: distinct({ in: "enrolledIn", of: "grade" }),
          attendees: distinct({ in: "enrolledIn" }),
          hours: sum({ parts: "lesson", of: "hours", freshness: "stream" }),
        },
      }),
    },
    edges: {
      enrolledIn: edge({
        from: "student",
        to: "course",
        schema: z.object({ grade: z.number().optional(), weight: z.union([z.number(), z.string()]).optional() }),
        ends: "unchecked",
        copies: {
          from: { studentName: { of: "name", freshness: "stream" } },
          to: { courseName: { of: "name", freshness: "stream" }, credits: { of: "hours", freshness: "stream" } },
        },
      }),
      marked: edge({
        from: "student",
        to: "course",
        schema: z.object({ test: id, grade: z.number().optional() }),
        key: ["test"],
        ends: "unchecked",
      }),
      attends: summarize(
        edge({ from: "student", to: "course", stored: "twice", ends: "unchecked" }),
        { tests: count({ along: "marked" }), total: sum({ along: "marked", of: "grade" }), top: max({ along: "marked", of: "grade" }) },
        { orderBy: "total:number" },
      ),
    },
    parts: { lesson: part({ of: "course", key: "LESSON#{lesson}", schema: z.object({ lesson: id, hours: z.number() }) }) },
    indexes: { byStudents: { entries: { course: "students:number" } } },
  });

type Graph = ReturnType<typeof graphIn>;
export type Db = ReturnType<Graph["connect"]>;

/** Puts an item as a program does that knows nothing of facts. */
export type RawPut = (item: Item) => Promise<unknown>;

/** A write of a random history, of the rows of one history alone. */
export type Write = (db: Db, history: string, raw: RawPut) => PromiseLike<unknown>;

const GRADES = [0.1, 0.2, 3, 5, 7, 7];

/** A random write. Rows are few, so that writes meet. */
export const randomWrite = (random: () => number): Write => {
  const pick = (n: number): number => Math.floor(random() * n);
  const [s, c, kind, value] = [pick(3), pick(2), pick(25), pick(1000)];
  const grade = GRADES[pick(GRADES.length)];
  const row = grade === undefined || pick(5) === 0 ? {} : { grade };
  const weights = [{ weight: 2 }, { weight: "heavy" }, {}];
  const enrolment = { ...row, ...weights[value % 3] };
  return (db, history, raw) => {
    const [student, course] = [{ id: `${history}s${s}` }, { id: `${history}c${c}` }];
    const lesson = { lesson: String(pick(2)) };
    const name = `n${value}`;
    switch (kind) {
      case 0:
        return db.student.create({ ...student, name }).orThrow();
      case 1:
        return db.course.create({ ...course, name }).orThrow();
      case 2:
        return db.student.put({ ...student, name }).orThrow();
      case 3:
        return db.course.put(course).orThrow();
      case 4:
        return db.student.delete(student).orThrow();
      case 5:
        return db.course.delete(course).orThrow();
      case 6:
        return db.course.update(course, { name }).orThrow();
      case 7:
        return db.student.update(student, { name }).orThrow();
      case 8:
        return db.lesson.put(course, { ...lesson, hours: value / 10 }).orThrow();
      case 9:
        return db.lesson.delete(course, lesson).orThrow();
      case 10:
        return db.batch([db.enrolledIn.put(student, course, enrolment)]);
      case 11:
        return db.enrolledIn.unlink(student, course).orThrow();
      case 12:
        return db.enrolledIn.relink(student, course, grade === undefined ? { remove: ["grade"] } : { grade }).orThrow();
      case 13:
        return raw({ pk: { S: `COURSE#${course.id}` }, sk: { S: "#" }, type: { S: "course" }, name: { S: name } });
      case 14: {
        const keys = { pk: { S: `STUDENT#${student.id}` }, sk: { S: `enrolledIn#COURSE#${course.id}` } };
        const reverse = { gsi1pk: { S: `COURSE#${course.id}` }, gsi1sk: { S: `enrolledIn#STUDENT#${student.id}` } };
        return raw({ ...keys, ...reverse, type: { S: "enrolledIn" }, studentName: { S: "old" } });
      }
      case 15:
        return db.marked.link(student, course, { test: String(value % 3), ...row }).orThrow();
      case 16:
        return db.batch([db.marked.put(student, course, { test: String(value % 3), ...row })]);
      case 17:
        return db.marked.unlink(student, course, { key: { test: String(value % 3) } }).orThrow();
      case 18:
        return db.attends.put(student, course).orThrow();
      case 19:
        return db.attends.unlink(student, course).orThrow();
      case 20:
        return db.attends.link(student, course).orThrow();
      case 21: {
        // A program that does not know what is derived of the edge writes one of its two items.
        const keys = { pk: { S: `STUDENT#${student.id}` }, sk: { S: `attends#COURSE#${course.id}` } };
        return raw({ ...keys, type: { S: "attends" } });
      }
      default:
        return db.enrolledIn.link(student, course, enrolment).orThrow();
    }
  };
};
