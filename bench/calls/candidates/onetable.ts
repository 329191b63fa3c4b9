import { Table } from "dynamodb-onetable";
import type { Entity } from "dynamodb-onetable";
import type { Calls, Course, Enrolment, Place, Student } from "../calls.ts";
import { createClient } from "./sdk-client.ts";

const schema = {
  format: "onetable:1.1.0",
  version: "0.0.1",
  indexes: { primary: { hash: "PK", sort: "SK" }, GSI1: { hash: "GSI1PK", sort: "GSI1SK", project: "all" } },
  models: {
    Student: {
      PK: { type: String, value: "STUDENT#${studentId}" },
      SK: { type: String, value: "STUDENT#${studentId}" },
      studentId: { type: String, required: true },
      name: { type: String, required: true },
      email: { type: String, required: true },
      yearLevel: { type: Number, required: true },
      major: { type: String, required: true },
      city: { type: String, required: true },
      country: { type: String, required: true },
      gpa: { type: Number, required: true },
      active: { type: Boolean, required: true },
      tags: { type: Array, required: true },
    },
    Course: {
      PK: { type: String, value: "COURSE#${courseId}" },
      SK: { type: String, value: "COURSE#${courseId}" },
      courseId: { type: String, required: true },
      name: { type: String, required: true },
      professor: { type: String, required: true },
      credits: { type: Number, required: true },
      department: { type: String, required: true },
      room: { type: String, required: true },
      capacity: { type: Number, required: true },
      language: { type: String, required: true },
      level: { type: String, required: true },
      open: { type: Boolean, required: true },
    },
    Enrolment: {
      PK: { type: String, value: "STUDENT#${studentId}" },
      SK: { type: String, value: "COURSE#${courseId}" },
      GSI1PK: { type: String, value: "COURSE#${courseId}" },
      GSI1SK: { type: String, value: "STUDENT#${studentId}" },
      studentId: { type: String, required: true },
      courseId: { type: String, required: true },
      enrolledAt: { type: String, required: true },
      grade: { type: String, required: true },
      status: { type: String, required: true },
      credits: { type: Number, required: true },
      term: { type: String, required: true },
      note: { type: String, required: true },
    },
  },
} as const;

const tableOf = ({ endpoint, table, tap }: Place): Table =>
  new Table({ client: createClient(endpoint, tap), name: table, schema, partial: false });
const modelsOf = (table: Table) => ({
  student: table.getModel<Entity<typeof schema.models.Student>>("Student"),
  course: table.getModel<Entity<typeof schema.models.Course>>("Course"),
  enrolment: table.getModel<Entity<typeof schema.models.Enrolment>>("Enrolment"),
});
type Models = ReturnType<typeof modelsOf>;

const writesOf = (
  table: Table,
  { student, course, enrolment }: Models,
): Pick<Calls, "putStudent" | "putCourse" | "putEnrolments" | "enrol" | "setGrade" | "withdraw"> => ({
  putStudent: ({ tags, ...rest }) => student.create({ ...rest, tags: [...tags] }, { exists: null }),
  putCourse: (row) => course.create(row, { exists: null }),
  async putEnrolments(rows) {
    const batch = {};
    for (const row of rows) await enrolment.create(row, { batch, exists: null });
    return table.batchWrite(batch);
  },
  async enrol(row) {
    const transaction = {};
    await enrolment.create(row, { transaction, exists: null });
    await student.check({ studentId: row.studentId }, { transaction, exists: true });
    await course.check({ courseId: row.courseId }, { transaction, exists: true });
    await table.transact("write", transaction);
  },
  setGrade: (studentId, courseId, grade) => enrolment.update({ studentId, courseId, grade }),
  withdraw: (studentId, courseId) => enrolment.remove({ studentId, courseId }),
});

export const connect = (place: Place): Calls => {
  const table = tableOf(place);
  const models = modelsOf(table);
  const coursesOf: Calls<Enrolment>["coursesOf"] = (studentId) => models.enrolment.find({ studentId });
  return {
    ...writesOf(table, models),
    coursesOf,
    getStudent: (studentId) => models.student.get({ studentId }) as Promise<Student | undefined>,
    studentsOf: (courseId) => models.enrolment.find({ courseId }, { index: "GSI1" }),
    async coursesWithNodes(studentId) {
      const edges = await coursesOf(studentId);
      const batch = {};
      for (const { courseId } of edges) await models.course.get({ courseId }, { batch });
      const found = (await table.batchGet(batch, { parse: true })) as Course[];
      const byId = new Map(found.map((course) => [course.courseId, course]));
      return edges.map((edge) => ({ edge, node: byId.get(edge.courseId) as Course }));
    },
    close: () => undefined,
  };
};
