import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import type { Calls, Course, Enrolment, Place, Student } from "../calls.ts";
import { createDocumentClient } from "./document-client.ts";

const studentKey = (studentId: string): { PK: string; SK: string } => ({ PK: `STUDENT#${studentId}`, SK: `STUDENT#${studentId}` });
const courseKey = (courseId: string): { PK: string; SK: string } => ({ PK: `COURSE#${courseId}`, SK: `COURSE#${courseId}` });
const edgeKey = (studentId: string, courseId: string): { PK: string; SK: string } => ({
  PK: `STUDENT#${studentId}`,
  SK: `COURSE#${courseId}`,
});
const studentItem = (student: Student): object => ({ ...studentKey(student.studentId), ...student });
const courseItem = (course: Course): object => ({ ...courseKey(course.courseId), ...course });
const edgeItem = (edge: Enrolment): object => ({
  ...edgeKey(edge.studentId, edge.courseId),
  GSI1PK: `COURSE#${edge.courseId}`,
  GSI1SK: `STUDENT#${edge.studentId}`,
  ...edge,
});

const writesOf = (
  client: DynamoDBDocumentClient,
  TableName: string,
): Pick<Calls, "putStudent" | "putCourse" | "putEnrolments" | "enrol" | "setGrade" | "withdraw"> => {
  const exists = (Key: object) => ({ ConditionCheck: { TableName, Key, ConditionExpression: "attribute_exists(PK)" } });
  return {
    putStudent: (student) => client.send(new PutCommand({ TableName, Item: studentItem(student) })),
    putCourse: (course) => client.send(new PutCommand({ TableName, Item: courseItem(course) })),
    putEnrolments: (edges) =>
      client.send(
        new BatchWriteCommand({ RequestItems: { [TableName]: edges.map((edge) => ({ PutRequest: { Item: edgeItem(edge) } })) } }),
      ),
    enrol: (edge) =>
      client.send(
        new TransactWriteCommand({
          TransactItems: [
            { Put: { TableName, Item: edgeItem(edge) } },
            exists(studentKey(edge.studentId)),
            exists(courseKey(edge.courseId)),
          ],
        }),
      ),
    setGrade: (studentId, courseId, grade) =>
      client.send(
        new UpdateCommand({
          TableName,
          Key: edgeKey(studentId, courseId),
          UpdateExpression: "SET grade = :grade",
          ExpressionAttributeValues: { ":grade": grade },
        }),
      ),
    withdraw: (studentId, courseId) => client.send(new DeleteCommand({ TableName, Key: edgeKey(studentId, courseId) })),
  };
};

const readsOf = (client: DynamoDBDocumentClient, TableName: string): Pick<Calls<Enrolment>, "getStudent" | "coursesOf" | "studentsOf"> => ({
  async getStudent(studentId) {
    const { Item } = await client.send(new GetCommand({ TableName, Key: studentKey(studentId) }));
    return Item as Student | undefined;
  },
  async coursesOf(studentId) {
    const input = {
      KeyConditionExpression: "PK = :pk AND begins_with(SK, :sk)",
      ExpressionAttributeValues: { ":pk": `STUDENT#${studentId}`, ":sk": "COURSE#" },
    };
    const { Items } = await client.send(new QueryCommand({ TableName, ...input }));
    return (Items ?? []) as Enrolment[];
  },
  async studentsOf(courseId) {
    const input = {
      KeyConditionExpression: "GSI1PK = :pk AND begins_with(GSI1SK, :sk)",
      ExpressionAttributeValues: { ":pk": `COURSE#${courseId}`, ":sk": "STUDENT#" },
    };
    const { Items } = await client.send(new QueryCommand({ TableName, IndexName: "GSI1", ...input }));
    return (Items ?? []) as Enrolment[];
  },
});

const coursesById = async (client: DynamoDBDocumentClient, table: string, edges: readonly Enrolment[]): Promise<Map<string, Course>> => {
  const { Responses } = await client.send(
    new BatchGetCommand({ RequestItems: { [table]: { Keys: edges.map((edge) => courseKey(edge.courseId)) } } }),
  );
  return new Map(((Responses?.[table] ?? []) as Course[]).map((course) => [course.courseId, course]));
};

export const connect = ({ endpoint, table, tap }: Place): Calls => {
  const client = createDocumentClient(endpoint, tap);
  const reads = readsOf(client, table);
  return {
    ...writesOf(client, table),
    ...reads,
    async coursesWithNodes(studentId) {
      const edges = await reads.coursesOf(studentId);
      const found = await coursesById(client, table, edges);
      return edges.map((edge) => ({ edge, node: found.get(edge.courseId) as Course }));
    },
    close: () => client.destroy(),
  };
};
