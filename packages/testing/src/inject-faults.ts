import {
  type BatchGetItemInput,
  type BatchGetItemOutput,
  type BatchWriteItemInput,
  type BatchWriteItemOutput,
  type CancellationReason,
  type EdgetableError,
  type Item,
  type Key,
  type QueryInput,
  type QueryOutput,
  type ServiceFault,
  type WriteRequest,
  attemptError,
  serviceError,
} from "edgetable";
import { compareText, holds, parseCondition } from "./expression.ts";
import type { Call, FaultKind, Injection } from "./fault-options.ts";
import { bareQuery } from "./past.ts";
import { pick, seededRandom } from "./random.ts";
import { type TableShape, cursorAt, positionsOf } from "./table-shape.ts";

const tableThroughput =
  "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API.";
const indexThroughput =
  "The level of configured provisioned throughput for one or more global secondary indexes of the table was exceeded. Consider increasing your provisioning level for the under-provisioned global secondary indexes with the UpdateTable API";
const onDemand =
  "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so please try again shortly.";

const internal: ServiceFault = { name: "InternalServerError", message: "Internal server error", status: 500 };
const inProgress: ServiceFault = {
  name: "TransactionInProgressException",
  message: "The transaction with the given request token is already in progress.",
  status: 400,
};

type Answering = "unprocessed" | "shortPage" | "emptyPage";
type ServiceFaultKind = Exclude<
  FaultKind,
  Answering | `reset${string}` | `timeout${string}` | "transactionConflict" | "transactionThrottled"
>;

const answers: Readonly<Record<ServiceFaultKind, ServiceFault>> = {
  throttleTable: { name: "ProvisionedThroughputExceededException", message: tableThroughput, status: 400 },
  throttleIndex: { name: "ProvisionedThroughputExceededException", message: indexThroughput, status: 400 },
  throttleRequest: { name: "ThrottlingException", message: onDemand, status: 400 },
  internalErrorBefore: internal,
  internalErrorAfter: internal,
  unavailable: { name: "ServiceUnavailable", message: "Service is temporarily unavailable.", status: 503 },
  transactionInProgressBefore: inProgress,
  transactionInProgressAfter: inProgress,
  writeConflict: { name: "TransactionConflictException", message: "Transaction is ongoing for the item", status: 400 },
};

const conflict: CancellationReason = { Code: "TransactionConflict", Message: "Transaction is ongoing for the item" };
const throttled: CancellationReason = { Code: "ThrottlingError", Message: onDemand };

/** A cancelled transaction, for which at least one item is to blame. */
const cancellation = (call: Call, injection: Injection): ServiceFault => {
  const count = "TransactItems" in call.input ? call.input.TransactItems.length : 0;
  const random = seededRandom(injection.draw);
  const positions = Array.from({ length: count }, (_, position) => position);
  const blamed = new Set(pick(random, positions, random()));
  const reason = injection.fault === "transactionConflict" ? conflict : throttled;
  const reasons = positions.map((position): CancellationReason => (blamed.has(position) ? reason : { Code: "None" }));
  const codes = reasons.map(({ Code }) => Code).join(", ");
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  return { name: "TransactionCanceledException", message, status: 400, reasons };
};

/** The error that a real transport would reject with; undefined for a fault that still answers. */
export const faultError = (call: Call, injection: Injection & { readonly fault: FaultKind }): EdgetableError | undefined => {
  const { fault } = injection;
  switch (fault) {
    case "unprocessed":
    case "shortPage":
    case "emptyPage":
      return undefined;
    // The client cannot know whether the request took effect.
    case "resetBefore":
    case "resetAfter":
      return attemptError(call, { code: "execute.connection", message: "the connection was reset", ambiguous: true });
    case "timeoutBefore":
    case "timeoutAfter":
      return attemptError(call, { code: "execute.timeout", message: "no answer in time", ambiguous: true });
    case "transactionConflict":
    case "transactionThrottled":
      return serviceError(cancellation(call, injection), call);
    default:
      return serviceError(answers[fault], call);
  }
};

/** A batch as one flat list of requests with their tables. */
type Entries<E> = readonly (readonly [table: string, request: E])[];

/** Splits a batch at random. The injection's amount is the share that stays unprocessed. */
const splitBatch = <E>(all: Entries<E>, { draw, amount = 1 }: Injection): { readonly sent: Entries<E>; readonly left: Entries<E> } => {
  const left = new Set(pick(seededRandom(draw), all, amount));
  return { sent: all.filter((entry) => !left.has(entry)), left: all.filter((entry) => left.has(entry)) };
};

/** Groups the requests of a batch by table. */
const byTable = <E>(entries: Entries<E>): Readonly<Record<string, readonly E[]>> => {
  const tables = new Map<string, E[]>();
  for (const [table, request] of entries) {
    const requests = tables.get(table);
    if (requests) requests.push(request);
    else tables.set(table, [request]);
  }
  return Object.fromEntries(tables);
};

/** Sends a part of a batch of writes; the rest stays unprocessed. */
export const partialWrites = async (
  input: BatchWriteItemInput,
  chosen: Injection,
  ask: (input: BatchWriteItemInput) => Promise<BatchWriteItemOutput>,
): Promise<BatchWriteItemOutput> => {
  const flat = (tables: BatchWriteItemInput["RequestItems"]): Entries<WriteRequest> =>
    Object.entries(tables).flatMap(([table, requests]) => requests.map((request) => [table, request] as const));
  const { sent, left } = splitBatch(flat(input.RequestItems), chosen);
  const output = sent.length > 0 ? await ask({ ...input, RequestItems: byTable(sent) }) : {};
  return { ...output, UnprocessedItems: byTable([...left, ...flat(output.UnprocessedItems ?? {})]) };
};

/** Sends a part of a batch of keys; the rest stays unprocessed. */
export const partialKeys = async (
  input: BatchGetItemInput,
  chosen: Injection,
  ask: (input: BatchGetItemInput) => Promise<BatchGetItemOutput>,
): Promise<BatchGetItemOutput> => {
  const flat = (tables: BatchGetItemInput["RequestItems"]): Entries<Key> =>
    Object.entries(tables).flatMap(([table, { Keys }]) => Keys.map((key) => [table, key] as const));
  const asked = (entries: Entries<Key>): BatchGetItemInput["RequestItems"] =>
    Object.fromEntries(Object.entries(byTable(entries)).map(([table, Keys]) => [table, { ...input.RequestItems[table], Keys }]));
  const { sent, left } = splitBatch(flat(input.RequestItems), chosen);
  const output = sent.length > 0 ? await ask({ ...input, RequestItems: asked(sent) }) : { Responses: {} };
  return { ...output, UnprocessedKeys: asked([...left, ...flat(output.UnprocessedKeys ?? {})]) };
};

/** Asks for one page of the present or the past. */
type AskPage = (input: QueryInput) => Promise<QueryOutput>;

// Sort keys: 1,024 bytes, ServiceQuotas.
const longestSortKey = 1_024;

const textIn = (item: Item | undefined, name: string): string | undefined => {
  const value = item?.[name];
  return value && "S" in value ? value.S : undefined;
};

/** A sort key between the query's start and its first item, if there is room for one. */
const sortKeyAhead = (input: QueryInput, range: string, first: Item): string | undefined => {
  const direction = input.ScanIndexForward === false ? -1 : 1;
  const text = textIn(first, range);
  if (text === undefined) return undefined;
  let ahead = `${text}\0`;
  if (direction === 1) {
    // A text just before this one in UTF-8 order, with room between the two. Surrogates are not UTF-8.
    const points = Array.from(text);
    const last = points.pop()?.codePointAt(0) ?? 0;
    const before = last === 0xe000 ? 0xd7ff : last - 1;
    ahead = points.join("") + (last === 0 ? "" : `${String.fromCodePoint(before)}\u{10ffff}`);
  }
  if (ahead === "" || Buffer.byteLength(ahead) > longestSortKey) return undefined;
  const start = textIn(input.ExclusiveStartKey, range);
  if (compareText(ahead, text) * direction >= 0 || (start !== undefined && compareText(ahead, start) * direction <= 0)) return undefined;
  const { KeyConditionExpression, ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} } = input;
  const condition = parseCondition({ text: KeyConditionExpression, names, values });
  return holds(condition, { ...first, [range]: { S: ahead } }) ? ahead : undefined;
};

/**
 * A page without items, with a cursor from which the whole answer follows. Undefined if there is no such cursor: nothing to
 * page over, a numeric sort key, or no room before the first item.
 */
export const emptyPage = async (ask: AskPage, input: QueryInput, table: TableShape): Promise<QueryOutput | undefined> => {
  const index = input.IndexName === undefined ? undefined : table.indexes.get(input.IndexName);
  const range = (index ?? table).range;
  if (range === undefined) return undefined;
  if (input.FilterExpression !== undefined) {
    // A page whose only scanned item the filter drops.
    const page = await ask({ ...input, Limit: 1 });
    if (page.Count === 0 && page.LastEvaluatedKey) return page;
  }
  const { ScanIndexForward = true, ExclusiveStartKey: start } = input;
  const first = (await ask({ ...bareQuery(input), ScanIndexForward, Limit: 1, ...(start && { ExclusiveStartKey: start }) })).Items?.[0];
  const sortKey = first && sortKeyAhead(input, range, first);
  if (first === undefined || sortKey === undefined) return undefined;
  const cursor = cursorAt(positionsOf(table, index), { ...first, [range]: { S: sortKey } });
  return { ...(input.Select === "COUNT" ? {} : { Items: [] }), Count: 0, ScannedCount: 0, LastEvaluatedKey: cursor };
};
