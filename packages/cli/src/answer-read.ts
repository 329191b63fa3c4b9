import type { Cost } from "edgetable";
import type { AnyRead } from "./connection.ts";
import { note, printJson, type Invocation } from "./invocation.ts";
import { counted, renderExplanation, showUnits } from "./output/explanation.ts";
import { continued } from "./read-options.ts";

/** A value as it is shown to a person. */
export interface Shown {
  readonly text: string;
  /** How many rows that are; none where the answer is no list. */
  readonly rows?: number;
  /** Where the page after this one begins. */
  readonly next?: string | undefined;
}

/** The read that a command was asked for, and how its value is shown. */
export interface Asked<T = unknown> {
  readonly read: AnyRead<T>;
  readonly show: (value: T) => Shown;
}

type Call = Invocation<{ readonly explain?: boolean; readonly limit?: number }>;

/** What a call took, in a few words. */
export const showCost = ({ requests, readUnits }: Cost): string => `${counted(requests, "request")}, ${showUnits(readUnits)}`;

/** Shows a read's plan, and sends nothing. */
export const explainRead = async (call: Call, read: AnyRead): Promise<void> => {
  const { io, options, style } = call;
  const explanation = await read.explain();
  if (options.json) printJson(call, explanation);
  else io.out.write(renderExplanation(explanation, style, io.out.columns));
};

const rowsIn = (rows: number | undefined): string => {
  if (rows === undefined) return "";
  return rows === 0 ? "Nothing found; " : `${counted(rows, "row")}; `;
};

/** Sends a read and shows its value, what it took and where it goes on; with `--explain` its plan alone. */
export const answerRead = async <T>(call: Call, { read, show }: Asked<T>): Promise<void> => {
  const { io, options } = call;
  if (options.explain) return explainRead(call, read);
  const { value, cost } = await read.report({ signal: io.signal });
  if (options.json) return printJson(call, value);
  const { text, rows, next } = show(value);
  io.out.write(text);
  note(call, `${rowsIn(rows)}${showCost(cost)}`);
  if (next !== undefined) note(call, continued(options.limit, next));
};
