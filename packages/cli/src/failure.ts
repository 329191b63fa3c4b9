import { EdgetableError } from "edgetable";

/** The printable parts of an error. `EdgetableError`s from any copy of the library have this form. */
export interface Failure {
  readonly message: string;
  readonly code: string;
  readonly docs: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  readonly stack: string | undefined;
}

/** An error in the use of the command line. */
export const usageError = (message: string): EdgetableError => new EdgetableError("cli.usage", message);

const systemMessages: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  EACCES: "permission denied",
  EISDIR: "it is a folder",
  ENOTDIR: "part of its path is not a folder",
  ENOSPC: "the disk is full",
  EDQUOT: "your disk quota is used up",
  EFBIG: "the file would exceed the size limit",
  EROFS: "the disk is read-only",
};

/** Errors of the file system that only writing meets. */
const UNWRITABLE = new Set(["ENOSPC", "EDQUOT", "EFBIG", "EROFS"]);

const systemMessage = ({ code = "" }: NodeJS.ErrnoException): string | undefined =>
  Object.hasOwn(systemMessages, code) ? systemMessages[code] : undefined;

/** A file system error in words. */
export const systemProblem = (error: unknown): string => (error instanceof Error ? (systemMessage(error) ?? error.message) : String(error));

/** Reads any thrown value. It identifies the library's errors by class name, because the model may use another copy of the library. */
export const failureOf = (error: unknown): Failure => {
  if (!(error instanceof Error)) return { message: String(error), code: "invariant", docs: undefined, details: {}, stack: undefined };
  const { message, stack } = error;
  const { code, docs, details, path } = error as {
    readonly code?: unknown;
    readonly docs?: string;
    readonly details?: Readonly<Record<string, unknown>>;
    readonly path?: string;
  };
  if (error.name === "EdgetableError" && typeof code === "string") return { message, code, docs, details: details ?? {}, stack };
  const problem = systemMessage(error);
  const isOutput = typeof code === "string" && UNWRITABLE.has(code);
  if (problem !== undefined && (isOutput || path !== undefined)) {
    const place = path === undefined ? "The output cannot be written" : path;
    const known = new EdgetableError(isOutput ? "cli.output" : "cli.usage", `${place}: ${problem}.`, {
      details: path === undefined ? {} : { path },
    });
    return { message: known.message, code: known.code, docs: known.docs, details: known.details, stack };
  }
  return { message, code: "invariant", docs: undefined, details: {}, stack };
};

/** True for an error of the library with this code, whichever copy threw it. */
export const hasCode = (error: unknown, code: string): boolean => failureOf(error).code === code;
