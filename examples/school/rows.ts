import type { SchoolDb } from "./model.ts";

const tom = { studentId: "TOM" };

const classes = [
  { teacherId: "SIMON", class: "MATH", subject: "Math", teacherName: "Simon" },
  { teacherId: "MICHAEL", class: "PHYSICS", subject: "Physics", teacherName: "Michael" },
];

/** Writes the four rows. */
export const load = async (db: SchoolDb): Promise<void> => {
  await db.student.create({ ...tom, name: "Tom" }).orThrow();
  for (const { teacherId, ...taken } of classes) await db.takes.link(tom, { teacherId }, taken).orThrow();
  await db.livesIn.link(tom, { country: "USA", state: "CA", city: "LOS_ANGELES" }).orThrow();
};
