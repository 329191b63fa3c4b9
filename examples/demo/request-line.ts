import type { SentRequest } from "edgetable";

// Requests are shown as sent: every name and value is taken from the input itself.

export type Value = Readonly<Record<string, unknown>>;
export type Item = Readonly<Record<string, Value>>;

export interface Expressions {
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Item;
}

interface Query extends Expressions {
  readonly KeyConditionExpression: string;
  readonly FilterExpression?: string;
  readonly ProjectionExpression?: string;
  readonly ScanIndexForward?: boolean;
  readonly Limit?: number;
  readonly Select?: string;
  readonly ConsistentRead?: boolean;
  readonly ExclusiveStartKey?: Item;
}

const MOST_KEYS = 4;

/** A value as text: text in quotes, numbers as they are. */
export const showValue = (value: Value): string => {
  const [[type, content] = ["", undefined]] = Object.entries(value);
  return type === "S" ? `'${String(content)}'` : type === "N" ? String(content) : JSON.stringify(content);
};

/** An expression with its placeholders filled in. */
export const fill = (
  expression: string,
  { ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} }: Expressions,
): string =>
  expression.replace(/[#:]\w+/g, (placeholder) => {
    const value = values[placeholder];
    return names[placeholder] ?? (value ? showValue(value) : placeholder);
  });

const showKey = (key: Item): string =>
  Object.entries(key)
    .map(([name, value]) => `${name} = ${showValue(value)}`)
    .join(", ");

const queryTerms = (query: Query): string => {
  const notes = [
    ...(query.Select === "COUNT" ? ["count"] : []),
    ...(query.ScanIndexForward === false ? ["descending"] : []),
    ...(query.Limit === undefined ? [] : [`limit ${query.Limit}`]),
    ...(query.ExclusiveStartKey ? ["from a cursor"] : []),
    ...(query.FilterExpression ? [`filter ${fill(query.FilterExpression, query)}`] : []),
    ...(query.ProjectionExpression ? [`only ${fill(query.ProjectionExpression, query)}`] : []),
  ];
  return fill(query.KeyConditionExpression, query) + (notes.length > 0 ? ` (${notes.join(", ")})` : "");
};

const batchTerms = (input: { readonly RequestItems: Readonly<Record<string, { readonly Keys: readonly Item[] }>> }): string => {
  const keys = Object.values(input.RequestItems).flatMap((one) => one.Keys);
  const shown = keys.slice(0, MOST_KEYS).map((key) => `(${Object.values(key).map(showValue).join(", ")})`);
  return [...shown, ...(keys.length > MOST_KEYS ? [`${keys.length - MOST_KEYS} more`] : [])].join(", ");
};

/** What a request asks for: its key condition or its keys, with the values in it. */
export const requestTerms = ({ operation, input }: Pick<SentRequest, "operation" | "input">): string => {
  if (operation === "Query") return queryTerms(input as Query);
  if (operation === "BatchGetItem") return batchTerms(input as Parameters<typeof batchTerms>[0]);
  const { Key: key } = input as { readonly Key?: Item };
  return key ? showKey(key) : "";
};

/** A request in one line: `Query GSI1: GSI1-PK = 'COURSE#C1' AND begins_with(GSI1-SK, 'STUDENT#')`. */
export const requestLine = (request: Pick<SentRequest, "operation" | "index" | "input">): string =>
  `${request.operation} ${request.index === undefined ? "" : `${request.index}: `}${requestTerms(request)}`;
