import { serviceError } from "../transport/transport-error.ts";
import type { StreamOperation, StreamTransport, WireStreamRecord } from "../transport/stream-operations.ts";

/**
 * A stream in memory that does what local engines never do: its shards split, end with or without records on the last page,
 * are trimmed and leave the listing; iterators expire, pages are empty, listings come in pages of two.
 */
export interface SplitStream {
  readonly transport: StreamTransport;
  /** Adds a shard. */
  open(id: string, parent?: string): void;
  /** Writes records into a shard, with sequence numbers that grow. */
  write(shard: string, records: readonly WireStreamRecord[]): void;
  close(shard: string): void;
  /** Removes the oldest records of a shard; all, and the shard itself, without a number. */
  trim(shard: string, records?: number): void;
  /** How often each shard was read from its beginning, or from its end on. */
  readonly begun: Readonly<Record<string, number>>;
  readonly faults: {
    /** Requests that fail with this exception before one succeeds. */
    failing: string[];
    /** Shards that the next listing lacks. */
    hidden: string[];
    /** Whether every second page is empty. */
    emptyPages: boolean;
  };
}

interface SplitShard {
  readonly id: string;
  readonly parent: string | undefined;
  readonly records: WireStreamRecord[];
  trimmed: number;
  isClosed: boolean;
}

/** A sequence number of 40 digits: a double does not tell it from the next. */
const longNumber = (number: number): string => `9${String(number).padStart(39, "0")}`;

/** What a stream in memory has to answer from. */
interface Store {
  readonly arn: string;
  readonly table: string;
  readonly shards: Map<string, SplitShard>;
  readonly begun: Record<string, number>;
  readonly faults: SplitStream["faults"];
  readonly sequenceOf: (number: number) => string;
  written: number;
  pages: number;
}

type Input = Readonly<Record<string, string | undefined>>;

const fail = (name: string, operation: string, input: Input): never => {
  throw serviceError({ name, message: "simulated", status: 400 }, { operation, input });
};

const describeStream = ({ arn, shards, faults, written, sequenceOf }: Store, input: Input): object => {
  const all = [...shards.values()].filter(({ id }) => !faults.hidden.includes(id));
  const from = input["ExclusiveStartShardId"] === undefined ? 0 : all.findIndex(({ id }) => id === input["ExclusiveStartShardId"]) + 1;
  const page = all.slice(from, from + 2);
  const isLast = from + 2 >= all.length;
  if (isLast) faults.hidden = [];
  return {
    StreamDescription: {
      StreamArn: arn,
      StreamViewType: "NEW_AND_OLD_IMAGES",
      ...(!isLast && { LastEvaluatedShardId: page.at(-1)?.id }),
      Shards: page.map(({ id, parent, isClosed }) => ({
        ShardId: id,
        ...(parent !== undefined && { ParentShardId: parent }),
        SequenceNumberRange: { StartingSequenceNumber: sequenceOf(0), ...(isClosed && { EndingSequenceNumber: sequenceOf(written) }) },
      })),
    },
  };
};

const getIterator = ({ shards, begun }: Store, input: Input): object => {
  const shard = shards.get(input["ShardId"] ?? "") ?? fail("ResourceNotFoundException", "GetShardIterator", input);
  const { id, records, trimmed } = shard;
  const { ShardIteratorType: type, SequenceNumber: number = "0" } = input;
  if (type !== "AFTER_SEQUENCE_NUMBER") {
    begun[id] = (begun[id] ?? 0) + 1;
    return { ShardIterator: JSON.stringify([id, type === "LATEST" ? records.length : trimmed]) };
  }
  const after = records.findIndex(({ dynamodb }) => BigInt(dynamodb?.SequenceNumber ?? 0) > BigInt(number));
  const position = after < 0 ? records.length : after;
  return position < trimmed
    ? fail("TrimmedDataAccessException", "GetShardIterator", input)
    : { ShardIterator: JSON.stringify([id, position]) };
};

const getRecords = (store: Store, input: Input): object => {
  const [id, position] = JSON.parse(input["ShardIterator"] ?? "") as readonly [string, number];
  const shard = store.shards.get(id) ?? fail("ResourceNotFoundException", "GetRecords", input);
  if (position < shard.trimmed) fail("TrimmedDataAccessException", "GetRecords", input);
  const isEmpty = store.faults.emptyPages && store.pages++ % 2 === 0;
  const records = isEmpty ? [] : shard.records.slice(position, position + Number(input["Limit"]));
  const end = position + records.length;
  const isOver = shard.isClosed && end === shard.records.length && !isEmpty;
  return { Records: records, ...(!isOver && { NextShardIterator: JSON.stringify([id, end]) }) };
};

const answer = (store: Store, operation: StreamOperation, input: Input): object => {
  switch (operation) {
    case "ListStreams":
      return { Streams: [{ StreamArn: store.arn, TableName: store.table, StreamLabel: "2026" }] };
    case "DescribeStream":
      return describeStream(store, input);
    case "GetShardIterator":
      return getIterator(store, input);
    case "GetRecords":
      return getRecords(store, input);
  }
};

/**
 * @param sequenceOf the sequence number of the first record, the second, …
 */
export const splitStream = (table: string, sequenceOf: (number: number) => string = longNumber): SplitStream => {
  const arn = `arn:aws:dynamodb:eu-central-1:0:table/${table}/stream/2026-01-01T00:00:00.000`;
  const faults: SplitStream["faults"] = { failing: [], hidden: [], emptyPages: false };
  const store: Store = { arn, table, shards: new Map(), begun: {}, faults, sequenceOf, written: 0, pages: 0 };
  const { shards } = store;
  return {
    begun: store.begun,
    faults,
    open: (id, parent) => void shards.set(id, { id, parent, records: [], trimmed: 0, isClosed: false }),
    write: (id, records) => {
      for (const { dynamodb, ...record } of records)
        shards.get(id)?.records.push({ ...record, dynamodb: { ...dynamodb, SequenceNumber: sequenceOf(++store.written) } });
    },
    close: (id) => {
      const shard = shards.get(id);
      if (shard) shard.isClosed = true;
    },
    trim: (id, records) => {
      const shard = shards.get(id);
      if (records === undefined) shards.delete(id);
      else if (shard) shard.trimmed += records;
    },
    transport: {
      send: async (operation, input, { signal } = {}) => {
        signal?.throwIfAborted();
        await Promise.resolve();
        const fault = faults.failing.shift() ?? "";
        if (fault !== "") fail(fault, operation, input as Input);
        return answer(store, operation, input as Input);
      },
      close: () => undefined,
    },
  };
};
