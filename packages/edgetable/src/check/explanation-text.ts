type Pair = readonly [name: string, value: string];
type Input = Readonly<Record<string, unknown>>;

/** One request of an explained call. */
interface ExplainedRequest {
  readonly operation: string;
  readonly input: unknown;
  readonly times?: number;
  readonly after?: string;
  readonly partitions?: readonly string[];
  readonly readUnits: number;
  readonly writeUnits?: number;
}

/** What `explain()` gives: of a read, a search, a walk, a write or a batch. */
export interface Explained {
  readonly requests: readonly ExplainedRequest[];
  readonly consistency?: "strong" | "eventual";
  readonly atomic?: { readonly kind: string; readonly items?: number } | undefined;
  readonly cost: { readonly requests: number; readonly readUnits: number; readonly writeUnits?: number };
  readonly assumptions?: readonly string[];
  readonly notes?: readonly string[];
}

/** An explanation as titles and values, ready to be aligned. */
export interface ExplanationLines {
  readonly requests: readonly {
    /** The operation and how often it is sent, such as `Query × 4`. */
    readonly title: string;
    /** What it waits for; empty if it is sent at once. */
    readonly after: string;
    readonly units: string;
    readonly parameters: readonly Pair[];
  }[];
  readonly facts: readonly Pair[];
}

/** A DynamoDB value in readable form: `"text"`, `12`, `true`, `[1, 2]`. */
const showValue = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  const [[type, inner] = ["", undefined]] = Object.entries(value);
  if (type === "N") return String(inner);
  if (type === "NULL") return "null";
  if (type === "L") return `[${(inner as readonly unknown[]).map(showValue).join(", ")}]`;
  if (type !== "M") return JSON.stringify(inner);
  const members = Object.entries(inner as object).map(([name, one]) => `${name}: ${showValue(one)}`);
  return `{${members.join(", ")}}`;
};

/** The key of an item, or a whole item, in readable form, such as `pk = "STUDENT#S1", sk = "#"`. */
export const showKey = (key: object): string =>
  Object.entries(key)
    .map(([name, value]) => `${name} = ${showValue(value)}`)
    .join(", ");

const textIn = (input: Input, name: string): string | undefined => {
  const value = input[name];
  return typeof value === "string" ? value : undefined;
};

const expressions: readonly Pair[] = [
  ["KeyConditionExpression", "key"],
  ["UpdateExpression", "update"],
  ["ConditionExpression", "condition"],
  ["FilterExpression", "filter"],
  ["ProjectionExpression", "attributes"],
];

// Parameters that are shown under another name, filled into expressions, or not interesting.
const shownElsewhere = new Set([
  "TableName",
  "IndexName",
  "Key",
  "Item",
  "RequestItems",
  "TransactItems",
  "ExpressionAttributeNames",
  "ExpressionAttributeValues",
  "ReturnConsumedCapacity",
  "ReturnValues",
  "ReturnValuesOnConditionCheckFailure",
  "ScanIndexForward",
  ...expressions.map(([name]) => name),
]);

/** The expressions of an input, with their placeholders filled in. */
const filledExpressions = (input: Input): readonly Pair[] => {
  const names = (input["ExpressionAttributeNames"] ?? {}) as Readonly<Record<string, string>>;
  const values = (input["ExpressionAttributeValues"] ?? {}) as Input;
  const pairs: Pair[] = [];
  for (const [name, title] of expressions) {
    const filled = textIn(input, name)?.replaceAll(
      /[#:]\w+/g,
      (placeholder) => names[placeholder] ?? (placeholder in values ? showValue(values[placeholder]) : placeholder),
    );
    if (filled !== undefined) pairs.push([title, filled]);
  }
  return pairs;
};

interface BatchRequests {
  readonly Keys: readonly object[];
}
type WriteRequests = readonly { readonly PutRequest?: { readonly Item: object }; readonly DeleteRequest?: { readonly Key: object } }[];

/** All parameters of a request, with the placeholders of expressions filled in. */
const parametersOf = ({ input: given, partitions }: ExplainedRequest): readonly Pair[] => {
  if (typeof given === "string") return [["input", given]];
  const input = given as Input;
  const pairs: Pair[] = [];
  const add = (title: string, value: string | undefined): unknown => value !== undefined && pairs.push([title, value]);
  add("table", textIn(input, "TableName"));
  add("index", textIn(input, "IndexName"));
  add("to each", partitions?.join(", "));
  if (input["Key"] !== undefined) add("key", showKey(input["Key"] as object));
  if (input["Item"] !== undefined) add("item", showKey(input["Item"] as object));
  for (const [table, batch] of Object.entries((input["RequestItems"] ?? {}) as Readonly<Record<string, BatchRequests | WriteRequests>>)) {
    add("table", table);
    if ("Keys" in batch) for (const [at, key] of batch.Keys.entries()) add(at === 0 ? "keys" : "", showKey(key));
    else
      for (const { PutRequest, DeleteRequest } of batch)
        pairs.push(PutRequest ? ["put", showKey(PutRequest.Item)] : ["delete", showKey(DeleteRequest?.Key ?? {})]);
  }
  for (const item of (input["TransactItems"] ?? []) as readonly Input[])
    for (const [kind, action] of Object.entries(item as Readonly<Record<string, Input>>)) {
      const expressionTexts = filledExpressions(action).map(([title, value]) => `${title} ${value}`);
      const parts = [showKey(action["Item"] ?? action["Key"] ?? {}), ...expressionTexts];
      add(kind === "ConditionCheck" ? "check" : kind.toLowerCase(), parts.join("; "));
    }
  pairs.push(...filledExpressions(input));
  if (input["ScanIndexForward"] === false) add("order", "descending");
  for (const [name, value] of Object.entries(input)) if (!shownElsewhere.has(name)) add(name, JSON.stringify(value));
  return pairs;
};

// Rounded, so that sums of halves and tenths stay readable.
const showUnits = ({ readUnits, writeUnits = 0 }: { readonly readUnits: number; readonly writeUnits?: number }): string => {
  const read = `${Number(readUnits.toFixed(2))} RCU`;
  const write = `${Number(writeUnits.toFixed(2))} WCU`;
  if (writeUnits === 0) return read;
  return readUnits === 0 ? write : `${read}, ${write}`;
};

/** An explanation in parts, for a program that aligns and colours them itself. Pure. */
export const explanationLines = (explained: Explained): ExplanationLines => {
  const { requests, consistency, atomic, cost, assumptions = [], notes = [] } = explained;
  const facts: Pair[] = [];
  if (consistency !== undefined) facts.push(["consistency", consistency]);
  if (atomic) facts.push(["atomic", atomic.items === undefined ? atomic.kind : `${atomic.kind} of ${atomic.items}`]);
  facts.push(["predicted", `${cost.requests.toLocaleString("en-US")} ${cost.requests === 1 ? "request" : "requests"}, ${showUnits(cost)}`]);
  for (const [at, one] of assumptions.entries()) facts.push([at === 0 ? "assuming" : "", one]);
  for (const [at, one] of [...new Set(notes)].entries()) facts.push([at === 0 ? "notes" : "", one]);
  return {
    requests: requests.map((request) => ({
      title: (request.times ?? 1) === 1 ? request.operation : `${request.operation} × ${request.times}`,
      after: request.after ?? "",
      units: showUnits(request),
      parameters: parametersOf(request),
    })),
    facts,
  };
};

const aligned = (pairs: readonly Pair[], indent: string): string => {
  const width = Math.max(...pairs.map(([title]) => title.length)) + 2;
  return pairs.map(([title, value]) => `${indent}${title.padEnd(width)}${value}\n`).join("");
};

/**
 * An explanation as text: each request with its values, then consistency or atomicity, predicted cost, assumptions and notes.
 * What `edgetable explain` prints. Pure.
 *
 * @example
 * console.log(explanationText(await db.course({ courseId: "C1" }).in("enrolledIn").explain()));
 */
export const explanationText = (explained: Explained): string => {
  const { requests, facts } = explanationLines(explained);
  const shown = requests.map(
    ({ title, after, units, parameters }, at) =>
      `${at + 1}  ${title}${after === "" ? "" : `, after: ${after}`}  ${units}\n${aligned(parameters, "   ")}\n`,
  );
  return shown.join("") + aligned(facts, "");
};
