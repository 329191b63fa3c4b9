// DynamoDB Streams (API version 2012-08-10, target `DynamoDBStreams_20120810`): the wire format of its operations as plain
// data, the contract of a stream transport, and the form of an answer. Binary values travel as base64 text.
import { own } from "../util/row.ts";
import type { Item, Key, KeySchemaElement, StreamViewType } from "./operations.ts";
import { type Answered, isItem, type SendOptions } from "./transport.ts";

/** One stream in the list of an account's streams. */
export interface StreamSummary {
  readonly StreamArn?: string;
  readonly TableName?: string;
  readonly StreamLabel?: string;
}

/** One shard of a stream. */
export interface ShardDescription {
  readonly ShardId?: string;
  /** The shard that this one continues. A parent that a full listing lacks has been trimmed. */
  readonly ParentShardId?: string;
  /** The first and last sequence number, as text of up to 40 digits. Only a closed shard has a last one. */
  readonly SequenceNumberRange?: { readonly StartingSequenceNumber?: string; readonly EndingSequenceNumber?: string };
}

/** A stream and one page of its shards. */
export interface StreamDescription extends StreamSummary {
  readonly StreamStatus?: "ENABLING" | "ENABLED" | "DISABLING" | "DISABLED";
  readonly StreamViewType?: StreamViewType;
  /** Seconds since 1970. */
  readonly CreationRequestDateTime?: number;
  readonly KeySchema?: readonly KeySchemaElement[];
  /** At most 100. */
  readonly Shards?: readonly ShardDescription[];
  /** The shard after which the next page begins. */
  readonly LastEvaluatedShardId?: string;
}

/** One change of one item, as GetRecords gives it. */
export interface WireStreamRecord {
  /** Unique in its stream. */
  readonly eventID?: string;
  readonly eventName?: "INSERT" | "MODIFY" | "REMOVE";
  readonly eventVersion?: string;
  readonly eventSource?: string;
  readonly awsRegion?: string;
  readonly dynamodb?: {
    /** Seconds since 1970. */
    readonly ApproximateCreationDateTime?: number;
    readonly Keys?: Key;
    readonly NewImage?: Item;
    readonly OldImage?: Item;
    /** Text of up to 40 digits, to be compared as a BigInt and only within one shard. */
    readonly SequenceNumber?: string;
    readonly SizeBytes?: number;
    readonly StreamViewType?: StreamViewType;
  };
  /** Set if the service itself made the change: DynamoDB's removal of an expired item. */
  readonly userIdentity?: { readonly PrincipalId?: string; readonly Type?: string };
}

/** Where in a shard an iterator begins. */
export type ShardIteratorType = "TRIM_HORIZON" | "LATEST" | "AT_SEQUENCE_NUMBER" | "AFTER_SEQUENCE_NUMBER";

export interface StreamOperationInputs {
  readonly ListStreams: { readonly TableName?: string; readonly Limit?: number; readonly ExclusiveStartStreamArn?: string };
  readonly DescribeStream: { readonly StreamArn: string; readonly Limit?: number; readonly ExclusiveStartShardId?: string };
  readonly GetShardIterator: {
    readonly StreamArn: string;
    readonly ShardId: string;
    readonly ShardIteratorType: ShardIteratorType;
    readonly SequenceNumber?: string;
  };
  /** At most 1,000 records. */
  readonly GetRecords: { readonly ShardIterator: string; readonly Limit?: number };
}

export interface StreamOperationOutputs {
  readonly ListStreams: { readonly Streams?: readonly StreamSummary[]; readonly LastEvaluatedStreamArn?: string };
  readonly DescribeStream: { readonly StreamDescription?: StreamDescription };
  readonly GetShardIterator: { readonly ShardIterator?: string };
  /** A page without records is no end; a page without an iterator is the shard's last, and may hold records. */
  readonly GetRecords: { readonly Records?: readonly WireStreamRecord[]; readonly NextShardIterator?: string };
}

export type StreamOperation = keyof StreamOperationInputs;

/**
 * Makes one attempt of one request of DynamoDB Streams. It never retries or changes a request. It rejects with an
 * `EdgetableError` as a `Transport` does; `details.fault` names the service's exception, such as
 * `ExpiredIteratorException`, `TrimmedDataAccessException`, `ResourceNotFoundException` or `LimitExceededException`.
 * `serviceError` and `attemptError` make such errors.
 */
export interface StreamTransport {
  /**
   * Sends one request, once.
   *
   * @throws {execute.streamNotFound} if there is no such stream or shard, {execute.rejected} for an iterator that has
   * expired or points to trimmed records, {execute.throttled} and other `execute` codes by the service's answer
   * @throws {execute.aborted} if the signal was aborted, {execute.timeout} if its time ran out
   */
  send<O extends StreamOperation>(
    operation: O,
    input: StreamOperationInputs[O],
    options?: Pick<SendOptions, "signal" | "timeout">,
  ): Promise<StreamOperationOutputs[O]>;
  /** Releases sockets. Sending afterwards rejects. */
  close(): void | Promise<void>;
}

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members => typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): boolean => typeof value === "string";

const isRecord = (record: unknown): boolean => {
  if (!isMembers(record)) return false;
  const { dynamodb } = record;
  if (!isMembers(dynamodb)) return false;
  return ["Keys", "NewImage", "OldImage"].every((name) => dynamodb[name] === undefined || isItem(dynamodb[name]));
};

/** Whether each record of an answer holds items where items belong. */
export const holdsRecords = (output: unknown): boolean => {
  const records = isMembers(output) ? output["Records"] : undefined;
  return records === undefined || (Array.isArray(records) && records.every(isRecord));
};

// The API reference of each operation, "Response Elements". Members that are not known pass beside known ones.
const forms: Readonly<Record<StreamOperation, Readonly<Record<string, (value: unknown) => boolean>>>> = {
  ListStreams: { Streams: Array.isArray, LastEvaluatedStreamArn: isText },
  DescribeStream: { StreamDescription: isMembers },
  GetShardIterator: { ShardIterator: isText },
  GetRecords: { Records: Array.isArray, NextShardIterator: (value) => value === null || isText(value) },
};

/** What shows that an answer with status 200 is not DynamoDB Streams'; undefined where nothing does. */
export const streamOddityOf = ({ operation, output }: Answered): string | undefined => {
  const form = own(forms, operation as StreamOperation);
  if (!isMembers(output)) return "it is not an object";
  if (form === undefined) return undefined;
  const known = Object.keys(form).filter((name) => output[name] !== undefined);
  const odd = known.find((name) => !form[name]?.(output[name]));
  if (odd !== undefined) return `its "${odd}" has another form`;
  return known.length === 0 ? `it has no member that ${operation} answers` : undefined;
};
