import { EdgetableError } from "./edgetable-error.ts";

type Details = Readonly<Record<string, unknown>>;

/** Details together, those that are not enumerable too. */
export const joinDetails = (some: Details, more: Details): Details => {
  const joined: Record<string, unknown> = {};
  for (const name of Object.getOwnPropertyNames(some)) joined[name] = some[name];
  return Object.assign(joined, more);
};

/** The same error with more details, where it is one of ours; it is the cause where there was none. */
export const withDetails = (error: unknown, details: Details): unknown => {
  if (!(error instanceof EdgetableError)) return error;
  return new EdgetableError(error.code, error.message, {
    details: joinDetails(error.details, details),
    cause: error.cause ?? error,
    retryable: error.retryable,
    ...(error.request ? { request: error.request } : {}),
  });
};

/** The same error about a request that shows less, without a cause, which might show it. */
export const withRequest = (error: unknown, request: NonNullable<EdgetableError["request"]>): unknown => {
  if (!(error instanceof EdgetableError)) return error;
  const { code, message, details, retryable } = error;
  return new EdgetableError(code, message, { details, retryable, request });
};
