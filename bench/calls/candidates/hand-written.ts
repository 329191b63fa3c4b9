import type { Calls, Enrolment, Place } from "../calls.ts";
import { connect as openConnection } from "./hand-written/connection.ts";
import type { Connection } from "./hand-written/connection.ts";
import {
  courseItem,
  courseKey,
  courseOf,
  edgeKey,
  enrolmentItem,
  enrolmentOf,
  studentItem,
  studentKey,
  studentOf,
} from "./hand-written/items.ts";
import type { CourseItem, EnrolmentItem, StudentItem } from "./hand-written/items.ts";

const text = JSON.stringify;

const writesOf = (
  { send }: Connection,
  table: string,
): Pick<Calls, "putStudent" | "putCourse" | "putEnrolments" | "enrol" | "setGrade" | "withdraw"> => {
  const head = `{"TableName":${text(table)},`;
  const check = (key: string): string => `{"ConditionCheck":${head}"Key":${key},"ConditionExpression":"attribute_exists(PK)"}}`;
  return {
    putStudent: (student) => send("PutItem", `${head}"Item":${studentItem(student)}}`),
    putCourse: (course) => send("PutItem", `${head}"Item":${courseItem(course)}}`),
    putEnrolments: (edges) =>
      send(
        "BatchWriteItem",
        `{"RequestItems":{${text(table)}:[${edges.map((edge) => `{"PutRequest":{"Item":${enrolmentItem(edge)}}}`).join(",")}]}}`,
      ),
    enrol: (edge) =>
      send(
        "TransactWriteItems",
        `{"TransactItems":[{"Put":${head}"Item":${enrolmentItem(edge)}}},${check(studentKey(edge.studentId))},${check(courseKey(edge.courseId))}]}`,
      ),
    setGrade: (studentId, courseId, grade) =>
      send(
        "UpdateItem",
        `${head}"Key":${edgeKey(studentId, courseId)},"UpdateExpression":"SET grade = :g","ExpressionAttributeValues":{":g":{"S":${text(grade)}}}}`,
      ),
    withdraw: (studentId, courseId) => send("DeleteItem", `${head}"Key":${edgeKey(studentId, courseId)}}`),
  };
};

const readsOf = ({ send }: Connection, table: string): Pick<Calls<Enrolment>, "getStudent" | "coursesOf" | "studentsOf"> => {
  const head = `{"TableName":${text(table)},`;
  const query = `${head}"KeyConditionExpression":"PK = :p AND begins_with(SK, :s)","ExpressionAttributeValues":{":s":{"S":"COURSE#"},":p":{"S":`;
  const indexQuery = `${head}"IndexName":"GSI1","KeyConditionExpression":"GSI1PK = :p AND begins_with(GSI1SK, :s)","ExpressionAttributeValues":{":s":{"S":"STUDENT#"},":p":{"S":`;
  return {
    async getStudent(studentId) {
      const { Item } = await send<{ readonly Item?: StudentItem }>("GetItem", `${head}"Key":${studentKey(studentId)}}`);
      return Item && studentOf(Item);
    },
    coursesOf: async (studentId) =>
      (await send<{ readonly Items: EnrolmentItem[] }>("Query", `${query}${text(`STUDENT#${studentId}`)}}}}`)).Items.map(enrolmentOf),
    studentsOf: async (courseId) =>
      (await send<{ readonly Items: EnrolmentItem[] }>("Query", `${indexQuery}${text(`COURSE#${courseId}`)}}}}`)).Items.map(enrolmentOf),
  };
};

interface Found {
  readonly Responses: Readonly<Record<string, readonly CourseItem[]>>;
}

/** What a good engineer writes for one table when nothing else counts: templates out, `JSON.parse` and plain objects in. No retries. */
export const connect = ({ endpoint, table, tap }: Place): Calls => {
  const connection = openConnection(endpoint, tap);
  const reads = readsOf(connection, table);
  return {
    ...writesOf(connection, table),
    ...reads,
    async coursesWithNodes(studentId) {
      const edges = await reads.coursesOf(studentId);
      const keys = edges.map((edge) => courseKey(edge.courseId)).join(",");
      const { Responses } = await connection.send<Found>("BatchGetItem", `{"RequestItems":{${text(table)}:{"Keys":[${keys}]}}}`);
      const byId = new Map((Responses[table] ?? []).map((item) => [item.courseId.S, courseOf(item)] as const));
      return edges.map((edge) => ({ edge, node: byId.get(edge.courseId) as ReturnType<typeof courseOf> }));
    },
    close: () => connection.close(),
  };
};
