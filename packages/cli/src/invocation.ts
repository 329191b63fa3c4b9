import type { ExitCode } from "./exit-codes.ts";
import type { Io } from "./io.ts";
import { toJson } from "./output/json.ts";
import { styleOf, type Style } from "./output/style.ts";

/** Options that every command takes. */
export interface CommonOptions {
  readonly model?: string;
  readonly endpoint?: string;
  readonly region?: string;
  readonly profile?: string;
  readonly json?: boolean;
}

/** One call of a command, parsed. */
export interface Invocation<Options = object> {
  readonly io: Io;
  /** Positional arguments; undefined for optional ones that were left out. */
  readonly args: readonly (string | undefined)[];
  /** The arguments of a variadic last position. */
  readonly rest: readonly string[];
  readonly options: Options & CommonOptions;
  /** Colours of standard output. */
  readonly style: Style;
}

/** A command as data: commander, help and completion are made from it. */
export interface CommandSpec {
  readonly name: string;
  /** Such as `<node> [id...]`. */
  readonly arguments?: string;
  readonly group?: string;
  /** Left out of the help. */
  readonly hidden?: boolean;
  /** What `<shell>` may be. */
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
  /** Reads the value. @throws {cli.usage} */
  readonly parse?: (value: string, before: never) => unknown;
  readonly choices?: readonly string[];
}

/** A command whose `run` knows its own options. */
export const defineCommand = <Options extends object>(
  spec: Omit<CommandSpec, "run"> & { readonly run: (invocation: Invocation<Options>) => Promise<ExitCode> },
): CommandSpec => spec as unknown as CommandSpec;

/** Collects a repeatable option. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

export const invocation = (io: Io, args: Pick<Invocation, "args" | "rest" | "options">): Invocation => ({
  ...args,
  io,
  style: styleOf(io.out, io.env),
});

/** Prints a value as the whole JSON answer of a command. */
export const printJson = ({ io }: Pick<Invocation, "io">, value: unknown): void => io.out.write(`${toJson(value, 2)}\n`);

/** Says something beside the answer: on standard error, so that the answer can be piped. */
export const note = ({ io }: Pick<Invocation, "io">, text: string): void => io.err.write(`${styleOf(io.err, io.env).dim(text)}\n`);
