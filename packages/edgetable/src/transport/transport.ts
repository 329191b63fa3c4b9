// The contract of a transport: what one attempt takes, and the form of the answer that it gives.
import { own } from "../util/row.ts";
import type { Item, Operation, OperationInputs, OperationOutputs } from "./operations.ts";

/** A text attribute that is all a caller needs of each item. */
export interface TextColumn {
  /** A key attribute of type S, and the only one that the request projects. */
  readonly attribute: string;
  /** The prefix that the key condition demands of every text. The transport leaves it out of `Texts`. */
  readonly beginning: string;
}

/** Limits for a timeout of an attempt or a connection, in milliseconds. */
export const TIMEOUTS = [1, 600_000] as const;

/** Options of one attempt. */
export interface SendOptions {
  /** Aborts the attempt, which rejects with `execute.aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until this attempt rejects with `execute.timeout`, 1 to 600,000. */
  readonly timeout?: number | undefined;
  /** The caller needs only this text of each item of a Query: the transport may return `Texts` in place of `Items`. */
  readonly column?: TextColumn | undefined;
  /**
   * Called after the wait for a socket, just before the first byte is sent. If it throws, nothing is sent and the attempt
   * rejects with that error. A transport that cannot tell this moment does not call it.
   */
  readonly guard?: (() => void) | undefined;
}

/**
 * Makes one attempt of one DynamoDB request: signs, sends and parses. It never retries or changes a request. It rejects
 * with an `EdgetableError`: `retryable` says whether the same request may succeed later, `details.ambiguous` whether it may
 * have taken effect although no answer came.
 */
export interface Transport {
  /**
   * Sends one request, once.
   *
   * @throws {execute.throttled} and other `execute` codes, by the service's answer or the lack of one
   * @throws {execute.aborted} if the signal was aborted, {execute.timeout} if its time ran out
   */
  send<O extends Operation>(operation: O, input: OperationInputs[O], options?: SendOptions): Promise<OperationOutputs[O]>;
  /** Releases sockets. Sending afterwards rejects. */
  close(): void | Promise<void>;
}

/**
 * True if a host name or address is this machine's own.
 *
 * @param hostname from a URL or a socket, whose IPv4 addresses are always in full form
 */
export const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "::1" || /^127(?:\.\d+){3}$/.test(hostname);

/**
 * A transport whose code is loaded in the background, from now on. A request sent earlier waits for it. If loading fails,
 * the request rejects and the next one tries again.
 */
export const deferTransport = (load: () => Promise<Transport>): Transport => {
  let opened: Transport | undefined;
  let opening: Promise<Transport> | undefined;
  const open = (): Promise<Transport> => {
    if (opening) return opening;
    opening = load();
    opening.then(
      (transport) => (opened = transport),
      () => (opening = undefined),
    );
    return opening;
  };
  void open();
  return {
    send: (operation, input, options) =>
      opened ? opened.send(operation, input, options) : open().then((transport) => transport.send(operation, input, options)),
    close: async () => (opened ?? (await open())).close(),
  };
};

type Check = (value: unknown) => boolean;
type Members = Readonly<Record<string, unknown>>;

// Attributes nest up to 32 levels (ServiceQuotas). Readers of so many more use little of the stack.
const MOST_LEVELS = 100;
// Numbers reach from 1e-130 to 9.99e125 ("Supported data types and naming rules", Limits).
const PAST_NUMBERS = 1e126;

const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
// Characters of a plain number, which are too few for one past DynamoDB's.
const MOST_PLAIN = 40;
const NUMERAL = /^[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d{1,4})?$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

const isText: Check = (value) => typeof value === "string";
const isAmount: Check = (value) => typeof value === "number" && value >= 0;
const isBase64: Check = (value) => isText(value) && BASE64.test(value as string);

// Digits and a point between them are told apart ten times faster than by the pattern.
const isPlain = (text: string): boolean => {
  const last = text.length - 1;
  let points = 0;
  for (let at = 0; at <= last; at++) {
    const code = text.charCodeAt(at);
    if (code === POINT && at > 0 && at < last) points++;
    else if (code < ZERO || code > NINE) return false;
  }
  return points <= 1 && last >= 0 && last < MOST_PLAIN;
};

/** Whether a text is a number as DynamoDB writes one. */
export const isNumeral = (text: string): boolean => isPlain(text) || (NUMERAL.test(text) && Math.abs(Number(text)) < PAST_NUMBERS);
const isNumber: Check = (value) => typeof value === "string" && isNumeral(value);

const isMembers = (value: unknown): value is Members => typeof value === "object" && value !== null && !Array.isArray(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const mapOf =
  (check: Check): Check =>
  (value) =>
    isMembers(value) && Object.values(value).every(check);
/** An object that may have other members and need have none of these. */
const having = (checks: Readonly<Record<string, Check>>): Check => {
  const entries = Object.entries(checks);
  return (value) => isMembers(value) && entries.every(([name, check]) => value[name] === undefined || check(value[name]));
};

const scalars: Readonly<Record<string, Check>> = {
  S: isText,
  N: isNumber,
  B: isBase64,
  BOOL: (value) => typeof value === "boolean",
  NULL: (value) => value === true,
  SS: listOf(isText),
  NS: listOf(isNumber),
  BS: listOf(isBase64),
};

/** Whether the content of an attribute value is one of its type; nested values are not looked at. */
export const isOfType = (type: string, content: unknown): boolean => Object.hasOwn(scalars, type) && (scalars[type] as Check)(content);

const isAttribute = (value: unknown, level: number): boolean => {
  if (!isMembers(value) || level > MOST_LEVELS) return false;
  const [type = "", ...others] = Object.keys(value);
  if (others.length > 0) return false;
  const content = value[type];
  if (type === "M") return isMembers(content) && Object.values(content).every((member) => isAttribute(member, level + 1));
  if (type === "L") return Array.isArray(content) && content.every((member) => isAttribute(member, level + 1));
  return isOfType(type, content);
};

/** Whether a value is an item: each of its attributes has one type and a content of that type, at every level. */
export const isItem = (value: unknown): value is Item => isMembers(value) && Object.values(value).every((one) => isAttribute(one, 1));

const holdsItem = having({ Item: isItem });

const items: Readonly<Record<string, Check>> = {
  Item: isItem,
  Attributes: isItem,
  LastEvaluatedKey: isItem,
  Items: listOf(isItem),
  Responses: (value) => (Array.isArray(value) ? value.every(holdsItem) : mapOf(listOf(isItem))(value)),
  // Not DynamoDB's: only this library's own parser gives it.
  Texts: () => false,
};

/** Whether all items of an answer are items. {@link oddityOf} checks the rest. */
export const holdsItems: Check = (output) => !isMembers(output) || having(items)(output);

// Every answer has it.
const isConsumed: Check = (value) => isMembers(value) && (value["CapacityUnits"] === undefined || isAmount(value["CapacityUnits"]));
const isConsumedList = listOf(isConsumed);
const isSchema = listOf(having({ AttributeName: isText, KeyType: isText }));
const isIndex = having({
  IndexName: isText,
  IndexStatus: isText,
  KeySchema: isSchema,
  Projection: having({ ProjectionType: isText, NonKeyAttributes: listOf(isText) }),
});
const isTable = having({
  TableName: isText,
  TableStatus: isText,
  ItemCount: isAmount,
  TableSizeBytes: isAmount,
  KeySchema: isSchema,
  AttributeDefinitions: listOf(having({ AttributeName: isText, AttributeType: isText })),
  GlobalSecondaryIndexes: listOf(isIndex),
  LocalSecondaryIndexes: listOf(isIndex),
  StreamSpecification: having({ StreamEnabled: (value) => typeof value === "boolean", StreamViewType: isText }),
  LatestStreamArn: isText,
});
const isNotEmpty: Check = (value) => isMembers(value) && Object.keys(value).length > 0;

/** The members of an operation's answer, and of which one at least is always there. */
interface Form {
  readonly members: Readonly<Record<string, Check>>;
  readonly always?: readonly string[];
}

const written: Form = { members: { Attributes: isMembers, ConsumedCapacity: isConsumed, ItemCollectionMetrics: isMembers } };
const page: Form = {
  members: {
    Items: Array.isArray,
    Texts: Array.isArray,
    Count: isAmount,
    ScannedCount: isAmount,
    LastEvaluatedKey: isNotEmpty,
    ConsumedCapacity: isConsumed,
  },
  always: ["Items", "Texts", "Count"],
};
const described: Form = { members: { TableDescription: isTable }, always: ["TableDescription"] };

const backups: Form = {
  members: { ContinuousBackupsDescription: having({ PointInTimeRecoveryDescription: having({ PointInTimeRecoveryStatus: isText }) }) },
  always: ["ContinuousBackupsDescription"],
};

// The API reference of each operation, "Response Elements". Both local engines answer so, empty members included.
const forms: Readonly<Record<Operation, Form>> = {
  GetItem: { members: { Item: isMembers, ConsumedCapacity: isConsumed } },
  Query: page,
  Scan: page,
  BatchGetItem: {
    members: {
      Responses: mapOf(Array.isArray),
      UnprocessedKeys: mapOf((asked) => isMembers(asked) && listOf(isItem)(asked["Keys"])),
      ConsumedCapacity: isConsumedList,
    },
    always: ["Responses"],
  },
  PutItem: written,
  UpdateItem: written,
  DeleteItem: written,
  BatchWriteItem: {
    members: {
      UnprocessedItems: mapOf(listOf(having({ PutRequest: holdsItem, DeleteRequest: having({ Key: isItem }) }))),
      ConsumedCapacity: isConsumedList,
      ItemCollectionMetrics: isMembers,
    },
    always: ["UnprocessedItems"],
  },
  TransactWriteItems: { members: { ConsumedCapacity: isConsumedList, ItemCollectionMetrics: isMembers } },
  TransactGetItems: { members: { Responses: Array.isArray, ConsumedCapacity: isConsumedList }, always: ["Responses"] },
  CreateTable: described,
  UpdateTable: described,
  DeleteTable: described,
  DescribeTable: { members: { Table: isTable }, always: ["Table"] },
  ListTables: { members: { TableNames: listOf(isText), LastEvaluatedTableName: isText }, always: ["TableNames"] },
  DescribeTimeToLive: { members: { TimeToLiveDescription: having({ TimeToLiveStatus: isText, AttributeName: isText }) } },
  UpdateTimeToLive: { members: { TimeToLiveSpecification: isMembers } },
  DescribeContinuousBackups: backups,
  UpdateContinuousBackups: backups,
};

/** An answer beside what asked for it. */
export interface Answered {
  readonly operation: string;
  readonly input: unknown;
  readonly output: unknown;
  /** Whether its headers are DynamoDB's: only then can an empty object be its answer. */
  readonly signed: boolean;
}

interface Asked {
  readonly ReturnValues?: string;
  readonly ExclusiveStartKey?: Members;
  readonly TransactItems?: readonly unknown[];
}

/**
 * What shows that an answer with status 200 is not DynamoDB's; undefined where nothing does. Members that are not
 * known pass beside known ones. Items must have passed {@link holdsItems}, or come from a parser that proves as much.
 */
export const oddityOf = ({ operation, input, output, signed }: Answered): string | undefined => {
  const form = forms[operation as Operation] as Form | undefined;
  if (!isMembers(output)) return "it is not an object";
  if (form === undefined) return undefined;
  let known = 0;
  let others = 0;
  for (const name in output) {
    const check = own(form.members, name);
    if (output[name] === undefined) continue;
    if (check === undefined) others++;
    else if (check(output[name])) known++;
    else return `its "${name}" has another form`;
  }
  if (known === 0 && (others > 0 || !signed)) return `it has no member that ${operation} answers`;
  if (form.always?.every((name) => output[name] === undefined)) return `it has no "${form.always[0]}"`;
  const { ReturnValues, ExclusiveStartKey: start, TransactItems } = input as Asked;
  if (ReturnValues === "ALL_NEW" && output["Attributes"] === undefined) return `it has no "Attributes"`;
  if (operation === "TransactGetItems" && (output["Responses"] as readonly unknown[]).length !== TransactItems?.length)
    return `its "Responses" are not one for each item`;
  const last = output["LastEvaluatedKey"] as Members | undefined;
  // The next page would be this one, and so for ever.
  if (start && last && Object.keys(last).every((name) => JSON.stringify(last[name]) === JSON.stringify(start[name])))
    return `its "LastEvaluatedKey" is where the page began`;
  return undefined;
};
