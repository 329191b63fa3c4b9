import { EdgetableError } from "edgetable";

/** What is printed of an error; `EdgetableError`s of any copy of the library look like this. */
export interface Failure {
  readonly message: string;
  readonly code: string;
  readonly docs: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  readonly stack: string | undefined;
}

/** A wrong usage of the command line. */
export const usageError = (message: string): EdgetableError => new EdgetableError("cli.usage", message);

const systemMessages: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "it may not be read or written by you",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is no folder",
  ENOSPC: "the disk is full",
  EDQUOT: "your share of the disk is used up",
  EFBIG: "no file may be larger",
  EROFS: "the disk is read-only",
};

const systemMessage = ({ code = "" }: NodeJS.ErrnoException): string | undefined =>
  Object.hasOwn(systemMessages, code) ? systemMessages[code] : undefined;

/** What the system says of a file, in words. */
export const systemProblem = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return systemMessage(error) ?? error.message;
};

const fileError = (error: NodeJS.ErrnoException): Failure | undefined => {
  const problem = systemMessage(error);
  if (problem === undefined || error.path === undefined) return undefined;
  return { message: `${error.path}: ${problem}.`, code: "cli.usage", docs: undefined, details: { path: error.path }, stack: error.stack };
};

/** Reads any thrown value. The model's own copy of the library is told by its class's name, never by `instanceof`. */
export const failureOf = (error: unknown): Failure => {
  if (!(error instanceof Error)) return { message: String(error), code: "invariant", docs: undefined, details: {}, stack: undefined };
  const { code, docs, details } = error as {
    readonly code?: unknown;
    readonly docs?: string;
    readonly details?: Readonly<Record<string, unknown>>;
  };
  if (error.name === "EdgetableError" && typeof code === "string")
    return { message: error.message, code, docs, details: details ?? {}, stack: error.stack };
  return fileError(error) ?? { message: error.message, code: "invariant", docs: undefined, details: {}, stack: error.stack };
};

/** Whether a thrown value is an error of the library, whichever copy threw it, with the given code. */
export const hasCode = (error: unknown, code: string): boolean => failureOf(error).code === code;
