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

/** How many forms of a call there are: selections of six attributes. */
export const FORMS = 63;

/** The attributes whose bit is set in a form from 1 to FORMS. */
const selected = <Name extends string>(form: number, names: readonly Name[]): readonly [Name, ...Name[]] =>
  names.filter((_, at) => form & (1 << at)) as [Name, ...Name[]];

const ofStudents = ["name", "email", "major", "city", "gpa", "tags"] as const;
const ofCourses = ["name", "department", "room", "level", "credits", "open"] as const;
const ofEnrolments = ["enrolledAt", "grade", "status", "credits", "term", "note"] as const;

/**
 * Reads whose form a connection has not seen, each in several forms. Writes are planned from their values each time: they have
 * no form.
 */
export const newPlans: Readonly<Record<string, (db: Education, form: number) => Promise<unknown>>> = {
  get: (db, form) => db.student.get({ studentId }, { select: selected(form, ofStudents) }).explain(),
  list: (db, form) =>
    db
      .student({ studentId })
      .out("enrolledIn")
      .select(...selected(form, ofEnrolments))
      .explain(),
  listByIndex: (db, form) =>
    db
      .course({ courseId })
      .in("enrolledIn")
      .select(...selected(form, ofEnrolments))
      .explain(),
  filter: (db, form) =>
    db
      .student({ studentId })
      .out("enrolledIn")
      .where({ grade: { gte: "B" } })
      .select(...selected(form, ofEnrolments))
      .limit(20)
      .edges()
      .explain(),
  page: (db, form) =>
    db
      .course({ courseId })
      .in("enrolledIn")
      .select(...selected(form, ofEnrolments))
      .page({ limit: 20 })
      .explain(),
  hydrate: (db, form) =>
    db
      .student({ studentId })
      .out("enrolledIn")
      .entries({ select: selected(form, ofCourses) })
      .explain(),
};
