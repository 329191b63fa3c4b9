import { deepStrictEqual, ok, rejects } from "node:assert/strict";
import type { Calls, Enrolment, Course, Student } from "./calls.ts";
import { courses, enrolmentOf, enrolments, spareCourses, spareStudents, studentAt, students } from "./data.ts";

type Row = Readonly<Record<string, unknown>>;

/** An attribute of a row, where an edge's ids may stand with its ends. */
const read = (row: Row, name: string): unknown => row[name] ?? (row.from as Row | undefined)?.[name] ?? (row.to as Row | undefined)?.[name];
/** A row cut down to the attributes of `like`: a library may add its own (keys, a type), but must give these. */
const pick = (row: Row, like: object): Row => Object.fromEntries(Object.keys(like).map((name) => [name, read(row, name)]));
const same = (row: unknown, expected: object): void => deepStrictEqual(pick(row as Row, expected), expected);
const sameRows = (rows: readonly unknown[], expected: readonly object[]): void => {
  deepStrictEqual(rows.length, expected.length);
  for (const [index, row] of rows.entries()) same(row, expected[index] as object);
};
const edgesBy = (attribute: "studentId" | "courseId", id: string, order: "studentId" | "courseId"): Enrolment[] =>
  enrolments.filter((edge) => edge[attribute] === id).sort((left, right) => (left[order] < right[order] ? -1 : 1));

const checkReads = async (calls: Calls): Promise<void> => {
  for (const index of [0, 7, 199]) {
    const student = students[index] as Student;
    const course = courses[index] as Course;
    same(await calls.getStudent(student.studentId), student);
    const edges = edgesBy("studentId", student.studentId, "courseId");
    sameRows(await calls.coursesOf(student.studentId), edges);
    sameRows(await calls.studentsOf(course.courseId), edgesBy("courseId", course.courseId, "studentId"));
    const hydrated = await calls.coursesWithNodes(student.studentId);
    sameRows(
      hydrated.map((row) => row.edge),
      edges,
    );
    sameRows(
      hydrated.map((row) => row.node),
      edges.map((edge) => courses.find((found) => found.courseId === edge.courseId) as Course),
    );
  }
  ok((await calls.getStudent("nobody")) === undefined, "a student that is not there is undefined");
};

const checkWrites = async (calls: Calls): Promise<void> => {
  const student = studentAt(0, "W");
  await calls.putStudent(student);
  same(await calls.getStudent(student.studentId), student);
  const edge = enrolmentOf(student, spareCourses[0] as Course);
  await calls.enrol(edge);
  sameRows(await calls.coursesOf(student.studentId), [edge]);
  sameRows(await calls.studentsOf(edge.courseId), [edge]);
  await calls.setGrade(edge.studentId, edge.courseId, "F");
  sameRows(await calls.coursesOf(student.studentId), [{ ...edge, grade: "F" }]);
  await calls.withdraw(edge.studentId, edge.courseId);
  sameRows(await calls.coursesOf(student.studentId), []);
  sameRows(await calls.studentsOf(edge.courseId), []);
};

const checkTransaction = async (calls: Calls): Promise<void> => {
  const orphan = enrolmentOf(spareStudents[0] as Student, { ...(spareCourses[0] as Course), courseId: "gone" });
  await rejects(async () => calls.enrol(orphan));
  sameRows(await calls.studentsOf("gone"), []);
  await rejects(async () => calls.enrol({ ...orphan, studentId: "nobody", courseId: (spareCourses[0] as Course).courseId }));
};

/** Throws unless the candidate answers every call with the rows of the loaded system. Leaves it as it was. */
export const checkAnswers = async (calls: Calls): Promise<void> => {
  await checkReads(calls);
  await checkWrites(calls);
  await checkTransaction(calls);
};
