import { fstatSync, writeSync } from "node:fs";
import type { Readable } from "node:stream";
import { EdgetableError } from "edgetable";
import { systemProblem } from "./failure.ts";

/** One of the two streams that a command writes to. */
export interface Output {
  /** @throws {cli.output} if it writes to a file and the disk is full */
  write(text: string): void;
  /** Writes data byte for byte to a pipe or a file, control characters included. A terminal gets it as by `write`. */
  writeExact?(text: string): void;
  /** Resolves when pending output has been written, so that a long dump does not accumulate in memory. @throws {ReaderGone} */
  drained(): Promise<void>;
  readonly isTTY: boolean;
  /** Width of the terminal; undefined if lines may have any length. */
  readonly columns: number | undefined;
}

/** All side effects of a command. Tests pass their own. */
export interface Io {
  readonly out: Output;
  readonly err: Output;
  readonly input: Readable;
  /** True if a person can answer questions. */
  readonly asks: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** The error for an output that cannot be written. */
export const unwritable = (name: string, cause: unknown): EdgetableError =>
  new EdgetableError("cli.output", `${name} cannot be written: ${systemProblem(cause)}. The output is incomplete.`, {
    cause,
    details: { output: name },
  });

/**
 * Writes a whole text to a file. A disk that fills up accepts part of a write and returns the count; Node's file streams
 * ignore that count and would lose the rest silently.
 *
 * @throws {cli.output} if the file cannot take all of it
 */
export const writeWhole = (file: number, text: string, name: string): void => {
  const bytes = Buffer.from(text);
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
  } catch (error) {
    throw unwritable(name, error);
  }
};

/** Whoever read the output has closed it, as `| head` does: a command that waits for its output has nothing left to do. */
export class ReaderGone extends Error {}

const streamOutput = (stream: NodeJS.WriteStream): Output => {
  let full = false;
  let gone = false;
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const go of waiting) go();
    waiting.clear();
  };
  stream.on("drain", () => {
    full = false;
    wake();
  });
  stream.on("error", ({ code }: NodeJS.ErrnoException) => {
    gone ||= code === "EPIPE";
    wake();
  });
  return {
    write: (text) => {
      if (!gone) full = !stream.write(text);
    },
    drained: () =>
      new Promise((resolve, reject) => {
        const go = (): void => (gone ? reject(new ReaderGone()) : resolve());
        if (full && !gone) waiting.add(go);
        else go();
      }),
    isTTY: stream.isTTY,
    get columns() {
      return stream.isTTY ? stream.columns : undefined;
    },
  };
};

const standardOutput = (): Output => {
  try {
    const state = fstatSync(1);
    if (!process.stdout.isTTY && (state.isFile() || state.isCharacterDevice()))
      return {
        write: (text) => writeWhole(1, text, "Standard output"),
        drained: () => Promise.resolve(),
        isTTY: false,
        columns: undefined,
      };
  } catch {
    // The descriptor is closed; writing to the stream reports it.
  }
  return streamOutput(process.stdout);
};

/** The io of this process. */
export const processIo = (signal: AbortSignal): Io => ({
  out: standardOutput(),
  err: streamOutput(process.stderr),
  input: process.stdin,
  asks: process.stdin.isTTY,
  env: process.env,
  cwd: process.cwd(),
  signal,
});
