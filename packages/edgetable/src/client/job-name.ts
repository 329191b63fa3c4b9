import { EdgetableError } from "../errors/edgetable-error.ts";
import { jsonText } from "../util/json-text.ts";

const LONGEST_NAME = 200;

/** @throws {plan.invalidOption} when the name of a job is no text of 1 to 200 characters */
export const checkJobName = (job: string): void => {
  if (typeof job === "string" && job.length >= 1 && job.length <= LONGEST_NAME) return;
  throw new EdgetableError("plan.invalidOption", `job is ${jsonText(job)}: give a name of 1 to ${LONGEST_NAME} characters.`, {
    details: { option: "job", value: job },
  });
};
