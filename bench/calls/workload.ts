import type { CallName, Calls } from "./calls.ts";
import { courses, enrolments, putStudents, spareEnrolments, students } from "./data.ts";

const at = <T>(values: readonly T[], index: number): T => values[index % values.length] as T;
const grades = ["A", "B", "C", "D"];

/** The call with its argument number `index`; arguments are made beforehand and cost a call nothing. */
export const workload: Readonly<Record<CallName, (calls: Calls, index: number) => Promise<unknown>>> = {
  put: (calls, index) => calls.putStudent(at(putStudents, index)),
  enrol: (calls, index) => calls.enrol(at(spareEnrolments, index)),
  get: (calls, index) => calls.getStudent(at(students, index).studentId),
  list: (calls, index) => calls.coursesOf(at(students, index).studentId),
  listByIndex: (calls, index) => calls.studentsOf(at(courses, index).courseId),
  update: (calls, index) => calls.setGrade(at(enrolments, index).studentId, at(enrolments, index).courseId, at(grades, index)),
  delete: (calls, index) => calls.withdraw(at(spareEnrolments, index).studentId, at(spareEnrolments, index).courseId),
  hydrate: (calls, index) => calls.coursesWithNodes(at(students, index).studentId),
};
