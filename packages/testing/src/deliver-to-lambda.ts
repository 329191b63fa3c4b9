import { EdgetableError, type WireStreamRecord } from "edgetable";
import { below, hashText, type Random, seededRandom } from "./random.ts";
import { itemText } from "./stream-shards.ts";

/** What a Lambda function answers: the records from which on the batch has to come again. */
export interface LambdaBatch {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

/** How an event source mapping delivers. */
export interface LambdaDelivery {
  /** Of the function's event source. `kinesis` is Kinesis Data Streams for DynamoDB. @default "dynamodb" */
  readonly format?: "dynamodb" | "kinesis";
  /** Name of the table. */
  readonly table: string;
  /** The same seed and records give the same batches in each lane. @default 0 */
  readonly seed?: number;
  /** Batches of one shard at the same time (parallelization factor), 1 to 10. The changes of one item share a lane. @default 10 */
  readonly lanes?: number;
  /** Records of a batch at most, 1 to 10,000. @default 20 */
  readonly batchSize?: number;
  /** Probability that a batch that succeeded is delivered again, some batches later, 0 to 1. @default 0.1 */
  readonly repeats?: number;
  /** How often a batch is delivered again after a failure, 0 to 10,000. Then its records are discarded. @default 100 */
  readonly retries?: number;
}

/** What was delivered. */
export interface LambdaReport {
  readonly batches: number;
  /** Batches of which records failed, or all. */
  readonly failed: number;
  /** Batches that were delivered again although they had succeeded. */
  readonly repeated: number;
  /** Records whose retries were used up. */
  readonly discarded: readonly WireStreamRecord[];
}

type Handler = (event: { readonly Records: readonly object[] }) => Promise<LambdaBatch | null | undefined | void>;

/** One record of an event, and the name that a failure tells it by. */
interface EventRecord {
  readonly wire: WireStreamRecord;
  readonly event: object;
  readonly identifier: string;
}

const REGION = "eu-central-1";
const streamArn = (table: string): string => `arn:aws:dynamodb:${REGION}:123456789012:table/${table}/stream/2026-01-01T00:00:00.000`;

// The API writes Type and PrincipalId, Lambda lower case (Record, DynamoDB Streams API reference).
const lowerIdentity = ({ userIdentity }: WireStreamRecord): object =>
  userIdentity ? { userIdentity: { type: userIdentity.Type, principalId: userIdentity.PrincipalId } } : {};

const dynamodbRecord = (wire: WireStreamRecord, table: string): EventRecord => {
  const { userIdentity: _, ...rest } = wire;
  const event = {
    ...rest,
    eventVersion: "1.1",
    eventSource: "aws:dynamodb",
    awsRegion: REGION,
    eventSourceARN: streamArn(table),
    ...lowerIdentity(wire),
  };
  return { wire, event, identifier: wire.dynamodb?.SequenceNumber ?? "" };
};

/** Kinesis has numbers of its own; the change is text within, with its time in milliseconds and without a sequence. */
const kinesisRecord = (wire: WireStreamRecord, table: string, at: number): EventRecord => {
  const { SequenceNumber: _, ApproximateCreationDateTime: seconds = 0, ...dynamodb } = wire.dynamodb ?? {};
  const change = {
    awsRegion: REGION,
    eventID: wire.eventID,
    eventName: wire.eventName,
    userIdentity: wire.userIdentity ? { type: wire.userIdentity.Type, principalId: wire.userIdentity.PrincipalId } : null,
    recordFormat: "application/json",
    tableName: table,
    dynamodb: { ApproximateCreationDateTime: seconds * 1000, ...dynamodb },
    eventSource: "aws:dynamodb",
  };
  const identifier = `4963${String(at).padStart(52, "0")}`;
  const data = Buffer.from(JSON.stringify(change)).toString("base64");
  const kinesis = { kinesisSchemaVersion: "1.0", partitionKey: String(hashText(data)), sequenceNumber: identifier, data };
  return { wire, event: { kinesis, eventSource: "aws:kinesis", eventName: "aws:kinesis:record", awsRegion: REGION }, identifier };
};

/** Kinesis repeats records, and those of one item may come in any order: only their time tells. */
const shuffled = (random: Random, records: readonly WireStreamRecord[], repeats: number): readonly WireStreamRecord[] => {
  const moved = records.flatMap((wire, at) => {
    const once = { wire, rank: at + random() * 10 };
    return random() < repeats ? [once, { wire, rank: at + random() * 50 }] : [once];
  });
  return moved.toSorted((a, b) => a.rank - b.rank).map(({ wire }) => wire);
};

const checkDelivery = ({ lanes = 10, batchSize = 20, repeats = 0.1, retries = 100 }: LambdaDelivery): void => {
  const isWhole = (value: number, least: number, most: number): boolean => Number.isInteger(value) && value >= least && value <= most;
  const findings = [
    ...(isWhole(lanes, 1, 10) ? [] : [`lanes is ${String(lanes)}, not a whole number within 1 to 10.`]),
    ...(isWhole(batchSize, 1, 10_000) ? [] : [`batchSize is ${String(batchSize)}, not a whole number within 1 to 10,000.`]),
    ...(repeats >= 0 && repeats <= 1 ? [] : [`repeats is ${String(repeats)}, not within 0 to 1.`]),
    ...(isWhole(retries, 0, 10_000) ? [] : [`retries is ${String(retries)}, not a whole number within 0 to 10,000.`]),
  ];
  if (findings.length > 0) throw new EdgetableError("plan.invalidOption", `deliverToLambda: ${findings.join(" ")}`);
};

/** The number of the first record that has to come again; undefined if none has. */
const firstFailure = (batch: readonly EventRecord[], response: LambdaBatch | null | undefined | void): number | undefined => {
  const failures = response?.batchItemFailures ?? [];
  if (failures.length === 0) return undefined;
  const places = failures.map(({ itemIdentifier }) => batch.findIndex(({ identifier }) => identifier === itemIdentifier));
  // An empty or unknown name stands for the whole batch (services-ddb-batchfailurereporting.html).
  return places.includes(-1) ? 0 : Math.min(...places);
};

/**
 * Delivers changes to a Lambda function's handler as an event source mapping with `ReportBatchItemFailures` does: lanes run at
 * the same time and keep the order per item only; a batch comes again from its lowest failure; some batches come twice, the
 * second time late. In Kinesis' format the order of an item's changes is lost, too. Resolves when everything was delivered.
 *
 * @param records the changes, those of one item in order, such as a stream source's `records()`
 * @throws {plan.invalidOption} if an option is out of range
 */
export const deliverToLambda = async (
  records: readonly WireStreamRecord[],
  handler: Handler,
  delivery: LambdaDelivery,
): Promise<LambdaReport> => {
  checkDelivery(delivery);
  const { format = "dynamodb", table, seed = 0, lanes = 10, batchSize = 20, repeats = 0.1, retries = 100 } = delivery;
  const report = { batches: 0, failed: 0, repeated: 0, discarded: [] as WireStreamRecord[] };
  const random = seededRandom(seed);
  const ordered = format === "kinesis" ? shuffled(random, records, repeats) : records;
  const queues = Array.from({ length: lanes }, (): EventRecord[] => []);
  for (const [at, wire] of ordered.entries()) {
    const lane = hashText(itemText(wire.dynamodb?.Keys ?? {})) % lanes;
    queues[lane]?.push(format === "kinesis" ? kinesisRecord(wire, table, at) : dynamodbRecord(wire, table));
  }

  const invoke = async (batch: readonly EventRecord[]): Promise<number | undefined> => {
    report.batches++;
    try {
      const failure = firstFailure(batch, await handler({ Records: batch.map(({ event }) => event) }));
      if (failure !== undefined) report.failed++;
      return failure;
    } catch {
      report.failed++;
      return 0;
    }
  };
  const runLane = async (queue: EventRecord[], chance: Random): Promise<void> => {
    const again: (readonly EventRecord[])[] = [];
    const repeat = async (): Promise<void> => {
      for (const batch of again.splice(0, 1)) {
        report.repeated++;
        await invoke(batch);
      }
    };
    while (queue.length > 0) {
      let batch: readonly EventRecord[] = queue.splice(0, 1 + below(chance, batchSize));
      const whole = batch;
      for (let attempt = 0; batch.length > 0; attempt++) {
        const failure = await invoke(batch);
        if (failure === undefined) break;
        batch = batch.slice(failure);
        if (attempt === retries) {
          report.discarded.push(...batch.map(({ wire }) => wire));
          break;
        }
      }
      if (again.length > 0 && chance() < 0.3) await repeat();
      if (chance() < repeats) again.push(whole);
    }
    while (again.length > 0) await repeat();
  };
  await Promise.all(queues.map((queue, lane) => runLane(queue, seededRandom(seed + lane + 1))));
  return report;
};
