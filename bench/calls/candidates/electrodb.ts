import { Entity, Service } from "electrodb";
import type { EntityConfiguration } from "electrodb";
import type { Calls, Course, Enrolment, Place, Student } from "../calls.ts";
import { createDocumentClient } from "./document-client.ts";

const studentOf = (configuration: EntityConfiguration) =>
  new Entity(
    {
      model: { entity: "student", version: "1", service: "education" },
      attributes: {
        studentId: { type: "string", required: true },
        name: { type: "string", required: true },
        email: { type: "string", required: true },
        yearLevel: { type: "number", required: true },
        major: { type: "string", required: true },
        city: { type: "string", required: true },
        country: { type: "string", required: true },
        gpa: { type: "number", required: true },
        active: { type: "boolean", required: true },
        tags: { type: "list", items: { type: "string" }, required: true },
      },
      indexes: {
        primary: { pk: { field: "PK", composite: ["studentId"], casing: "none" }, sk: { field: "SK", composite: [], casing: "none" } },
      },
    },
    configuration,
  );

const courseOf = (configuration: EntityConfiguration) =>
  new Entity(
    {
      model: { entity: "course", version: "1", service: "education" },
      attributes: {
        courseId: { type: "string", required: true },
        name: { type: "string", required: true },
        professor: { type: "string", required: true },
        credits: { type: "number", required: true },
        department: { type: "string", required: true },
        room: { type: "string", required: true },
        capacity: { type: "number", required: true },
        language: { type: "string", required: true },
        level: { type: "string", required: true },
        open: { type: "boolean", required: true },
      },
      indexes: {
        primary: { pk: { field: "PK", composite: ["courseId"], casing: "none" }, sk: { field: "SK", composite: [], casing: "none" } },
      },
    },
    configuration,
  );

const enrolmentOf = (configuration: EntityConfiguration) =>
  new Entity(
    {
      model: { entity: "enrolment", version: "1", service: "education" },
      attributes: {
        studentId: { type: "string", required: true },
        courseId: { type: "string", required: true },
        enrolledAt: { type: "string", required: true },
        grade: { type: "string", required: true },
        status: { type: "string", required: true },
        credits: { type: "number", required: true },
        term: { type: "string", required: true },
        note: { type: "string", required: true },
      },
      indexes: {
        byStudent: {
          pk: { field: "PK", composite: ["studentId"], casing: "none" },
          sk: { field: "SK", composite: ["courseId"], casing: "none" },
        },
        byCourse: {
          index: "GSI1",
          pk: { field: "GSI1PK", composite: ["courseId"], casing: "none" },
          sk: { field: "GSI1SK", composite: ["studentId"], casing: "none" },
        },
      },
    },
    configuration,
  );

type Education = ReturnType<typeof educationOf>;
const educationOf = (configuration: EntityConfiguration) =>
  new Service({ student: studentOf(configuration), course: courseOf(configuration), enrolment: enrolmentOf(configuration) });

const writesOf = ({
  entities: { student, course, enrolment },
  transaction,
}: Education): Pick<Calls, "putStudent" | "putCourse" | "putEnrolments" | "enrol" | "setGrade" | "withdraw"> => ({
  putStudent: ({ tags, ...rest }) => student.put({ ...rest, tags: [...tags] }).go(),
  putCourse: (row) => course.put(row).go(),
  putEnrolments: (rows) => enrolment.put([...rows]).go(),
  async enrol(row) {
    const { canceled } = await transaction
      .write((entities) => [
        entities.enrolment.put(row).commit(),
        entities.student
          .check({ studentId: row.studentId })
          .where(({ studentId }, { exists }) => exists(studentId))
          .commit(),
        entities.course
          .check({ courseId: row.courseId })
          .where(({ courseId }, { exists }) => exists(courseId))
          .commit(),
      ])
      .go();
    if (canceled) throw new Error("canceled");
  },
  setGrade: (studentId, courseId, grade) => enrolment.update({ studentId, courseId }).set({ grade }).go(),
  withdraw: (studentId, courseId) => enrolment.delete({ studentId, courseId }).go(),
});

export const connect = ({ endpoint, table, tap }: Place): Calls => {
  const client = createDocumentClient(endpoint, tap);
  const education = educationOf({ client, table });
  const { student, course, enrolment } = education.entities;
  const coursesOf: Calls<Enrolment>["coursesOf"] = async (studentId) => (await enrolment.query.byStudent({ studentId }).go()).data;
  return {
    ...writesOf(education),
    coursesOf,
    getStudent: async (studentId): Promise<Student | undefined> => (await student.get({ studentId }).go()).data ?? undefined,
    studentsOf: async (courseId) => (await enrolment.query.byCourse({ courseId }).go()).data,
    async coursesWithNodes(studentId) {
      const edges = await coursesOf(studentId);
      const { data } = await course.get(edges.map(({ courseId }) => ({ courseId }))).go({ preserveBatchOrder: true });
      return edges.map((edge, index) => ({ edge, node: data[index] as Course }));
    },
    close: () => client.destroy(),
  };
};
