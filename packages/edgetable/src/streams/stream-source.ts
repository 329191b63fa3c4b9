import { lacksImages } from "../executor/administer-table.ts";
import { IMAGES } from "../requests/table.ts";
import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { Meter } from "../executor/call.ts";
import { backOff, type Session } from "../executor/session.ts";
import type {
  StreamDescription,
  StreamOperation,
  StreamOperationInputs,
  StreamOperationOutputs,
  StreamTransport,
  WireStreamRecord,
} from "../transport/stream-operations.ts";

/** One shard of one of the table's streams. */
export interface Shard {
  readonly id: string;
  readonly stream: string;
  /** The shard that it continues, whether or not that is still listed. */
  readonly parent: string | undefined;
  /** Whether nothing is written to it any more. */
  readonly closed: boolean;
}

/** The table's streams that can be read, the oldest first, and their shards. */
export interface Streams {
  readonly arns: readonly string[];
  readonly shards: readonly Shard[];
}

/** Where reading a shard begins: behind a sequence number, at its oldest record, or with what comes from now on. */
export type Start = { readonly after: string } | "oldest" | "latest";

/** A page of a shard. */
export interface ShardPage {
  readonly records: readonly WireStreamRecord[];
  /** Reads the next page; undefined at the end of a closed shard. */
  readonly next: string | undefined;
}

/** Reads the streams of a table; each request is repeated until the service answers or the deadline has passed. */
export interface StreamSource {
  list(signal: AbortSignal): Promise<Streams>;
  begin(shard: Shard, start: Start, signal: AbortSignal): Promise<string | undefined>;
  read(iterator: string, limit: number, signal: AbortSignal): Promise<ShardPage>;
}

const PAUSES = { baseDelay: 50, maxDelay: 5000 };
// Milliseconds that a request is tried for, and that one attempt takes.
const DEADLINE = 60_000;
const ATTEMPT = 10_000;

/** Whether an iterator is too old to be used: 15 minutes (GetShardIterator's reference). */
export const isExpiredIterator = (error: unknown): boolean =>
  isEdgetableError(error) && error.details["fault"] === "ExpiredIteratorException";

/** Whether the records that were asked for are gone: they are kept 24 hours. */
export const isTrimmed = (error: unknown): boolean =>
  isEdgetableError(error) && (error.code === "execute.streamNotFound" || error.details["fault"] === "TrimmedDataAccessException");

/** Sends a request until it is answered, or its time is up. */
type Send = <O extends StreamOperation>(
  operation: O,
  input: StreamOperationInputs[O],
  signal: AbortSignal,
) => Promise<StreamOperationOutputs[O]>;

/** A stream with all its shards; undefined if it is gone. */
const describe = async (send: Send, arn: string, signal: AbortSignal): Promise<StreamDescription | undefined> => {
  const shards: NonNullable<StreamDescription["Shards"]>[number][] = [];
  let start: string | undefined;
  for (;;) {
    const input = { StreamArn: arn, ...(start !== undefined && { ExclusiveStartShardId: start }) };
    try {
      const { StreamDescription: found = {} } = await send("DescribeStream", input, signal);
      shards.push(...(found.Shards ?? []));
      start = found.LastEvaluatedShardId;
      if (start === undefined) return { ...found, Shards: shards };
    } catch (error) {
      // It was listed a moment ago, and its last record has gone since.
      if (isEdgetableError(error, "execute.streamNotFound")) return undefined;
      throw error;
    }
  }
};

/** The streams of a table that can be read, the oldest first. */
const listArns = async (send: Send, table: string, signal: AbortSignal): Promise<readonly string[]> => {
  const found: { readonly arn: string; readonly label: string }[] = [];
  let start: string | undefined;
  do {
    const input = { TableName: table, ...(start !== undefined && { ExclusiveStartStreamArn: start }) };
    const { Streams = [], LastEvaluatedStreamArn } = await send("ListStreams", input, signal);
    for (const { StreamArn: arn, StreamLabel: label = "", TableName } of Streams)
      if (arn !== undefined && (TableName ?? table) === table) found.push({ arn, label });
    start = LastEvaluatedStreamArn;
  } while (start !== undefined);
  // A stream's label is the time of its creation.
  return found.toSorted((one, other) => (one.label < other.label ? -1 : 1)).map(({ arn }) => arn);
};

/**
 * Makes sure that the table has a stream that events can be made of.
 *
 * @throws {stream.notEnabled} {stream.images} {execute.tableNotFound}
 */
export const checkStream = async (session: Session, signal: AbortSignal | undefined): Promise<void> => {
  const { catalog, effects } = session;
  const { table } = catalog;
  const context = { meter: new Meter(0), signal, deadline: effects.now() + DEADLINE };
  const { Table } = await session.send("DescribeTable", { TableName: table }, context);
  const { StreamEnabled = false, StreamViewType } = Table?.StreamSpecification ?? {};
  if (!StreamEnabled)
    throw new EdgetableError(
      "stream.notEnabled",
      `The table "${table}" records no changes. Enable its stream: \`edgetable table create --stream\`, or db.table.create({ stream: true }).`,
      { details: { table } },
    );
  if (StreamViewType !== IMAGES) throw lacksImages(table, StreamViewType);
};

/** The source of a table's records. */
export const openStreamSource = (session: Session, transport: StreamTransport): StreamSource => {
  const { catalog, effects } = session;
  const { table } = catalog;
  const send: Send = async (operation, input, signal) => {
    const deadline = effects.now() + DEADLINE;
    for (let doublings = 0; ; doublings++) {
      try {
        return await transport.send(operation, input, { signal, timeout: ATTEMPT });
      } catch (error) {
        const again = isEdgetableError(error) && error.retryable && (await backOff(effects, PAUSES, doublings, { deadline, signal }));
        if (!again) throw error;
      }
    }
  };
  return {
    list: async (signal) => {
      const streams: { readonly arn: string; readonly shards: readonly Shard[] }[] = [];
      for (const arn of await listArns(send, table, signal)) {
        const found = await describe(send, arn, signal);
        // A stream that was replaced because it recorded less.
        if (!found || found.StreamViewType !== IMAGES) continue;
        const shards = (found.Shards ?? []).flatMap(({ ShardId: id, ParentShardId: parent, SequenceNumberRange: range }): Shard[] =>
          id === undefined ? [] : [{ id, stream: arn, parent, closed: range?.EndingSequenceNumber !== undefined }],
        );
        streams.push({ arn, shards });
      }
      return { arns: streams.map(({ arn }) => arn), shards: streams.flatMap(({ shards }) => shards) };
    },
    begin: async ({ id, stream }, start, signal) => {
      const place =
        typeof start === "object"
          ? ({ ShardIteratorType: "AFTER_SEQUENCE_NUMBER", SequenceNumber: start.after } as const)
          : ({ ShardIteratorType: start === "latest" ? "LATEST" : "TRIM_HORIZON" } as const);
      return (await send("GetShardIterator", { StreamArn: stream, ShardId: id, ...place }, signal)).ShardIterator ?? undefined;
    },
    read: async (iterator, limit, signal) => {
      const { Records = [], NextShardIterator } = await send("GetRecords", { ShardIterator: iterator, Limit: limit }, signal);
      // Some engines write null at the end of a shard.
      return { records: Records, next: NextShardIterator ?? undefined };
    },
  };
};
