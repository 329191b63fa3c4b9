import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { Entity } from "dynamodb-toolbox/entity";
import { BatchGetRequest } from "dynamodb-toolbox/entity/actions/batchGet";
import { BatchPutRequest } from "dynamodb-toolbox/entity/actions/batchPut";
import { DeleteItemCommand } from "dynamodb-toolbox/entity/actions/delete";
import { GetItemCommand } from "dynamodb-toolbox/entity/actions/get";
import { PutItemCommand } from "dynamodb-toolbox/entity/actions/put";
import { ConditionCheck } from "dynamodb-toolbox/entity/actions/transactCheck";
import { PutTransaction } from "dynamodb-toolbox/entity/actions/transactPut";
import { execute } from "dynamodb-toolbox/entity/actions/transactWrite";
import { UpdateItemCommand } from "dynamodb-toolbox/entity/actions/update";
import { boolean } from "dynamodb-toolbox/schema/boolean";
import { item } from "dynamodb-toolbox/schema/item";
import { list } from "dynamodb-toolbox/schema/list";
import { number } from "dynamodb-toolbox/schema/number";
import { string } from "dynamodb-toolbox/schema/string";
import { Table } from "dynamodb-toolbox/table";
import { BatchGetCommand, execute as executeBatchGet } from "dynamodb-toolbox/table/actions/batchGet";
import { BatchWriteCommand, execute as executeBatchWrite } from "dynamodb-toolbox/table/actions/batchWrite";
import { QueryCommand } from "dynamodb-toolbox/table/actions/query";
import type { Calls, Course, Enrolment, Place } from "../calls.ts";
import { createDocumentClient } from "./document-client.ts";

const tableOf = (documentClient: DynamoDBDocumentClient, name: string) =>
  new Table({
    documentClient,
    name,
    partitionKey: { name: "PK", type: "string" },
    sortKey: { name: "SK", type: "string" },
    indexes: { GSI1: { type: "global", partitionKey: { name: "GSI1PK", type: "string" }, sortKey: { name: "GSI1SK", type: "string" } } },
  });
type Education = ReturnType<typeof tableOf>;

const studentOf = (table: Education) =>
  new Entity({
    name: "student",
    table,
    timestamps: false,
    schema: item({
      studentId: string().key(),
      name: string(),
      email: string(),
      yearLevel: number(),
      major: string(),
      city: string(),
      country: string(),
      gpa: number(),
      active: boolean(),
      tags: list(string()),
    }),
    computeKey: ({ studentId }) => ({ PK: `STUDENT#${studentId}`, SK: `STUDENT#${studentId}` }),
  });

const courseOf = (table: Education) =>
  new Entity({
    name: "course",
    table,
    timestamps: false,
    schema: item({
      courseId: string().key(),
      name: string(),
      professor: string(),
      credits: number(),
      department: string(),
      room: string(),
      capacity: number(),
      language: string(),
      level: string(),
      open: boolean(),
    }),
    computeKey: ({ courseId }) => ({ PK: `COURSE#${courseId}`, SK: `COURSE#${courseId}` }),
  });

const enrolmentOf = (table: Education) =>
  new Entity({
    name: "enrolment",
    table,
    timestamps: false,
    schema: item({
      studentId: string().key(),
      courseId: string().key(),
      enrolledAt: string(),
      grade: string(),
      status: string(),
      credits: number(),
      term: string(),
      note: string(),
    }).and((previous) => ({
      GSI1PK: string()
        .hidden()
        .putLink<typeof previous>(({ courseId }) => `COURSE#${courseId}`),
      GSI1SK: string()
        .hidden()
        .putLink<typeof previous>(({ studentId }) => `STUDENT#${studentId}`),
    })),
    computeKey: ({ studentId, courseId }) => ({ PK: `STUDENT#${studentId}`, SK: `COURSE#${courseId}` }),
  });

const educationOf = (table: Education) => ({ table, student: studentOf(table), course: courseOf(table), enrolment: enrolmentOf(table) });
type Model = ReturnType<typeof educationOf>;

const writesOf = ({
  table,
  student,
  course,
  enrolment,
}: Model): Pick<Calls, "putStudent" | "putCourse" | "putEnrolments" | "enrol" | "setGrade" | "withdraw"> => ({
  putStudent: ({ tags, ...rest }) =>
    student
      .build(PutItemCommand)
      .item({ ...rest, tags: [...tags] })
      .send(),
  putCourse: (row) => course.build(PutItemCommand).item(row).send(),
  putEnrolments: (rows) =>
    executeBatchWrite(table.build(BatchWriteCommand).requests(...rows.map((row) => enrolment.build(BatchPutRequest).item(row)))),
  enrol: (row) =>
    execute(
      enrolment.build(PutTransaction).item(row),
      student.build(ConditionCheck).key({ studentId: row.studentId }).condition({ attr: "studentId", exists: true }),
      course.build(ConditionCheck).key({ courseId: row.courseId }).condition({ attr: "courseId", exists: true }),
    ),
  setGrade: (studentId, courseId, grade) => enrolment.build(UpdateItemCommand).item({ studentId, courseId, grade }).send(),
  withdraw: (studentId, courseId) => enrolment.build(DeleteItemCommand).key({ studentId, courseId }).send(),
});

const readsOf = ({ table, student, enrolment }: Model): Pick<Calls<Enrolment>, "getStudent" | "coursesOf" | "studentsOf"> => ({
  getStudent: async (studentId) => (await student.build(GetItemCommand).key({ studentId }).send()).Item,
  async coursesOf(studentId) {
    const query = table.build(QueryCommand).query({ partition: `STUDENT#${studentId}`, range: { beginsWith: "COURSE#" } });
    return (await query.entities(enrolment).send()).Items ?? [];
  },
  async studentsOf(courseId) {
    const query = table.build(QueryCommand).query({ index: "GSI1", partition: `COURSE#${courseId}`, range: { beginsWith: "STUDENT#" } });
    return (await query.entities(enrolment).send()).Items ?? [];
  },
});

export const connect = ({ endpoint, table, tap }: Place): Calls => {
  const client = createDocumentClient(endpoint, tap);
  const model = educationOf(tableOf(client, table));
  const reads = readsOf(model);
  return {
    ...writesOf(model),
    ...reads,
    async coursesWithNodes(studentId) {
      const edges = await reads.coursesOf(studentId);
      const requests = edges.map(({ courseId }) => model.course.build(BatchGetRequest).key({ courseId }));
      const { Responses } = await executeBatchGet(model.table.build(BatchGetCommand).requests(...requests));
      return edges.map((edge, index) => ({ edge, node: Responses[0][index] as Course }));
    },
    close: () => client.destroy(),
  };
};
