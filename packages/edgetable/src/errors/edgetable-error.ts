import type { ErrorCode } from "./codes.ts";

/** The optional parts of an {@link EdgetableError}. */
export interface ErrorContext {
  /** Facts of this occurrence: the value, the rule, the place. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** The underlying error. */
  readonly cause?: unknown;
  /** True if the same call may succeed on another try. @default false */
  readonly retryable?: boolean;
  /** The DynamoDB operation that failed, with its input. */
  readonly request?: { readonly operation: string; readonly input: unknown };
}

type Details = Readonly<Record<string, unknown>>;

// Details that hold what users stored. They stay readable but are not enumerable, so that loggers skip them.
const STORED: readonly string[] = ["item", "row", "current"];

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

// As deep as details nest them: `outcomes[0].current`. A value that a user gave may be circular.
const MOST_LEVELS = 4;

/** A value in which items and rows are not enumerable, in lists and objects within it too. */
const hideStored = <Value>(value: Value, level = 0): Value => {
  if (level > MOST_LEVELS || !isObject(value)) return value;
  if (Array.isArray(value)) {
    const members = value.map((member: unknown) => hideStored(member, level + 1));
    return members.every((member, at) => member === value[at]) ? value : (members as Value);
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const hidden: PropertyDescriptorMap = {};
  for (const [name, member] of Object.entries(value)) {
    const isStored = STORED.includes(name) && isObject(member);
    const shown: unknown = isStored ? member : hideStored(member, level + 1);
    if (isStored || shown !== member) hidden[name] = { value: shown, enumerable: !isStored };
  }
  if (Object.keys(hidden).length === 0) return value;
  return Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(value), ...hidden }) as Value;
};

const toJsonValue = (value: unknown): unknown => {
  try {
    return JSON.parse(JSON.stringify(value, (_, member: unknown) => (typeof member === "bigint" ? `${member}n` : member)));
  } catch {
    return undefined;
  }
};

/** An error as JSON, without its request and without items. */
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
 * The error class of Edgetable. Handle errors by `code`, never by message.
 *
 * Misuse throws at once. Expected outcomes (not found, condition failed) are values, not errors. Service faults carry
 * `retryable`. Printing an error shows neither its request nor the items and rows in its details; both can be read.
 */
export class EdgetableError extends Error {
  override readonly name = "EdgetableError";
  /** Stable, documented identifier, such as `schema.unknownEdge`. */
  readonly code: ErrorCode;
  /** Facts of this occurrence. Objects under `item`, `row` and `current` are not enumerable, however deep they are. */
  readonly details: Readonly<Record<string, unknown>>;
  readonly retryable: boolean;
  /** The DynamoDB operation that failed, with its input; not enumerable. */
  declare readonly request: { readonly operation: string; readonly input: unknown } | undefined;

  constructor(code: ErrorCode, message: string, context: ErrorContext = {}) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause });
    this.code = code;
    this.details = hideStored(context.details ?? {});
    this.retryable = context.retryable ?? false;
    Object.defineProperty(this, "request", { value: context.request, enumerable: false });
  }

  /** Makes `instanceof` true for errors of another copy of the library: frameworks bundle one for pages and one for route handlers. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return super[Symbol.hasInstance](value) || (this === EdgetableError && isEdgetableError(value));
  }

  /** The section of the documentation that explains the code. */
  get docs(): string {
    return `docs/errors.md#${this.code.toLowerCase().replaceAll(".", "")}`;
  }

  /** The error as JSON, with the operation, table and index of its request. */
  toJSON(): ErrorJson {
    const { name, code, message, retryable, docs, details, request } = this;
    const { TableName: table, IndexName: index } = (isObject(request?.input) ? request.input : {}) as Record<string, string | undefined>;
    return {
      name,
      code,
      message,
      retryable,
      docs,
      details: toJsonValue(details),
      ...(request && { operation: request.operation }),
      ...(table !== undefined && { table }),
      ...(index !== undefined && { index }),
    };
  }
}

/** True if a value is an {@link EdgetableError}, also of another copy of the library, with the given code if one is given. */
export const isEdgetableError = (value: unknown, code?: ErrorCode): value is EdgetableError =>
  value instanceof Error && value.name === "EdgetableError" && (code === undefined || (value as EdgetableError).code === code);

/** Joins details, including those that are not enumerable. */
export const joinDetails = (some: Details, more: Details): Details => {
  const joined: Record<string, unknown> = {};
  for (const name of Object.getOwnPropertyNames(some)) joined[name] = some[name];
  return Object.assign(joined, more);
};

/** A message with another sentence behind it. */
export const addSentence = (message: string, sentence: string): string => `${message}${/[.?!]$/.test(message) ? "" : "."} ${sentence}`;

/** A copy of an EdgetableError with more details; its cause is the original error if that had none. Returns other errors as they are. */
export const withDetails = (error: unknown, details: Details): unknown => {
  if (!isEdgetableError(error)) return error;
  return new EdgetableError(error.code, error.message, {
    details: joinDetails(error.details, details),
    cause: error.cause ?? error,
    retryable: error.retryable,
    ...(error.request ? { request: error.request } : {}),
  });
};

/**
 * The error of a request that may have taken effect, which says so; other errors as they are.
 *
 * @param repeatable whether a second call would do no harm
 */
export const withEffect = (error: EdgetableError, repeatable: boolean): EdgetableError => {
  const { code, message, details, cause, retryable, request } = error;
  if (details["ambiguous"] !== true && details["afterAmbiguity"] !== true) return error;
  return new EdgetableError(code, addSentence(message, "The write may have taken effect."), {
    details: joinDetails(details, {}),
    cause: cause ?? error,
    retryable: retryable && repeatable,
    ...(request && { request }),
  });
};

/** A copy of an EdgetableError with a redacted request, without its cause, which may contain what was redacted. */
export const withRequest = (error: unknown, request: NonNullable<EdgetableError["request"]>): unknown => {
  if (!isEdgetableError(error)) return error;
  const { code, message, details, retryable } = error;
  return new EdgetableError(code, message, { details, retryable, request });
};
