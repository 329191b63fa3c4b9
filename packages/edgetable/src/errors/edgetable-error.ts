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

/**
 * The one error class of Edgetable: tell errors apart by `code`, never by message.
 *
 * Misuse throws at once; outcomes that a caller expects (not found, condition failed) are values and
 * never this error; service faults carry `retryable`.
 */
export class EdgetableError extends Error {
  override readonly name = "EdgetableError";
  /** Stable, documented identifier such as `schema.unknownEdge`. */
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;
  readonly retryable: boolean;
  readonly request: { readonly operation: string; readonly input: unknown } | undefined;

  constructor(code: ErrorCode, message: string, context: ErrorContext = {}) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause });
    this.code = code;
    this.details = context.details ?? {};
    this.retryable = context.retryable ?? false;
    this.request = context.request;
  }

  /** Where this error's code is explained. */
  get docs(): string {
    return `${documentation}#${this.code.toLowerCase().replaceAll(".", "")}`;
  }
}

/** Whether a value is an {@link EdgetableError}, of the given code when one is given. */
export const isEdgetableError = (value: unknown, code?: ErrorCode): value is EdgetableError =>
  value instanceof EdgetableError && (code === undefined || value.code === code);
