import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";

/** The error that ended long work, with what was done until then as `details.report`. */
export const withReport = (error: unknown, report: () => object): unknown => {
  if (!isEdgetableError(error)) return error;
  return new EdgetableError(error.code, error.message, {
    details: { ...error.details, report: report() },
    cause: error.cause ?? error,
    retryable: error.retryable,
    ...(error.request ? { request: error.request } : {}),
  });
};
