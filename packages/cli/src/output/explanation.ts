import type { ExplainedRequest, Explanation } from "edgetable";
import { fillExpression, showKey } from "./expression.ts";
import type { Style } from "./style.ts";
import { pad, wrap } from "./width.ts";

type Pair = readonly [name: string, value: string];
type Input = Readonly<Record<string, unknown>>;

const textOf = (input: unknown, name: string): string | undefined => {
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

const batchPairs = (items: unknown): readonly Pair[] =>
  Object.entries(
    (items ?? {}) as Readonly<Record<string, { readonly Keys?: readonly object[]; readonly ConsistentRead?: boolean }>>,
  ).flatMap(([table, { Keys = [] }]): readonly Pair[] => [
    ["table", table],
    ...Keys.map((key, at): Pair => [at === 0 ? "keys" : "", showKey(key)]),
  ]);

// Shown in words of their own, or of no interest to a reader: placeholders are filled in.
const told = new Set([
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

const named = (title: string, value: string | undefined): readonly Pair[] => (value === undefined ? [] : [[title, value]]);

const filled = (input: Input, name: string): string | undefined => {
  const expression = textOf(input, name);
  return expression === undefined ? undefined : fillExpression(expression, input);
};

/** A request's input, line by line and complete. */
const requestPairs = (request: ExplainedRequest): readonly Pair[] => {
  if (typeof request.input === "string") return [["input", request.input]];
  const input = request.input as Input;
  const others = Object.entries(input).filter(([name]) => !told.has(name));
  return [
    ...named("table", textOf(input, "TableName")),
    ...named("index", textOf(input, "IndexName")),
    ...(request.partitions ? [["to each", request.partitions.join(", ")] as const] : []),
    ...(input["Key"] === undefined ? [] : [["key", showKey(input["Key"] as object)] as const]),
    ...batchPairs(input["RequestItems"]),
    ...expressions.flatMap(([name, title]) => named(title, filled(input, name))),
    ...(input["ScanIndexForward"] === false ? [["order", "descending"] as const] : []),
    ...others.map(([name, value]): Pair => [name, JSON.stringify(value)]),
  ];
};

const indent = "   ";

const requestLines = (
  request: ExplainedRequest,
  at: number,
  { width, style }: { readonly width: number; readonly style: Style },
): readonly string[] => {
  const times = request.times === 1 ? "" : ` × ${request.times}`;
  const after = request.after === undefined ? "" : `, after: ${request.after}`;
  const pairs = requestPairs(request);
  const titles = Math.max(...pairs.map(([title]) => title.length), 5) + 2;
  const title = `${at + 1}  ${style.bold(request.operation + times)}${after}  ${style.dim(showUnits(request.readUnits))}`;
  return [
    title,
    ...pairs.flatMap(([name, value]) =>
      wrap(value, Math.max(20, width - indent.length - titles)).map(
        (line, first) => `${indent}${style.dim(pad(first === 0 ? name : "", titles))}${line}`,
      ),
    ),
  ];
};

/** The indexes that an explained read uses, in order; `table` for the table itself. */
export const indexesOf = ({ requests }: Explanation): readonly string[] => [
  ...new Set(requests.map(({ input }) => textOf(input, "IndexName") ?? "table")),
];

/** The requests in short, such as `Query, BatchGetItem × 2`. */
export const operationsOf = ({ requests }: Explanation): string => {
  const times = new Map<string, number>();
  for (const { operation, times: more } of requests) times.set(operation, (times.get(operation) ?? 0) + more);
  return [...times].map(([operation, count]) => (count === 1 ? operation : `${operation} × ${count}`)).join(", ");
};

/** A plan for a person: each request with its values filled in, then consistency, price and notes. */
export const renderExplanation = (explanation: Explanation, style: Style, columns: number | undefined): string => {
  const width = columns ?? Number.POSITIVE_INFINITY;
  const { requests, consistency, cost, notes } = explanation;
  const titled = (title: string, lines: readonly string[]): readonly Pair[] => lines.map((one, at): Pair => [at === 0 ? title : "", one]);
  const blocks = requests.map((request, at) => requestLines(request, at, { width, style }).join("\n"));
  const facts: readonly Pair[] = [
    ["consistency", consistency],
    ["predicted", `${counted(cost.requests, "request")}, ${showUnits(cost.readUnits)}`],
    ...("assumptions" in explanation ? titled("assuming", explanation.assumptions) : []),
    ...titled("notes", notes),
  ];
  const lines = facts.flatMap(([name, value]) =>
    wrap(value, Math.max(20, width - 13)).map((line, first) => `${style.dim(pad(first === 0 ? name : "", 13))}${line}`),
  );
  return `${blocks.join("\n\n")}\n\n${lines.join("\n")}\n`;
};
