import type { EducationDb } from "./model.ts";

export const students = [
  { studentId: "S1", name: "John Doe", email: "john@example.com", yearLevel: 3 },
  { studentId: "S2", name: "Jane Smith", email: "jane@example.com", yearLevel: 2 },
];

export const courses = [
  { courseId: "C1", name: "Advanced Mathematics", professor: "Dr. Smith", credits: 3 },
  { courseId: "C2", name: "Physics 101", professor: "Dr. Johnson", credits: 4 },
];

export const enrolments = [
  { studentId: "S1", courseId: "C1", enrolledAt: "2024-03-31T10:00:00", grade: "A" },
  { studentId: "S1", courseId: "C2", enrolledAt: "2024-03-31T11:00:00", grade: "B+" },
  { studentId: "S2", courseId: "C1", enrolledAt: "2024-03-31T09:00:00", grade: "A-" },
];

/** Writes the seven rows. */
export const load = async (db: EducationDb): Promise<void> => {
  for (const student of students) await db.student.create(student).orThrow();
  for (const course of courses) await db.course.create(course).orThrow();
  for (const { studentId, courseId, ...enrolment } of enrolments)
    await db.enrolledIn.link({ studentId }, { courseId }, enrolment).orThrow();
};
