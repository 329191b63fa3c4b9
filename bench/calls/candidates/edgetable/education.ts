import { createLeanTransport, defineGraph, edge, node } from "edgetable";
import type { StandardSchema, Transport } from "edgetable";
import type { Calls, Course, Enrolment, Place, Student, Tap } from "../../calls.ts";

/** The model's schemas, by whichever library. */
export interface Schemas {
  readonly student: StandardSchema<Student>;
  readonly course: StandardSchema<Course>;
  readonly enrolment: StandardSchema<Omit<Enrolment, "studentId" | "courseId">>;
}

/** The default layout under the names of the benchmark's table. */
const layout = {
  partitionKey: "PK",
  sortKey: "SK",
  typeAttribute: "type",
  indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
  nodes: { student: { keys: { SK: "#" } }, course: { keys: { SK: "#" } } },
  edges: { enrolledIn: { keys: { SK: "enrolledIn#{to}", GSI1PK: "{to}", GSI1SK: "enrolledIn#{from}" } } },
};

/** The model in one table. */
export const educationOf = ({ student, course, enrolment }: Schemas, table: string) =>
  defineGraph({
    table,
    nodes: { student: node({ key: "STUDENT#{studentId}", schema: student }), course: node({ key: "COURSE#{courseId}", schema: course }) },
    edges: { enrolledIn: edge({ from: "student", to: "course", schema: enrolment }) },
    layout,
  });
export type Education = ReturnType<ReturnType<typeof educationOf>["connect"]>;

/** Options of a connection to a local endpoint. */
export const placeOf = (endpoint: string) => ({
  endpoint,
  region: "us-east-1",
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
});

const tapped = (transport: Transport, tap: Tap): Transport => {
  const send = tap((request: Parameters<Transport["send"]>) => transport.send(...request));
  return { send: ((...request: Parameters<Transport["send"]>) => send(request)) as Transport["send"], close: () => transport.close() };
};

/** The library on its default transport, opened as a user opens it. */
export const open = (schemas: Schemas, { endpoint, table, tap }: Place): Education => {
  const place = placeOf(endpoint);
  return educationOf(schemas, table).connect(tap ? { transport: tapped(createLeanTransport(place), tap) } : place);
};

const writesOf = (db: Education): Pick<Calls, "putStudent" | "putCourse" | "enrol" | "setGrade" | "withdraw"> => ({
  putStudent: (row) => db.student.put(row).orThrow(),
  putCourse: (row) => db.course.put(row).orThrow(),
  enrol: ({ studentId, courseId, ...attributes }) => db.enrolledIn.link({ studentId }, { courseId }, attributes).orThrow(),
  setGrade: (studentId, courseId, grade) => db.enrolledIn.relink({ studentId }, { courseId }, { grade }).orThrow(),
  withdraw: (studentId, courseId) => db.enrolledIn.unlink({ studentId }, { courseId }).orThrow(),
});

export const callsOver = (schemas: Schemas, place: Place): Calls => {
  const db = open(schemas, place);
  return {
    ...writesOf(db),
    getStudent: async (studentId) => db.student.get({ studentId }),
    coursesOf: async (studentId) => db.student({ studentId }).out("enrolledIn").edges(),
    studentsOf: async (courseId) => db.course({ courseId }).in("enrolledIn").edges(),
    coursesWithNodes: async (studentId) => db.student({ studentId }).out("enrolledIn").entries(),
    close: () => db.close(),
  };
};
