import type { ExpectedOf } from "../system.ts";
import type { patterns } from "./patterns.ts";

const s1 = { studentId: "S1", name: "John Doe", email: "john@example.com", yearLevel: 3 };
const s2 = { studentId: "S2", name: "Jane Smith", email: "jane@example.com", yearLevel: 2 };
const c1 = { courseId: "C1", name: "Advanced Mathematics", professor: "Dr. Smith", credits: 3 };
const c2 = { courseId: "C2", name: "Physics 101", professor: "Dr. Johnson", credits: 4 };

const s1c1 = { from: { studentId: "S1" }, to: { courseId: "C1" }, enrolledAt: "2024-03-31T10:00:00", grade: "A" };
const s1c2 = { from: { studentId: "S1" }, to: { courseId: "C2" }, enrolledAt: "2024-03-31T11:00:00", grade: "B+" };
const s2c1 = { from: { studentId: "S2" }, to: { courseId: "C1" }, enrolledAt: "2024-03-31T09:00:00", grade: "A-" };

/** The published answers; the article claims names beside the grades, which takes the nodes as well. */
export const expected: ExpectedOf<typeof patterns> = {
  student: {
    answer: s1,
    requests: ["GetItem PK = 'STUDENT#S1', SK = 'METADATA'"],
  },
  coursesOfStudent: {
    answer: [s1c1, s1c2],
    requests: ["Query PK = 'STUDENT#S1' AND begins_with(SK, 'COURSE#')"],
  },
  studentsOfCourse: {
    answer: [s1c1, s2c1],
    requests: ["Query GSI1: GSI1-PK = 'COURSE#C1' AND begins_with(GSI1-SK, 'STUDENT#')"],
  },
  // The article asks for PK = 'STUDENT#S1' alone, which reads the student's own item too, and has no names.
  namedCoursesOfStudent: {
    answer: [
      { edge: s1c1, node: c1 },
      { edge: s1c2, node: c2 },
    ],
    requests: [
      "Query PK = 'STUDENT#S1' AND begins_with(SK, 'COURSE#')",
      "BatchGetItem ('COURSE#C1', 'METADATA'), ('COURSE#C2', 'METADATA')",
    ],
  },
  namedStudentsOfCourse: {
    answer: [
      { edge: s1c1, node: s1 },
      { edge: s2c1, node: s2 },
    ],
    requests: [
      "Query GSI1: GSI1-PK = 'COURSE#C1' AND begins_with(GSI1-SK, 'STUDENT#')",
      "BatchGetItem ('STUDENT#S1', 'METADATA'), ('STUDENT#S2', 'METADATA')",
    ],
  },
  studentWithEnrolments: {
    answer: { node: s1, edges: { enrolledIn: [s1c1, s1c2] }, parts: {} },
    requests: ["Query PK = 'STUDENT#S1'"],
  },
  course: {
    answer: c1,
    requests: ["GetItem PK = 'COURSE#C1', SK = 'METADATA'"],
  },
  isEnrolled: {
    answer: true,
    requests: ["GetItem PK = 'STUDENT#S1', SK = 'COURSE#C1'"],
  },
  classSize: {
    answer: 2,
    requests: ["Query GSI1: GSI1-PK = 'COURSE#C1' AND begins_with(GSI1-SK, 'STUDENT#') (only PK, SK, GSI1-PK, GSI1-SK, EntityType)"],
  },
};
