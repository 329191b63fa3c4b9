import { isEdgetableError, type EdgetableError } from "../errors/edgetable-error.ts";

/** Whether a request was refused because a condition of its one item did not hold. */
export const isFailedCondition = (error: unknown): error is EdgetableError =>
  isEdgetableError(error) && error.details["fault"] === "ConditionalCheckFailedException";
