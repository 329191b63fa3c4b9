import type { Cost } from "edgetable";
import type { AnyRead } from "./connection.ts";
import { usageError } from "./failure.ts";
import { collect, note, printJson, wholeNumber, type Invocation, type OptionSpec } from "./invocation.ts";
import { counted, renderExplanation, showUnits } from "./output/explanation.ts";
import { styleOf } from "./output/terminal.ts";

/** Rows per page if `--limit` is not given. */
export const DEFAULT_ROWS = 20;

type SharedOption = "limit" | "cursor" | "count" | "reverse" | "consistent" | "using" | "explain";

/** Options that several read commands share. */
export const readOption: Readonly<Record<SharedOption, OptionSpec>> & { readonly where: (example: string) => OptionSpec } = {
  where: (example: string): OptionSpec => ({
    flags: "--where <name=value|json>",
    text: `conditions, such as '${example}'; can be repeated`,
    parse: collect,
  }),
  limit: { flags: "--limit <n>", text: `rows per page, 1 to 10,000 (default: ${DEFAULT_ROWS})`, parse: wholeNumber(10_000) },
  cursor: { flags: "--cursor <cursor>", text: "continue after an earlier page" },
  count: { flags: "--count", text: "print only the number of rows" },
  reverse: { flags: "--reverse", text: "reverse the order" },
  consistent: { flags: "--consistent", text: "use a strongly consistent read, for twice the units" },
  using: { flags: "--using <index>", text: "read this index" },
  explain: { flags: "--explain", text: "show the requests without sending them" },
};

/** Returns the one option that is given out of several that exclude each other. @throws {cli.usage} if there are more */
export const oneOf = <Name extends string>(names: readonly Name[], options: { readonly [Key in Name]?: unknown }): Name | undefined => {
  const given = names.filter((name) => options[name] !== undefined && options[name] !== false);
  if (given.length <= 1) return given[0];
  throw usageError(`Use only one of --${names.join(", --")}; you gave --${given.join(" and --")}.`);
};

/** Rejects options that would have no effect. @throws {cli.usage} with the first of them and the reason */
export const rejectUnused = (options: object, names: readonly string[], why: string): void => {
  const unused = names.find((name) => (options as Readonly<Record<string, unknown>>)[name] !== undefined);
  if (unused !== undefined) throw usageError(`--${unused} ${why}`);
};

/** A value, rendered. */
export interface Rendered {
  readonly text: string;
  /** Number of rows; undefined if the answer is not a list. */
  readonly rows?: number;
  /** Cursor of the next page. */
  readonly next?: string | undefined;
}

type Call = Invocation<{ readonly explain?: boolean; readonly limit?: number }>;

/** `1 request, 0.5 RCU`. */
export const showCost = ({ requests, readUnits }: Cost): string => `${counted(requests, "request")}, ${showUnits(readUnits)}`;

/** Prints the plan of a read and sends nothing. */
export const explainRead = async (call: Call, read: AnyRead): Promise<void> => {
  const { io, options, style } = call;
  const explanation = await read.explain();
  if (options.json) printJson(call, explanation);
  else io.out.write(renderExplanation(explanation, style, io.out.columns));
};

/** Sends a read and prints its value, cost and next cursor; with `--explain`, prints only its plan. */
export const answerRead = async <T>(call: Call, read: AnyRead<T>, render: (value: T) => Rendered): Promise<void> => {
  const { io, options } = call;
  if (options.explain) return explainRead(call, read);
  const { value, cost } = await read.report({ signal: io.signal });
  if (options.json) return printJson(call, value);
  const { text, rows, next } = render(value);
  io.out.write(text);
  const found = rows === undefined ? "" : rows === 0 ? "Nothing found; " : `${counted(rows, "row")}; `;
  note(call, `${found}${showCost(cost)}`);
  if (next === undefined) return;
  // In one line: a cursor that is broken into several cannot be copied.
  const flags = `--cursor ${next}${options.limit === undefined ? "" : ` --limit ${options.limit}`}`;
  io.err.write(`${styleOf(io.err, io.env).dim(`More: run the command again with ${flags}`)}\n`);
};
