import type { CollegeDb } from "./model.ts";

const students = ["Ann", "Ben", "Cleo", "Dan"];

const courses = [
  { courseId: "C1", title: "Mathematics", teacher: "Gauss" },
  { courseId: "C2", title: "Physics", teacher: "Noether" },
  { courseId: "C3", title: "Algebra", teacher: "Noether" },
];

// By the numbers of students: Ann is S1.
const enrolments: readonly (readonly [courseId: string, students: readonly number[]])[] = [
  ["C1", [1, 2, 3]],
  ["C2", [1]],
  ["C3", [2, 4]],
];

/** Writes the college before anything changes. */
export const load = async (db: CollegeDb): Promise<void> => {
  for (const [at, name] of students.entries()) await db.student.create({ studentId: `S${at + 1}`, name }).orThrow();
  for (const course of courses) await db.course.create(course).orThrow();
  for (const [courseId, numbers] of enrolments)
    for (const number of numbers) await db.enrolledIn.link({ studentId: `S${number}` }, { courseId }).orThrow();
  await db.invoice.create({ invoiceId: "I1", due: "2026-12-01" }).orThrow();
  for (const [at, amount] of [120, 80].entries()) await db.bill.create({ invoiceId: "I1" }, { billId: `B${at + 1}`, amount }).orThrow();
};
