import { count, defineGraph, definePatterns, edge, node, part } from "edgetable";
import { z } from "zod";

const text = z.string();

/** The college that the studio's pictures and browser tests show: every kind of item that the table can hold. */
export const college = defineGraph({
  table: "College",
  nodes: {
    student: node({
      key: "STUDENT#{studentId}",
      schema: z.object({ studentId: text, name: text, email: z.email(), year: z.int(), tags: z.set(text).optional() }),
      unique: ["email"],
    }),
    course: node({
      key: "COURSE#{courseId}",
      schema: z.object({ courseId: text, title: text, credits: z.int(), level: z.enum(["basic", "advanced"]) }),
      derived: { students: count({ in: "enrolledIn" }) },
    }),
    teacher: node({ key: "TEACHER#{teacherId}", schema: z.object({ teacherId: text, name: text, office: text.optional() }) }),
    session: node({
      key: "SESSION#{sessionId}",
      schema: z.object({ sessionId: text, studentId: text, device: text, until: z.int() }),
      ttl: "until",
    }),
    project: node({
      key: "PROJECT#{projectId}",
      schema: z.object({ projectId: text, courseId: text, num: z.int(), title: text, state: z.enum(["open", "graded"]) }),
      fields: { of: "course", orderBy: "num:3", sortable: ["title"] },
    }),
  },
  edges: {
    enrolledIn: edge({
      from: "student",
      to: "course",
      schema: z.object({ at: z.iso.date(), grade: text.optional() }),
      orderBy: "at",
      onDelete: { from: "cascade", to: "cascade" },
      expect: { from: 4, to: 40 },
    }),
    teaches: edge({ from: "teacher", to: "course", schema: z.object({ since: z.int() }), orderBy: "since:number" }),
    requires: edge({ from: "course", to: "course" }),
    sharesOffice: edge({ from: "teacher", to: "teacher", symmetric: true }),
    gives: edge({ from: "teacher", to: "lecture" }),
    sessionOf: edge({ from: "session", to: "student", stored: "reference" }),
  },
  parts: {
    lecture: part({
      of: "course",
      key: "LECTURE#{week:2}",
      schema: z.object({ week: z.int(), topic: text, minutes: z.int(), slides: z.array(text).optional() }),
    }),
    note: part({ of: "student", key: "NOTE#{number:3}", schema: z.object({ number: z.int(), text }) }),
  },
  indexes: {
    byName: { entries: { student: { by: "name", shards: 6 }, teacher: "name" }, shards: 2 },
    byLevel: { entries: { course: ["level", "title"] } },
  },
});

/** Handlers for `edgetable stream`: a catalogue that is printed, in which a course without a title has no place. */
export const streamHandlers = {
  catalogue: {
    on: "course",
    event: ({ after }: { readonly after?: { readonly title?: string } }) => {
      if (after?.title === "Untitled") throw new Error("A course without a title cannot be printed.");
    },
  },
};

export const patterns = definePatterns(college, {
  studentsOfCourse: {
    question: "Who takes a course, in the order of enrolment?",
    example: { courseId: "C101" },
    ask: (db, course) => db.course(course).in("enrolledIn").page({ limit: 20 }),
  },
  coursesOfStudent: {
    question: "Which courses does a student take, and with which grade?",
    example: { studentId: "S001" },
    ask: (db, student) => db.student(student).out("enrolledIn").entries(),
  },
  classmates: {
    question: "Who shares a course with a student?",
    example: { studentId: "S001" },
    ask: (db, student) => db.student(student).out("enrolledIn").in("enrolledIn").dedupe().except("start").nodes(),
  },
  someClassmates: {
    question: "Who shares a course with a student, as far as three requests find them?",
    example: { studentId: "S001" },
    ask: (db, student) =>
      db
        .student(student)
        .out("enrolledIn")
        .in("enrolledIn")
        .dedupe()
        .except("start")
        .nodes({ budget: { requests: 3 } }),
  },
  courseWithLectures: {
    question: "What is known of a course, with its lectures?",
    example: { courseId: "C101" },
    ask: (db, course) => db.course(course).collection(),
  },
  studentByEmail: {
    question: "Whose address is this?",
    example: { email: "ada.lovelace@college.example" },
    ask: (db, { email }) => db.student.by({ email }),
  },
  namesFrom: {
    question: "Which students' names begin with a text?",
    example: { text: "A", most: 10 },
    ask: (db, { text, most }) =>
      db
        .find("student")
        .where({ name: { beginsWith: text } })
        .limit(most)
        .rows(),
  },
  prerequisites: {
    question: "What must one know before a course?",
    example: { courseId: "C301" },
    ask: (db, course) => db.course(course).out("requires").entries(),
  },
});
