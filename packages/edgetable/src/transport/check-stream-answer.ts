import { own } from "../util/row.ts";
import { type Answered, isItem } from "./check-answer.ts";
import type { StreamOperation } from "./stream-operations.ts";

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
