import { education } from "./model.ts";

// Created outside the handler so that warm invocations reuse its connections. Lambda provides the region and credentials.
const db = education.connect();

interface Event {
  readonly pathParameters?: { readonly courseId?: string };
}

const answer = (statusCode: number, body: unknown) => ({
  statusCode,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

/** GET /courses/{courseId}/students, for AWS Lambda behind API Gateway. `npm run build` bundles it into dist. */
export const handler = async ({ pathParameters }: Event) => {
  const courseId = pathParameters?.courseId;
  if (courseId === undefined) return answer(400, { message: "courseId is missing" });
  const course = await db.course({ courseId }).get();
  if (!course) return answer(404, { message: `course ${courseId} not found` });
  const students = await db.course({ courseId }).in("enrolledIn").entries();
  return answer(200, { course, students: students.map(({ edge, node }) => ({ name: node?.name, enrolledAt: edge.enrolledAt })) });
};
