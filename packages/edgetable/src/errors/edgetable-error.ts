import type { ErrorCode } from "./codes.ts";

/** What may accompany an {@link EdgetableError} beside its code and message. */
export interface ErrorContext {
  /** Typed facts of this occurrence: the value, the rule, the place. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** The error underneath, where there is one. */
  readonly cause?: unknown;
  /** Whether the same call may succeed when it is made again. @default false */
  readonly retryable?: boolean;
  /** The DynamoDB operation and its input, where one was under way. */
  readonly request?: { readonly operation: string; readonly input: unknown };
}

const documentation = "docs/errors.md";

type Details = Readonly<Record<string, unknown>>;

// Details that are whole items or rows: what users stored. They can be read, and loggers pass them over.
const STORED: readonly string[] = ["item", "row", "current"];

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const withHiddenItems = (details: Details): Details => {
  const stored = STORED.filter((name) => isObject(details[name]));
  if (stored.length === 0) return details;
  const copy: Record<string, unknown> = { ...details };
  for (const name of stored) Object.defineProperty(copy, name, { value: details[name], enumerable: false });
  return copy;
};

const jsonOf = (value: unknown): unknown => {
  try {
    return JSON.parse(JSON.stringify(value, (_, member: unknown) => (typeof member === "bigint" ? `${member}n` : member)));
  } catch {
    return undefined;
  }
};

/** What an error is in a log's JSON: no request, and no item. */
interface ErrorJson {
  readonly name: string;
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly docs: string;
  readonly details: unknown;
  readonly operation?: string;
  readonly table?: string;
  readonly index?: string;
}

/**
 * The one error class of Edgetable: tell errors apart by `code`, never by message.
 *
 * Misuse throws at once; outcomes that a caller expects (not found, condition failed) are values and
 * never this error; service faults carry `retryable`. What prints an error prints neither its request nor
 * items and rows in its details; both can be read.
 */
export class EdgetableError extends Error {
  override readonly name = "EdgetableError";
  /** Stable, documented identifier such as `schema.unknownEdge`. */
  readonly code: ErrorCode;
  /** Typed facts of this occurrence. `item`, `row` and `current`, as far as they are objects, are not enumerable. */
  readonly details: Readonly<Record<string, unknown>>;
  readonly retryable: boolean;
  /** The DynamoDB operation and its input, where one was under way; not enumerable. */
  declare readonly request: { readonly operation: string; readonly input: unknown } | undefined;

  constructor(code: ErrorCode, message: string, context: ErrorContext = {}) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause });
    this.code = code;
    this.details = withHiddenItems(context.details ?? {});
    this.retryable = context.retryable ?? false;
    Object.defineProperty(this, "request", { value: context.request, enumerable: false });
  }

  /** Where this error's code is explained. */
  get docs(): string {
    return `${documentation}#${this.code.toLowerCase().replaceAll(".", "")}`;
  }

  /** The error for a log, with the request's operation, table and index. */
  toJSON(): ErrorJson {
    const { name, code, message, retryable, docs, details, request } = this;
    const { TableName: table, IndexName: index } = (isObject(request?.input) ? request.input : {}) as Record<string, string | undefined>;
    return {
      name,
      code,
      message,
      retryable,
      docs,
      details: jsonOf(details),
      ...(request && { operation: request.operation }),
      ...(table !== undefined && { table }),
      ...(index !== undefined && { index }),
    };
  }
}

/** Whether a value is an {@link EdgetableError}, of the given code when one is given. */
export const isEdgetableError = (value: unknown, code?: ErrorCode): value is EdgetableError =>
  value instanceof EdgetableError && (code === undefined || value.code === code);
