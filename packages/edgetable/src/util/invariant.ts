import { EdgetableError } from "../errors/edgetable-error.ts";

/** Ends an exhaustive `switch`. Reaching it is a defect of Edgetable. */
export const unreachable = (value: never): never => {
  throw new EdgetableError("invariant", `unexpected value ${JSON.stringify(value)}: a defect of edgetable`);
};

/** Returns the value. A missing value is a defect of Edgetable. */
export const defined = <T>(value: T | undefined, what: string): T => {
  if (value === undefined) throw new EdgetableError("invariant", `${what} is missing: a defect of edgetable`);
  return value;
};
