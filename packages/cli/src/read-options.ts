import { usageError } from "./failure.ts";
import { collect, type OptionSpec } from "./invocation.ts";
import { wholeNumber } from "./text/whole-number.ts";

/** At most one of several options that exclude each other. */
export const oneOf = <Name extends string>(names: readonly Name[], options: { readonly [Key in Name]?: unknown }): Name | undefined => {
  const given = names.filter((name) => options[name] !== undefined && options[name] !== false);
  if (given.length > 1)
    throw usageError(
      `Give one of ${names.map((name) => `--${name}`).join(", ")}; there are ${given.map((name) => `--${name}`).join(" and ")}.`,
    );
  return given[0];
};

/** Rows of a page where `--limit` does not say how many. */
export const DEFAULT_ROWS = 20;

/** How to see the page after this one. */
export const continued = (limit: number | undefined, cursor: string): string =>
  `More: the same again with --cursor ${cursor}${limit === undefined ? "" : ` --limit ${limit}`}`;

/** Refuses options that would be without effect. @throws {cli.usage} with the first of them and why. */
export const refuseIdle = (options: object, names: readonly string[], why: string): void => {
  const idle = names.find((name) => (options as Readonly<Record<string, unknown>>)[name] !== undefined);
  if (idle !== undefined) throw usageError(`--${idle} ${why}`);
};

const conditionsOption = (example: string): OptionSpec => ({
  flags: "--where <name=value|json>",
  text: `conditions, such as '${example}'; can be repeated`,
  parse: collect,
});

type Shared = "limit" | "cursor" | "count" | "reverse" | "consistent" | "using" | "explain";

/** Options that several reads take, in the same words. */
export const readOption: Readonly<Record<Shared, OptionSpec>> & { readonly where: typeof conditionsOption } = {
  where: conditionsOption,
  limit: { flags: "--limit <n>", text: `rows of the page, 1 to 10,000 (default: ${DEFAULT_ROWS})`, parse: wholeNumber(10_000) },
  cursor: { flags: "--cursor <cursor>", text: "go on where an earlier page ended" },
  count: { flags: "--count", text: "only count" },
  reverse: { flags: "--reverse", text: "the opposite order" },
  consistent: { flags: "--consistent", text: "read strongly consistently: twice the units" },
  using: { flags: "--using <index>", text: "read from this index" },
  explain: { flags: "--explain", text: "show the requests without sending them" },
};
