import { connect } from "../calls/candidates/edgetable.ts";
import { courses, enrolmentOf, students } from "../calls/data.ts";

const [endpoint = "", table = ""] = process.argv.slice(2);
const calls = await connect({ endpoint, table });
const [student, course] = [students[0], courses[0]];
if (!student || !course) throw new Error("no rows");
const { studentId } = student;
const { courseId } = course;

/** Each of the eight calls once; which of the library's files that loads is read off the process's coverage. */
await calls.putCourse(course);
await calls.putStudent(student);
await calls.enrol(enrolmentOf(student, course));
await calls.setGrade(studentId, courseId, "B");
await calls.getStudent(studentId);
const lists = await Promise.all([calls.coursesOf(studentId), calls.studentsOf(courseId), calls.coursesWithNodes(studentId)]);
if (lists.some((rows) => rows.length !== 1)) throw new Error("the enrolment was not found");
await calls.withdraw(studentId, courseId);
await calls.close();
