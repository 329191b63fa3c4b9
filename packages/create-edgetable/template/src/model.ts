import { defineGraph, definePatterns, edge, node } from "edgetable";
import { z } from "zod"; // or valibot, arktype: any Standard Schema

export const education = defineGraph({
  table: "Education",
  nodes: {
    student: node({
      key: "STUDENT#{studentId}",
      schema: z.object({ studentId: z.string(), name: z.string(), email: z.email() }),
      unique: ["email"],
    }),
    course: node({
      key: "COURSE#{courseId}",
      schema: z.object({ courseId: z.string(), name: z.string(), credits: z.int() }),
    }),
  },
  edges: {
    enrolledIn: edge({
      from: "student",
      to: "course",
      schema: z.object({ enrolledAt: z.iso.datetime({ local: true }), grade: z.string().optional() }),
      orderBy: "enrolledAt", // sorts neighbours in both directions
    }),
  },
  indexes: { byName: { entries: { course: "name", student: "name" }, shards: 4 } },
});

/** The application's access patterns. `npx edgetable patterns` lists each one with its requests and cost. */
export const patterns = definePatterns(education, {
  studentsOfCourse: {
    question: "Who takes a course, in order of enrolment?",
    example: { courseId: "C1" },
    ask: (db, course) => db.course(course).in("enrolledIn").entries(),
  },
  classmates: {
    question: "Who shares a course with a student?",
    example: { studentId: "S1" },
    ask: (db, student) => db.student(student).out("enrolledIn").in("enrolledIn").dedupe().except("start").nodes(),
  },
  coursesByName: {
    question: "Which course names begin with this text?",
    example: { name: "Adv" },
    ask: (db, { name }) =>
      db
        .find("course")
        .where({ name: { beginsWith: name } })
        .rows(),
  },
});
