import { definePatterns } from "edgetable";
import { education } from "./model.ts";

/** Every question that the article asks or claims to answer, and the cheap ones that it does not. */
export const patterns = definePatterns(education, {
  student: {
    question: "Who is a student?",
    example: { studentId: "S1" },
    ask: (db, id) => db.student.get(id),
  },
  coursesOfStudent: {
    question: "Which courses does a student take, and with which grade?",
    example: { studentId: "S1" },
    ask: (db, id) => db.student(id).out("enrolledIn").edges(),
  },
  studentsOfCourse: {
    question: "Which students take a course, and with which grade?",
    example: { courseId: "C1" },
    ask: (db, id) => db.course(id).in("enrolledIn").edges(),
  },
  namedCoursesOfStudent: {
    question: "What are a student's courses called?",
    example: { studentId: "S1" },
    ask: (db, id) => db.student(id).out("enrolledIn").entries(),
  },
  namedStudentsOfCourse: {
    question: "What are the students of a course called?",
    example: { courseId: "C1" },
    ask: (db, id) => db.course(id).in("enrolledIn").entries(),
  },
  studentWithEnrolments: {
    question: "What is known of a student, with every enrolment?",
    example: { studentId: "S1" },
    ask: (db, id) => db.student(id).collection(),
  },
  course: {
    question: "What is a course called, and who gives it?",
    example: { courseId: "C1" },
    ask: (db, id) => db.course.get(id),
  },
  isEnrolled: {
    question: "Does a student take a course?",
    example: { studentId: "S1", courseId: "C1" },
    ask: (db, { studentId, courseId }) => db.student({ studentId }).has("enrolledIn", { courseId }),
  },
  classSize: {
    question: "How many students take a course?",
    example: { courseId: "C1" },
    ask: (db, id) => db.course(id).in("enrolledIn").count(),
  },
});
