import type { Explanation } from "edgetable";
import { explanationLines } from "edgetable/check";
import { pairLines, type Style } from "./terminal.ts";

export { showKey } from "edgetable/check";

const textIn = (input: unknown, name: string): string | undefined => {
  const value: unknown = typeof input === "object" && input !== null ? (input as Readonly<Record<string, unknown>>)[name] : undefined;
  return typeof value === "string" ? value : undefined;
};

/** `1 RCU`, `0.5 RCU`. */
export const showUnits = (units: number, unit: "RCU" | "WCU" = "RCU"): string => `${Number(units.toFixed(2))} ${unit}`;

/** `1 request`, `2 requests`. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count.toLocaleString("en-US")} ${count === 1 ? noun : plural}`;

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
  const { requests, facts } = explanationLines(explanation);
  let text = "";
  for (const [at, { title, after, units, parameters }] of requests.entries()) {
    text += `${at + 1}  ${style.bold(title)}${after === "" ? "" : `, after: ${after}`}  ${style.dim(units)}\n`;
    const titles = Math.max(...parameters.map(([name]) => name.length), 5) + 2;
    for (const line of pairLines(parameters, { titles, width: Math.max(20, available - 3 - titles), style })) text += `   ${line}\n`;
    text += "\n";
  }
  return `${text}${pairLines(facts, { titles: 13, width: Math.max(20, available - 13), style }).join("\n")}\n`;
};
