import { isDeepStrictEqual } from "node:util";
import { SWEEP_CONDITION } from "./expired-items.ts";

/**
 * Corrects the faults of dynoxide 1.2.1. It works on the JSON of the wire, so every client in every language gets the answers
 * that AWS documents. README.md lists each fault, its correction, and what cannot be corrected.
 */

/** A JSON object of a request or an answer. */
export type Json = Readonly<Record<string, unknown>>;

const beginsWithCall = /\bbegins_with\s*\(\s*([^\s,()]+)\s*,\s*(:\w+)\s*\)/i;

// Greater than any rest of a key: 1,024 bytes (the limit of a sort key, ServiceQuotas) of the greatest character, four bytes each.
const greatest = "\u{10ffff}".repeat(256);

const unusedName = (names: object, wanted: string): string => (wanted in names ? unusedName(names, `${wanted}_`) : wanted);

const stringIn = (value: unknown): string | undefined => {
  const text = typeof value === "object" && value !== null && "S" in value ? value.S : undefined;
  return typeof text === "string" ? text : undefined;
};

/** The same for `KeyConditions`, the older form of key conditions, which SDKs of every language still support. */
const compareLegacy = (input: Json): Json => {
  const { KeyConditions: conditions } = input;
  if (typeof conditions !== "object" || conditions === null) return input;
  let changed = input;
  for (const [name, condition] of Object.entries(conditions as Json)) {
    const { ComparisonOperator: operator, AttributeValueList: list } = (condition ?? {}) as Json;
    const prefix = Array.isArray(list) && list.length === 1 ? stringIn(list[0]) : undefined;
    if (operator !== "BEGINS_WITH" || prefix === undefined) continue;
    const between = { ComparisonOperator: "BETWEEN", AttributeValueList: [{ S: prefix }, { S: `${prefix}${greatest}` }] };
    changed = { ...changed, KeyConditions: { ...(changed["KeyConditions"] as Json), [name]: between } };
  }
  return changed;
};

/**
 * Rewrites `begins_with` on a key as BETWEEN. The engine's `begins_with` treats `a` and `A` as equal, and ends a text at
 * U+0000; its BETWEEN compares bytes, as AWS documents for both. In filters, `begins_with` is correct.
 */
const compareBytes = (input: Json): Json => {
  const { KeyConditionExpression: asked, ExpressionAttributeValues: given } = input;
  if (typeof asked !== "string" || typeof given !== "object" || given === null) return compareLegacy(input);
  const values = given as Json;
  const [text, path, from = ""] = beginsWithCall.exec(asked) ?? [];
  const prefix = stringIn(values[from]);
  if (text === undefined || path === undefined || prefix === undefined) return input;
  const to = unusedName(values, `${from}End`);
  return {
    ...input,
    KeyConditionExpression: asked.replace(text, () => `${path} BETWEEN ${from} AND ${to}`),
    ExpressionAttributeValues: { ...values, [to]: { S: `${prefix}${greatest}` } },
  };
};

const listIn = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);

const changesNothing = ({ eventName, dynamodb }: Json): boolean => {
  const { OldImage, NewImage } = (dynamodb ?? {}) as Json;
  return eventName === "MODIFY" && OldImage !== undefined && isDeepStrictEqual(OldImage, NewImage);
};

/**
 * Drops stream records of writes that changed nothing: DynamoDB makes none. Only records with both images show it; a stream
 * of keys or of one image keeps them.
 */
const dropUnchanged = (output: Json): Json =>
  Array.isArray(output["Records"]) ? { ...output, Records: listIn(output["Records"]).filter((record) => !changesNothing(record)) } : output;

const withoutEnd = (shard: Json): Json => {
  const { EndingSequenceNumber: _, ...range } = (shard["SequenceNumberRange"] ?? {}) as Json;
  return { ...shard, SequenceNumberRange: range };
};

/** Removes the ending number of an enabled stream's last shard, which is open. The engine gives it a wrong one. */
const openLastShard = (output: Json): Json => {
  const description = output["StreamDescription"] as Json | undefined;
  const shards = listIn(description?.["Shards"]);
  const last = shards.at(-1);
  if (last === undefined || description?.["StreamStatus"] !== "ENABLED") return output;
  return { ...output, StreamDescription: { ...description, Shards: [...shards.slice(0, -1), withoutEnd(last)] } };
};

/** Items as a sweep found them before it deleted them, each as a text. */
export type SweptItems = Set<string>;

/** An item as a text that does not depend on the order of its attributes and of the members of its sets. */
const imageText = (image: unknown): string =>
  JSON.stringify(image, (type, value: unknown) => {
    if (Array.isArray(value)) return /^[SNB]S$/.test(type) ? value.toSorted() : value;
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });

// "Records[].userIdentity: Service, dynamodb.amazonaws.com" (Record, DynamoDB Streams API reference).
const EXPIRY = { Type: "Service", PrincipalId: "dynamodb.amazonaws.com" };

/** Marks the records of items that a sweep deleted, as DynamoDB marks those of its own time to live. Others have no old image. */
const tellExpired =
  (swept: SweptItems) =>
  (output: Json): Json => {
    if (swept.size === 0 || !Array.isArray(output["Records"])) return output;
    const isSwept = ({ eventName, dynamodb }: Json): boolean =>
      eventName === "REMOVE" && swept.has(imageText((dynamodb as Json)["OldImage"]));
    const Records = listIn(output["Records"]).map((record) => (isSwept(record) ? { ...record, userIdentity: EXPIRY } : record));
    return { ...output, Records };
  };

/** Notes what a sweep is about to delete. */
const noteSwept =
  (swept: SweptItems) =>
  (output: Json): Json => {
    for (const item of listIn(output["Items"])) swept.add(imageText(item));
    return output;
  };

/** A request after the guards. */
export interface Guarded {
  /** The message of a ValidationException, if the engine must not get the request. */
  readonly refusal?: string;
  /** The input for the engine: the same object if nothing changed. */
  readonly input: Json;
  /** Corrects the engine's answer; absent if it needs no correction. */
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

/** The engine creates an index with several partition or sort keys, and its Query refuses conditions on more than one of each. */
const severalKeys = (input: Json): string | undefined => {
  const updates = listIn(input["GlobalSecondaryIndexUpdates"]).flatMap((update) => objectsIn([update["Create"]]));
  for (const index of [...listIn(input["GlobalSecondaryIndexes"]), ...updates]) {
    const types = listIn(index["KeySchema"]).map((element) => element["KeyType"]);
    if (new Set(types).size < types.length)
      return `Key Schema too big: this engine has no index keys of several attributes, as those of ${JSON.stringify(index["IndexName"])}.`;
  }
  return undefined;
};

const withLimit = (input: Json): Json => (input["Limit"] === undefined || input["Limit"] === null ? { ...input, Limit: pageLimit } : input);

/**
 * Applies the guards to one request.
 *
 * @param operation what follows the point in `X-Amz-Target`
 * @param swept what sweeps have found in the engine; the Scan of a sweep adds to it
 */
export const guard = (operation: string, input: Json, swept: SweptItems): Guarded => {
  const refusal = multibyteExpression(input);
  if (refusal !== undefined) return { refusal, input };
  switch (operation) {
    case "Query": {
      const correct = endOnePage(input);
      return { input: withLimit(compareBytes(input)), ...(correct && { correct }) };
    }
    case "Scan":
      return { input: withLimit(input), ...(input["FilterExpression"] === SWEEP_CONDITION && { correct: noteSwept(swept) }) };
    case "CreateTable":
    case "UpdateTable": {
      const tooBig = severalKeys(input);
      return { input, ...(tooBig !== undefined && { refusal: tooBig }) };
    }
    case "GetRecords":
      return { input, correct: (output) => tellExpired(swept)(dropUnchanged(output)) };
    case "DescribeStream":
      return { input, correct: openLastShard };
    default:
      return { input };
  }
};

const looksAt: ReadonlySet<string> = new Set(["Query", "Scan", "GetRecords", "DescribeStream", "CreateTable", "UpdateTable"]);

/**
 * Whether the guards have to read this request at all: most writes and point reads pass as bytes. An expression with a
 * multi-byte character has such a character, or its escape, in the body.
 */
export const mayConcern = (operation: string, body: Buffer): boolean =>
  looksAt.has(operation) || (operation !== "BatchWriteItem" && /[\x80-\xff]|\\u/.test(body.toString("latin1")));
