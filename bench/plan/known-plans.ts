import type { CallName, Course, Enrolment, Student } from "../calls/calls.ts";
import { makeSchemas } from "../calls/candidates/edgetable.ts";
import { open } from "../calls/candidates/edgetable/education.ts";
import { courses, enrolments, students } from "../calls/data.ts";

/** Plans of the eight calls, as `explain()` gives them: from the call to the exact requests, unsent. */
export const knownPlans = (): Readonly<Record<CallName, () => Promise<unknown>>> => {
  const db = open(makeSchemas(), { endpoint: "http://127.0.0.1:1", table: "Education" });
  const [{ studentId }, { courseId }] = [students[0] as Student, courses[0] as Course];
  const { studentId: from, courseId: to, ...attributes } = enrolments[0] as Enrolment;
  const ends = [{ studentId: from }, { courseId: to }] as const;
  return {
    put: () => db.student.put(students[0] as Student).explain(),
    enrol: () => db.enrolledIn.link(...ends, attributes).explain(),
    get: () => db.student.get({ studentId }).explain(),
    list: () => db.student({ studentId }).out("enrolledIn").explain(),
    listByIndex: () => db.course({ courseId }).in("enrolledIn").explain(),
    update: () => db.enrolledIn.relink(...ends, { grade: "B" }).explain(),
    delete: () => db.enrolledIn.unlink(...ends).explain(),
    hydrate: () => db.student({ studentId }).out("enrolledIn").entries().explain(),
  };
};
