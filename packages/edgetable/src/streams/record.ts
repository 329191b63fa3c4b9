import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Item, Key } from "../transport/operations.ts";
import type { WireStreamRecord } from "../transport/stream-operations.ts";
import { isItem } from "../transport/transport.ts";
import { jsonText } from "../util/json-text.ts";

/** One change of one item, the same wherever it was read. */
export interface StreamRecord {
  /** Unique among the changes of a table. */
  readonly id: string;
  readonly kind: "insert" | "modify" | "remove";
  readonly key: Key;
  /** The item before the change; undefined for an insert. */
  readonly before: Item | undefined;
  /** The item after the change; undefined for a removal. */
  readonly after: Item | undefined;
  /** When the change was made, in milliseconds since 1970. DynamoDB Streams tells whole seconds. */
  readonly time: number;
  /**
   * The position in its shard: text of up to 40 digits, to be compared as a BigInt and only within one shard. Undefined
   * for Kinesis.
   */
  readonly sequence: string | undefined;
  /** Whether DynamoDB removed the item because its `ttl` had passed. Only the region that removed it tells so. */
  readonly expired: boolean;
}

interface UserIdentity {
  readonly Type?: string | undefined;
  readonly type?: string | undefined;
  readonly PrincipalId?: string | undefined;
  readonly principalId?: string | undefined;
}

/** A change as DynamoDB Streams and Lambda write it, and as Kinesis Data Streams does once its text is read. */
export interface WrittenRecord extends Omit<WireStreamRecord, "userIdentity"> {
  /** Lower case in Lambda's events, upper case in the API's answers; null in Kinesis. */
  readonly userIdentity?: UserIdentity | null | undefined;
  readonly eventSourceARN?: string;
  /** Kinesis only. */
  readonly tableName?: string;
}

const KINDS = { INSERT: "insert", MODIFY: "modify", REMOVE: "remove" } as const;

const invalid = (what: string, record: unknown): EdgetableError =>
  new EdgetableError("stream.invalidRecord", `A record of the stream ${what}. Send only events of this table's stream to the handler.`, {
    details: { id: (record as { readonly eventID?: unknown } | undefined)?.eventID },
  });

/** A record's members, whatever the caller gave. */
const membersOf = (written: unknown): { readonly [Name in keyof WrittenRecord]?: unknown } =>
  typeof written === "object" && written !== null ? written : {};

const isTextOrNone = (value: unknown): value is string | undefined => value === undefined || typeof value === "string";

const otherTableOf = (written: unknown, table: string): string | undefined => {
  const { tableName, eventSourceARN } = membersOf(written);
  // arn:aws:dynamodb:eu-central-1:1234:table/NAME/stream/LABEL
  const named = tableName ?? (typeof eventSourceARN === "string" ? /:table\/([^/]+)/.exec(eventSourceARN)?.[1] : undefined);
  return typeof named !== "string" || named === table ? undefined : named;
};

/** Whether a record names another table than this one. */
export const isOfOtherTable = (written: unknown, table: string): boolean => otherTableOf(written, table) !== undefined;

/** What keeps a value from being a record of DynamoDB. */
const wrongMember = (written: unknown): string => {
  const { eventID, eventName, dynamodb } = membersOf(written);
  if (typeof eventName !== "string" || !Object.hasOwn(KINDS, eventName)) return `its eventName is ${jsonText(eventName)}`;
  if (typeof eventID !== "string") return `its eventID is ${jsonText(eventID)}`;
  if (!isItem((dynamodb as Partial<WrittenRecord["dynamodb"]> | null | undefined)?.Keys)) return "it has no dynamodb.Keys";
  return "the name of its table is not a text";
};

/**
 * The common form of a record.
 *
 * @param table the table whose record it must be
 * @throws {stream.invalidRecord} when it is not a record of DynamoDB, or one of another table
 * @throws {stream.images} when it lacks the item's state before or after the change
 */
export const readRecord = (written: unknown, table: string): StreamRecord => {
  const { eventID, eventName, tableName, eventSourceARN, ...members } = membersOf(written);
  const { dynamodb, userIdentity } = members as Partial<WrittenRecord>;
  const kind = typeof eventName === "string" && Object.hasOwn(KINDS, eventName) ? KINDS[eventName as keyof typeof KINDS] : undefined;
  const isNamed = typeof eventID === "string" && isTextOrNone(tableName) && isTextOrNone(eventSourceARN);
  if (kind === undefined || !isNamed || !dynamodb || !isItem(dynamodb.Keys))
    throw invalid(`is not one of DynamoDB: ${wrongMember(written)}`, written);
  const { Keys, NewImage, OldImage, SequenceNumber, StreamViewType, ApproximateCreationDateTime = 0 } = dynamodb;
  const other = otherTableOf(written, table);
  if (other !== undefined) throw invalid(`is from the table "${other}", and the model's is "${table}"`, written);
  if ((kind !== "remove" && !isItem(NewImage)) || (kind !== "insert" && !isItem(OldImage)))
    throw new EdgetableError(
      "stream.images",
      `A record of "${table}" has no ${kind !== "remove" && !NewImage ? "new" : "old"} image (its stream records ${StreamViewType ?? "less"}), and events need NEW_AND_OLD_IMAGES. A stream's view type cannot be changed: switch the stream off, let its readers finish, and enable it again with \`edgetable table create --stream\`.`,
      { details: { table, viewType: StreamViewType } },
    );
  // Seconds, milliseconds and microseconds of this century have 10, 13 and 16 digits.
  const time = ApproximateCreationDateTime;
  const { Type, type, PrincipalId, principalId } = userIdentity ?? {};
  return {
    id: eventID,
    kind,
    key: Keys,
    before: kind === "insert" ? undefined : OldImage,
    after: kind === "remove" ? undefined : NewImage,
    time: time > 1e14 ? time / 1000 : time > 1e11 ? time : time * 1000,
    sequence: SequenceNumber,
    // "Records[].userIdentity: Service, dynamodb.amazonaws.com" (Record, DynamoDB Streams API reference).
    expired: kind === "remove" && (Type ?? type) === "Service" && (PrincipalId ?? principalId) === "dynamodb.amazonaws.com",
  };
};

/** The change in the data of a Kinesis record: base64 text of JSON. @throws {stream.invalidRecord} */
export const readKinesisData = (data: unknown): unknown => {
  try {
    return JSON.parse(Buffer.from(data as string, "base64").toString("utf8"));
  } catch (cause) {
    throw new EdgetableError("stream.invalidRecord", "A Kinesis record is not a change that DynamoDB wrote: its data is not JSON.", {
      cause,
    });
  }
};
