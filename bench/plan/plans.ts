import type { CallName, Course, Enrolment, Student } from "../calls/calls.ts";
import { makeSchemas } from "../calls/candidates/edgetable.ts";
import { educationOf, placeOf, type Education } from "../calls/candidates/edgetable/education.ts";
import { courses, enrolments, students } from "../calls/data.ts";

type Explain = () => Promise<unknown>;

const place = placeOf("http://127.0.0.1:1");
const { studentId } = students[0] as Student;
const { courseId } = courses[0] as Course;
const education = educationOf(makeSchemas(), "Education");

/** Each of the eight calls from the call to its exact requests, unsent, on one connection. */
export const knownPlans = (): Readonly<Record<CallName, Explain>> => {
  const db = education.connect(place);
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

/** Opens a connection that has planned nothing yet. */
export const openNew = (): Education => education.connect(place);

/** Reads whose form a new connection has not seen. Writes are planned from their values each time: they have no form. */
export const newPlans: Readonly<Record<string, (db: Education) => Promise<unknown>>> = {
  get: (db) => db.student.get({ studentId }).explain(),
  list: (db) => db.student({ studentId }).out("enrolledIn").explain(),
  listByIndex: (db) => db.course({ courseId }).in("enrolledIn").explain(),
  filter: (db) =>
    db
      .student({ studentId })
      .out("enrolledIn")
      .where({ grade: { gte: "B" } })
      .limit(20)
      .edges()
      .explain(),
  page: (db) => db.course({ courseId }).in("enrolledIn").page({ limit: 20 }).explain(),
  hydrate: (db) => db.student({ studentId }).out("enrolledIn").entries().explain(),
};
