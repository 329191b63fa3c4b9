/** Students and courses, in the table of `calls/table.ts`: PK, SK and one index GSI1; the eight calls that clients are measured by. */
const TableName = "Education";
const S = (text) => ({ S: text });
const N = (number) => ({ N: String(number) });
const studentKey = (id) => ({ PK: S(`STUDENT#${id}`), SK: S("#") });

const student = (id, at) => ({
  ...studentKey(id),
  type: S("student"),
  studentId: S(id),
  name: S(`John Doe ${at}`),
  email: S(`john.${at}@example.com`),
  yearLevel: N(at % 5),
  createdAt: S("2024-03-31T10:00:00.000Z"),
  active: { BOOL: true },
  tags: { L: [S("a"), S("b")] },
  address: { M: { street: S("Main street 1"), city: S("Springfield"), zip: S("12345") } },
});

const edgeKey = (studentId, courseId) => ({ PK: S(`STUDENT#${studentId}`), SK: S(`ENROLLED#${courseId}`) });
const edge = (studentId, courseId, at) => ({
  ...edgeKey(studentId, courseId),
  GSI1PK: S(`COURSE#${courseId}`),
  GSI1SK: S(`ENROLLED#${studentId}`),
  type: S("enrolledIn"),
  studentId: S(studentId),
  courseId: S(courseId),
  enrolledAt: S(`2024-03-31T10:00:${String(at % 60).padStart(2, "0")}`),
  grade: S("A"),
  courseName: S(`Course ${courseId}`),
});

const people = 20;
const listStudent = (at) => ({
  TableName,
  KeyConditionExpression: "#pk = :pk AND begins_with(#sk, :sk)",
  ExpressionAttributeNames: { "#pk": "PK", "#sk": "SK" },
  ExpressionAttributeValues: { ":pk": S(`STUDENT#s${at % people}`), ":sk": S("ENROLLED#") },
  Limit: 20,
});
const listCourse = (at) => ({
  TableName,
  IndexName: "GSI1",
  KeyConditionExpression: "#pk = :pk AND begins_with(#sk, :sk)",
  ExpressionAttributeNames: { "#pk": "GSI1PK", "#sk": "GSI1SK" },
  ExpressionAttributeValues: { ":pk": S(`COURSE#c${at % people}`), ":sk": S("ENROLLED#") },
  Limit: 20,
});
const exists = (Key) => ({
  ConditionCheck: { TableName, Key, ConditionExpression: "attribute_exists(#pk)", ExpressionAttributeNames: { "#pk": "PK" } },
});

export const calls = [
  { name: "put", operation: "PutItem", input: (id, at) => ({ TableName, Item: student(id, at) }) },
  {
    name: "enrol",
    operation: "TransactWriteItems",
    input: (id, at) => ({
      TransactItems: [
        { Put: { TableName, Item: edge(id, `c.${at}`, at) } },
        exists(studentKey(`s${at % people}`)),
        exists(studentKey(`s${(at + 1) % people}`)),
      ],
    }),
  },
  { name: "get", operation: "GetItem", input: (_, at) => ({ TableName, Key: studentKey(`s${at % people}`) }) },
  { name: "list", operation: "Query", input: (_, at) => listStudent(at) },
  { name: "list index", operation: "Query", input: (_, at) => listCourse(at) },
  {
    name: "update",
    operation: "UpdateItem",
    input: (id, at) => ({
      TableName,
      Key: edgeKey(`s${at % people}`, `c${at % people}`),
      UpdateExpression: "SET #g = :g",
      ConditionExpression: "attribute_exists(#pk)",
      ExpressionAttributeNames: { "#g": "grade", "#pk": "PK" },
      ExpressionAttributeValues: { ":g": S(id) },
    }),
  },
  { name: "delete", operation: "DeleteItem", input: (id) => ({ TableName, Key: edgeKey(id, "c0") }) },
  {
    name: "hydrate 20",
    operation: "BatchGetItem",
    input: () => ({ RequestItems: { [TableName]: { Keys: Array.from({ length: people }, (_, at) => studentKey(`s${at}`)) } } }),
  },
];

/** Creates the table, 20 students and all of their 20 enrolments. */
export const seed = async (send) => {
  const types = ["PK", "SK", "GSI1PK", "GSI1SK"].map((AttributeName) => ({ AttributeName, AttributeType: "S" }));
  const keys = (hash, range) => [
    { AttributeName: hash, KeyType: "HASH" },
    { AttributeName: range, KeyType: "RANGE" },
  ];
  const index = { IndexName: "GSI1", KeySchema: keys("GSI1PK", "GSI1SK"), Projection: { ProjectionType: "ALL" } };
  await send("CreateTable", {
    TableName,
    AttributeDefinitions: types,
    KeySchema: keys("PK", "SK"),
    GlobalSecondaryIndexes: [index],
    BillingMode: "PAY_PER_REQUEST",
  });
  for (let one = 0; one < people; one++) {
    await send("PutItem", { TableName, Item: student(`s${one}`, one) });
    for (let other = 0; other < people; other++) await send("PutItem", { TableName, Item: edge(`s${one}`, `c${other}`, other) });
  }
};
