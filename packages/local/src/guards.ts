import { compareBytes } from "./begins-with.ts";
import { dropUnchanged, openLastShard } from "./streams.ts";

/**
 * The one place that knows the faults of dynoxide 1.2.1. It works on the JSON of the wire, so every client in every
 * language gets the answers that AWS documents. README.md lists each fault, what happens here, and what cannot be done.
 */

/** A JSON object, as a request or an answer carries it. */
export type Json = Readonly<Record<string, unknown>>;

/** What becomes of one request. */
export interface Guarded {
  /** Why the engine must not see the request: the message of a ValidationException. */
  readonly refusal?: string;
  /** What the engine gets; the same object where nothing had to change. */
  readonly input: Json;
  /** Corrects the engine's answer; absent where it can pass as it is. */
  readonly correct?: (output: Json) => Json;
}

// Without a Limit the engine reads all remaining rows for each page: 2.1 s a page at 1 M items, 95 ms with this one
// (docs/engines.md). A page may always end early, so the Limit changes no answer.
const pageLimit = 2_000;

const expressions = ["ConditionExpression", "FilterExpression", "KeyConditionExpression", "ProjectionExpression", "UpdateExpression"];

const objectsIn = (value: unknown): readonly Json[] =>
  typeof value === "object" && value !== null
    ? Object.values(value).filter((one): one is Json => typeof one === "object" && one !== null)
    : [];

/** A raw multi-byte character in an expression ends the engine's process. AWS answers with a ValidationException. */
const multibyteExpression = (input: Json): string | undefined => {
  const carriers = [input, ...objectsIn(input["TransactItems"]).flatMap(objectsIn), ...objectsIn(input["RequestItems"])];
  for (const carrier of carriers) {
    for (const name of expressions) {
      const text = carrier[name];
      const found = typeof text === "string" ? /\P{ASCII}/u.exec(text) : null;
      if (found)
        return `${name} contains ${JSON.stringify(found[0])} at position ${found.index}: put names and values outside ASCII into an expression through placeholders (#name, :value).`;
    }
  }
  return undefined;
};

const hasNoSortKey = (key: unknown): boolean => typeof key === "object" && key !== null && Object.keys(key).length === 1;

const withoutNextPage = ({ LastEvaluatedKey, ...page }: Json): Json =>
  hasNoSortKey(LastEvaluatedKey) ? page : { ...page, LastEvaluatedKey };

const afterTheItem = (page: Json): Json => ({
  ...withoutNextPage(page),
  ...(page["Items"] !== undefined && { Items: [] }),
  Count: 0,
  ScannedCount: 0,
});

/**
 * A Query of a table without a sort key finds one item at most. The engine offers a next page all the same, and answers
 * that with the same item, forever. So the first page is the last, and the page after the item is empty.
 */
const endOnePage = (input: Json): Guarded["correct"] => {
  if (input["IndexName"] !== undefined && input["IndexName"] !== null) return undefined;
  if (hasNoSortKey(input["ExclusiveStartKey"])) return (output) => ("Count" in output ? afterTheItem(output) : output);
  return input["Limit"] === 1 ? withoutNextPage : undefined;
};

const withLimit = (input: Json): Json => (input["Limit"] === undefined || input["Limit"] === null ? { ...input, Limit: pageLimit } : input);

/** Applies the guards to one request. `operation` is what follows the point in `X-Amz-Target`. */
export const guard = (operation: string, input: Json): Guarded => {
  const refusal = multibyteExpression(input);
  if (refusal !== undefined) return { refusal, input };
  switch (operation) {
    case "Query": {
      const correct = endOnePage(input);
      return { input: withLimit(compareBytes(input)), ...(correct && { correct }) };
    }
    case "Scan":
      return { input: withLimit(input) };
    case "GetRecords":
      return { input, correct: dropUnchanged };
    case "DescribeStream":
      return { input, correct: openLastShard };
    default:
      return { input };
  }
};

const looksAt: ReadonlySet<string> = new Set(["Query", "Scan", "GetRecords", "DescribeStream"]);

/**
 * Whether the guards have to read this request at all: most writes and point reads pass as bytes. An expression with a
 * multi-byte character has such a character, or its escape, in the body.
 */
export const mayConcern = (operation: string, body: Buffer): boolean =>
  looksAt.has(operation) || (operation !== "BatchWriteItem" && /[\x80-\xff]|\\u/.test(body.toString("latin1")));
