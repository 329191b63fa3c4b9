import { EdgetableError } from "../../errors/edgetable-error.ts";
import { hasTextSort, jobIdOf, JOBS } from "../../schema/system-items.ts";
import type { Key } from "../../transport/operations.ts";
import type { CallContext, Session } from "../session.ts";
import { type Job, readJob, textOf } from "./job-item.ts";

/** Every job in the table, by its id. One Query. */
export const listJobs = async (session: Session, context: CallContext): Promise<readonly Job[]> => {
  const { index, layout, table } = session.catalog;
  if (!hasTextSort(layout) || layout.types?.[index.partitionKey] === "N") {
    throw new EdgetableError(
      "plan.unsupported",
      `The jobs of "${table}" cannot be listed: its key holds no text by which they stand together. Resume a job by its name.`,
      { details: { table } },
    );
  }
  const jobs: Job[] = [];
  let start: Key | undefined;
  do {
    const output = await session.send(
      "Query",
      {
        TableName: session.catalog.table,
        KeyConditionExpression: "#p = :p",
        ExpressionAttributeNames: { "#p": session.catalog.index.partitionKey },
        ExpressionAttributeValues: { ":p": { S: JOBS } },
        ConsistentRead: true,
        ReturnConsumedCapacity: "TOTAL",
        ...(start ? { ExclusiveStartKey: start } : {}),
      },
      context,
    );
    jobs.push(...(output.Items ?? []).map((item) => readJob(session, item, jobIdOf(textOf(item[index.sortKey ?? ""])))));
    start = output.LastEvaluatedKey;
  } while (start);
  return jobs;
};
