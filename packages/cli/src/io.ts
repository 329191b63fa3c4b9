import { fstatSync } from "node:fs";
import type { Readable } from "node:stream";
import { writeWhole } from "./write-whole.ts";

/** One of the two streams that a command writes to. */
export interface Output {
  /** @throws {cli.output} where it goes to a file that takes no more */
  write(text: string): void;
  /** Settles when what was written has gone out, so that a long dump does not pile up in memory. */
  drained(): Promise<void>;
  readonly isTTY: boolean;
  /** Width of the terminal; undefined where lines may be of any length. */
  readonly columns: number | undefined;
}

/** Everything that a command touches outside itself; tests hand in their own. */
export interface Io {
  readonly out: Output;
  readonly err: Output;
  readonly input: Readable;
  /** Whether someone sits at the other end of the input. */
  readonly asks: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

const isFile = (descriptor: number): boolean => {
  try {
    const state = fstatSync(descriptor);
    return state.isFile() || state.isCharacterDevice();
  } catch {
    return false;
  }
};

const fileOutput = (descriptor: number, name: string): Output => ({
  write: (text) => writeWhole(descriptor, text, name),
  drained: () => Promise.resolve(),
  isTTY: false,
  columns: undefined,
});

const outputOf = (stream: NodeJS.WriteStream): Output => {
  let full = false;
  stream.on("drain", () => (full = false));
  return {
    write: (text) => {
      full = !stream.write(text);
    },
    drained: () => (full ? new Promise((resolve) => stream.once("drain", () => resolve())) : Promise.resolve()),
    isTTY: stream.isTTY,
    get columns() {
      return stream.isTTY ? stream.columns : undefined;
    },
  };
};

const answerOutput = (): Output => {
  const { stdout } = process;
  return !stdout.isTTY && isFile(1) ? fileOutput(1, "Standard output") : outputOf(stdout);
};

/** The io of this process. */
export const processIo = (signal: AbortSignal): Io => ({
  out: answerOutput(),
  err: outputOf(process.stderr),
  input: process.stdin,
  asks: process.stdin.isTTY,
  env: process.env,
  cwd: process.cwd(),
  signal,
});
