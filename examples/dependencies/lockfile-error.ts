export type LockfileErrorCode = "unreadable" | "notJson" | "unsupportedVersion" | "invalid" | "targetMissing";

/** A lockfile that cannot be taken for one. The message says which, why, and what to do. */
export class LockfileError extends Error {
  readonly code: LockfileErrorCode;

  constructor(code: LockfileErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "LockfileError";
    this.code = code;
  }
}
