import { EdgetableError } from "./edgetable-error.ts";

/** The same error with more details, where it is one of ours; it is the cause where there was none. */
export const withDetails = (error: unknown, details: Readonly<Record<string, unknown>>): unknown => {
  if (!(error instanceof EdgetableError)) return error;
  return new EdgetableError(error.code, error.message, {
    details: { ...error.details, ...details },
    cause: error.cause ?? error,
    retryable: error.retryable,
    ...(error.request ? { request: error.request } : {}),
  });
};
