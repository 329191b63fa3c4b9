import type { ErrorCode } from "../errors/codes.ts";

// What a caller can do about errors whose text comes from elsewhere.
const mends: Readonly<Partial<Record<ErrorCode, string>>> = {
  "execute.connection": "Check endpoint, region and network; `edgetable dev` starts an engine on this machine.",
  "execute.expiredCredentials":
    "Get new credentials, such as with `aws sso login`, and connect anew; a function given as `credentials` is asked again by itself.",
  "execute.credentials": "Check the access key, its secret and the session token, and the clock of this machine.",
  "execute.accessDenied": "Allow this operation on the table and its indexes in the policy of these credentials, or use others.",
  "execute.tableNotFound": "`db.table.create()` or `edgetable table create` creates it; check endpoint, region and account.",
};

/** A message with what to do about it, where that follows from the code. */
export const withMend = (code: ErrorCode, message: string): string => {
  const mend = mends[code];
  return mend === undefined ? message : `${message}${/[.?!]$/.test(message) ? "" : "."} ${mend}`;
};
