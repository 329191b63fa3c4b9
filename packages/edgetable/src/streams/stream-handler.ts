import { driverOf } from "../client/driver.ts";
import type { Db } from "../client/db.ts";
import type { Graph } from "../client/define-graph.ts";
import type { Edges, Nodes, Parts } from "../client/graph-types.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { jsonText } from "../util/json-text.ts";
import { checkOptions } from "../util/check-options.ts";
import type { StreamHandlers } from "./handlers.ts";
import { createProcessor, processorChecks, type ProcessorOptions } from "./process-records.ts";
import { isOfOtherTable, readKinesisData, readRecord, type StreamRecord, type WrittenRecord } from "./record.ts";

/** How Lambda's handler processes events. */
export interface StreamHandlerOptions extends ProcessorOptions {
  /**
   * What happens to records of other tables: the event is refused with `stream.invalidRecord`, or they are skipped, as
   * a Kinesis stream for several tables needs it. @default "refuse"
   */
  readonly otherTables?: "refuse" | "skip";
}

/** A record of a Kinesis stream as Lambda hands it in. */
interface KinesisRecord {
  readonly kinesis: { readonly data: string; readonly sequenceNumber: string };
}

type GivenRecord = KinesisRecord | WrittenRecord | null;

/** An event of DynamoDB Streams or of Kinesis Data Streams for DynamoDB, as Lambda hands it in. */
export interface StreamEvent {
  readonly Records: readonly object[];
}

/** What Lambda reads of its context. */
export interface StreamContext {
  getRemainingTimeInMillis?(): number;
}

/** Which records have to come again. */
export interface BatchResponse {
  readonly batchItemFailures: { readonly itemIdentifier: string }[];
}

// Time to answer before Lambda ends the function.
const ANSWER = 1000;

const isKinesis = (record: GivenRecord): record is KinesisRecord => typeof record === "object" && record !== null && "kinesis" in record;

/** A record beside the name that Lambda knows it by. */
interface Identified {
  readonly record: StreamRecord;
  readonly identifier: string;
}

/** A model, or a connection of it. */
export type GraphOrDb<N extends Nodes, E extends Edges, P extends Parts> = Graph<N, E, P> | Db<N, E, P>;

/**
 * The handler of a Lambda function for DynamoDB Streams, or for Kinesis Data Streams for DynamoDB: it keeps the derived
 * attributes and copies that are fresh by the stream, and calls your handlers with typed events. Its answer names the
 * records that have to come again, so the event source mapping needs `ReportBatchItemFailures`.
 *
 * @param graph the model, which is connected as its environment says, or a connection
 * @param handlers by a name that stays the same; `{}` for the upkeep alone
 * @returns rejects with `stream.invalidRecord` or `stream.images`, before anything is processed, if the event is not one
 * of the model's table, or lacks images
 * @throws {plan.invalidOption} for a handler or an option that is not one
 */
export const createStreamHandler = <N extends Nodes, E extends Edges, P extends Parts>(
  graph: GraphOrDb<N, E, P>,
  handlers: StreamHandlers<NoInfer<N>, NoInfer<E>, NoInfer<P>>,
  options: StreamHandlerOptions = {},
): ((event: StreamEvent, context?: StreamContext) => Promise<BatchResponse>) => {
  const { otherTables = "refuse", ...rest } = checkOptions(options, { ...processorChecks, otherTables: ["refuse", "skip"] });
  const { session } = driverOf("kind" in graph && graph.kind === "graph" ? (graph as Graph<N, E, P>).connect() : graph);
  const { table } = session.catalog;
  const processor = createProcessor(session, handlers, rest);
  return async (event, context) => {
    const given: unknown = event?.Records;
    if (!Array.isArray(given))
      throw new EdgetableError(
        "stream.invalidRecord",
        `The event has no Records: it is ${jsonText(event)}. Invoke the function through an event source mapping of the table's stream.`,
      );
    const records: Identified[] = [];
    for (const one of given as readonly GivenRecord[]) {
      const written = isKinesis(one) ? readKinesisData((one.kinesis as { readonly data?: unknown } | null)?.data) : one;
      if (otherTables === "skip" && isOfOtherTable(written, table)) continue;
      const record = readRecord(written, table);
      // An empty name stands for the whole batch.
      records.push({ record, identifier: (isKinesis(one) ? one.kinesis.sequenceNumber : record.sequence) ?? "" });
    }
    const left = context?.getRemainingTimeInMillis?.();
    const signal = left === undefined ? undefined : AbortSignal.timeout(Math.max(0, left - ANSWER));
    const failed = new Set(
      await processor.process(
        records.map(({ record }) => record),
        { signal },
      ),
    );
    const identifiers = new Set(records.filter(({ record }) => failed.has(record)).map(({ identifier }) => identifier));
    return { batchItemFailures: Array.from(identifiers, (itemIdentifier) => ({ itemIdentifier })) };
  };
};
