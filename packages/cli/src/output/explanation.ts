import type { ExplainedRequest, Explanation } from "edgetable";
import { pairLines, type Style } from "./terminal.ts";

type Pair = readonly [name: string, value: string];
type Input = Readonly<Record<string, unknown>>;

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

/** The key of an item, such as `pk = "STUDENT#S1", sk = "#"`. */
export const showKey = (key: object): string =>
  Object.entries(key)
    .map(([name, value]) => `${name} = ${showValue(value)}`)
    .join(", ");

const textIn = (input: unknown, name: string): string | undefined => {
  const value: unknown = typeof input === "object" && input !== null ? (input as Input)[name] : undefined;
  return typeof value === "string" ? value : undefined;
};

/** `1 RCU`, `0.5 RCU`. */
export const showUnits = (units: number, unit: "RCU" | "WCU" = "RCU"): string => `${Number(units.toFixed(2))} ${unit}`;

/** `1 request`, `2 requests`. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count.toLocaleString("en-US")} ${count === 1 ? noun : plural}`;

const expressions: readonly Pair[] = [
  ["KeyConditionExpression", "key"],
  ["FilterExpression", "filter"],
  ["ProjectionExpression", "attributes"],
];

// Parameters that are shown under another name, filled into expressions, or not interesting.
const shownElsewhere = new Set([
  "TableName",
  "IndexName",
  "Key",
  "RequestItems",
  "ExpressionAttributeNames",
  "ExpressionAttributeValues",
  "ReturnConsumedCapacity",
  "ScanIndexForward",
  ...expressions.map(([name]) => name),
]);

/** All parameters of a request, one per line, with the placeholders of expressions filled in. */
const requestPairs = ({ input: given, partitions }: ExplainedRequest): readonly Pair[] => {
  if (typeof given === "string") return [["input", given]];
  const input = given as Input;
  const pairs: Pair[] = [];
  const add = (title: string, value: string | undefined): unknown => value !== undefined && pairs.push([title, value]);
  add("table", textIn(input, "TableName"));
  add("index", textIn(input, "IndexName"));
  add("to each", partitions?.join(", "));
  if (input["Key"] !== undefined) add("key", showKey(input["Key"] as object));
  const batches = (input["RequestItems"] ?? {}) as Readonly<Record<string, { readonly Keys?: readonly object[] }>>;
  for (const [table, { Keys = [] }] of Object.entries(batches)) {
    add("table", table);
    for (const [at, key] of Keys.entries()) add(at === 0 ? "keys" : "", showKey(key));
  }
  const names = (input["ExpressionAttributeNames"] ?? {}) as Readonly<Record<string, string>>;
  const values = (input["ExpressionAttributeValues"] ?? {}) as Input;
  for (const [name, title] of expressions) {
    const filled = textIn(input, name)?.replaceAll(
      /[#:]\w+/g,
      (placeholder) => names[placeholder] ?? (placeholder in values ? showValue(values[placeholder]) : placeholder),
    );
    add(title, filled);
  }
  if (input["ScanIndexForward"] === false) add("order", "descending");
  for (const [name, value] of Object.entries(input)) if (!shownElsewhere.has(name)) add(name, JSON.stringify(value));
  return pairs;
};

/** The indexes of an explained read, in order; `table` is the table itself. */
export const indexesOf = ({ requests }: Explanation): readonly string[] => [
  ...new Set(requests.map(({ input }) => textIn(input, "IndexName") ?? "table")),
];

/** A summary of the requests, such as `Query, BatchGetItem × 2`. */
export const operationsOf = ({ requests }: Explanation): string => {
  const times = new Map<string, number>();
  for (const { operation, times: more } of requests) times.set(operation, (times.get(operation) ?? 0) + more);
  return [...times].map(([operation, count]) => (count === 1 ? operation : `${operation} × ${count}`)).join(", ");
};

/** A plan as text: each request with its values, then consistency, cost and notes. */
export const renderExplanation = (explanation: Explanation, style: Style, columns: number | undefined): string => {
  const available = columns ?? Number.POSITIVE_INFINITY;
  const { requests, consistency, cost, notes } = explanation;
  let text = "";
  for (const [at, request] of requests.entries()) {
    const times = request.times === 1 ? "" : ` × ${request.times}`;
    const after = request.after === undefined ? "" : `, after: ${request.after}`;
    text += `${at + 1}  ${style.bold(request.operation + times)}${after}  ${style.dim(showUnits(request.readUnits))}\n`;
    const pairs = requestPairs(request);
    const titles = Math.max(...pairs.map(([title]) => title.length), 5) + 2;
    for (const line of pairLines(pairs, { titles, width: Math.max(20, available - 3 - titles), style })) text += `   ${line}\n`;
    text += "\n";
  }
  const facts: Pair[] = [
    ["consistency", consistency],
    ["predicted", `${counted(cost.requests, "request")}, ${showUnits(cost.readUnits)}`],
  ];
  const assumptions = "assumptions" in explanation ? explanation.assumptions : [];
  for (const [at, one] of assumptions.entries()) facts.push([at === 0 ? "assuming" : "", one]);
  for (const [at, one] of notes.entries()) facts.push([at === 0 ? "notes" : "", one]);
  return `${text}${pairLines(facts, { titles: 13, width: Math.max(20, available - 13), style }).join("\n")}\n`;
};
