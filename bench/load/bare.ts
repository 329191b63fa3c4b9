import { connect } from "../calls/candidates/hand-written/connection.ts";
import type { Connection } from "../calls/candidates/hand-written/connection.ts";
import { studentItem } from "../calls/candidates/hand-written/items.ts";
import type { Student } from "../calls/calls.ts";
import { requestsUnderWay } from "./loader.ts";
import type { Loader } from "./loader.ts";

// BatchWriteItem: at most 25 requests ("Quotas", ServiceQuotas.html).
const batchSize = 25;

interface Unprocessed {
  readonly UnprocessedItems?: Readonly<Record<string, readonly object[]>>;
}

const writeBatch = async (connection: Connection, table: string, rows: readonly Student[]): Promise<void> => {
  let requests = `[${rows.map((row) => `{"PutRequest":{"Item":${studentItem(row)}}}`).join(",")}]`;
  while (requests !== "[]") {
    const { UnprocessedItems } = await connection.send<Unprocessed>(
      "BatchWriteItem",
      `{"RequestItems":{${JSON.stringify(table)}:${requests}}}`,
    );
    requests = JSON.stringify(UnprocessedItems?.[table] ?? []);
  }
};

/** The loop that the library is measured against: no schema, no checks, no report. */
export const load: Loader = async (rows, { endpoint, table }) => {
  const connection = connect(endpoint);
  const iterator = rows[Symbol.asyncIterator]();
  const nextBatch = async (): Promise<Student[]> => {
    const batch: Student[] = [];
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) if (batch.push(next.value) === batchSize) break;
    return batch;
  };
  // One lane fills its batch at a time: an async generator queues calls to next() anyway.
  let turn: Promise<unknown> = Promise.resolve();
  const lane = async (): Promise<void> => {
    for (;;) {
      const filled = turn.then(nextBatch);
      turn = filled;
      const batch = await filled;
      if (batch.length === 0) return;
      await writeBatch(connection, table, batch);
    }
  };
  await Promise.all(Array.from({ length: requestsUnderWay }, lane));
  connection.close();
};
