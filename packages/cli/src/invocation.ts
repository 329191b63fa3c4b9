import type { ExitCode } from "./exit-codes.ts";
import { usageError } from "./failure.ts";
import type { Io, Output } from "./io.ts";
import { toJson } from "./output/json.ts";
import { styleOf, type Style, widthOf, wrap } from "./output/terminal.ts";

/** Values of the options that every command accepts. */
export interface CommonOptions {
  readonly model?: string;
  readonly endpoint?: string;
  readonly region?: string;
  readonly profile?: string;
  readonly allowInsecure?: boolean;
  readonly json?: boolean;
}

/** One parsed call of a command. */
export interface Invocation<Options = object> {
  readonly io: Io;
  /** Positional arguments; undefined for optional ones that were not given. */
  readonly args: readonly (string | undefined)[];
  /** Values of a variadic last argument. */
  readonly rest: readonly string[];
  readonly options: Options & CommonOptions;
  /** Colours of standard output. */
  readonly style: Style;
}

/** A command as data. Commander, the help and shell completion are built from it. */
export interface CommandSpec {
  readonly name: string;
  /** Such as `<node> [id...]`. */
  readonly arguments?: string;
  readonly group?: string;
  /** Not listed in the help. */
  readonly hidden?: boolean;
  /** Allowed values of `<shell>`. */
  readonly shells?: readonly string[];
  readonly summary: string;
  /** Further paragraphs of the help. */
  readonly description?: string;
  readonly options?: readonly OptionSpec[];
  readonly examples?: readonly string[];
  readonly commands?: readonly CommandSpec[];
  readonly run?: (invocation: Invocation) => Promise<ExitCode>;
}

export interface OptionSpec {
  readonly flags: string;
  readonly text: string;
  /** Parses the value. @throws {cli.usage} */
  readonly parse?: (value: string, before: never) => unknown;
  readonly choices?: readonly string[];
}

/** Options that every command accepts, before or after its name. */
export const commonOptions: readonly OptionSpec[] = [
  { flags: "--model <file>", text: "model file, or file#export (default: edgetable.ts, edgetable.config.ts or model.ts, also in src/)" },
  {
    flags: "--endpoint <url>",
    text: "DynamoDB endpoint, such as http://127.0.0.1:8000 (default: as in the AWS SDK: AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL, the profile's endpoint_url, else the region's endpoint)",
  },
  { flags: "--region <name>", text: "AWS region (default: AWS_REGION or the profile's region)" },
  { flags: "--profile <name>", text: "profile in the shared AWS configuration" },
  { flags: "--allow-insecure", text: "allow an endpoint with plain http on another machine, such as a container" },
  { flags: "--json", text: "print only JSON on standard output" },
];

/** A command whose `run` knows the types of its options. */
export const defineCommand = <Options extends object>(
  spec: Omit<CommandSpec, "run"> & { readonly run: (invocation: Invocation<Options>) => Promise<ExitCode> },
): CommandSpec => spec as unknown as CommandSpec;

/** Parses an option that can be repeated. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** Returns a parser for whole numbers from 1 to `max`. The parser throws `cli.usage`. */
export const wholeNumber =
  (max: number): ((text: string) => number) =>
  (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= 1 && value <= max) return value;
    throw usageError(`It must be a whole number from 1 to ${max.toLocaleString("en-US")}.`);
  };

/** Prints the JSON answer of a command. */
export const printJson = ({ io }: Pick<Invocation, "io">, value: unknown): void => io.out.write(`${toJson(value, 2)}\n`);

/** Runs work that the same command resumes, and says so if it is interrupted. */
export const resumable = async <T>(call: Pick<Invocation, "io">, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (call.io.signal.aborted) note(call, "Interrupted. What was done is kept: the same command resumes.");
    throw error;
  }
};

const INDENT = "  ";

/** The lines of a text; a terminal takes no longer ones than it has columns. Indented lines continue the one before. */
const fitting = ({ columns = Number.POSITIVE_INFINITY }: Output, text: string): readonly string[] =>
  text
    .split("\n")
    .flatMap((line) =>
      widthOf(line) <= columns
        ? [line]
        : wrap(line, Math.max(20, columns - INDENT.length)).map((part, at) => (at === 0 ? part : INDENT + part)),
    );

/** Prints a sentence of the answer; a terminal breaks it between words. */
export const say = ({ io }: Pick<Invocation, "io">, text: string): void => io.out.write(`${fitting(io.out, text).join("\n")}\n`);

/** Prints a note on standard error, so that the answer can be piped. */
export const note = ({ io }: Pick<Invocation, "io">, text: string): void => {
  const { dim } = styleOf(io.err, io.env);
  io.err.write(`${fitting(io.err, text).map(dim).join("\n")}\n`);
};
