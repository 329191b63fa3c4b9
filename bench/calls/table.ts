import { connect } from "./candidates/hand-written/connection.ts";

const attribute = (AttributeName: string): object => ({ AttributeName, AttributeType: "S" });
const keys = (partition: string, sort: string): object[] => [
  { AttributeName: partition, KeyType: "HASH" },
  { AttributeName: sort, KeyType: "RANGE" },
];

/** Creates the table that every client is measured on: PK, SK and one index GSI1 over GSI1PK, GSI1SK that projects everything. */
export const createTable = async (endpoint: string, TableName: string): Promise<void> => {
  const connection = connect(endpoint);
  const GlobalSecondaryIndexes = [{ IndexName: "GSI1", KeySchema: keys("GSI1PK", "GSI1SK"), Projection: { ProjectionType: "ALL" } }];
  const AttributeDefinitions = ["PK", "SK", "GSI1PK", "GSI1SK"].map(attribute);
  await connection.send(
    "CreateTable",
    JSON.stringify({
      TableName,
      KeySchema: keys("PK", "SK"),
      AttributeDefinitions,
      GlobalSecondaryIndexes,
      BillingMode: "PAY_PER_REQUEST",
    }),
  );
  connection.close();
};
