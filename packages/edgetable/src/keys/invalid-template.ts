import { EdgetableError } from "../errors/edgetable-error.ts";

/** Refuses a template's source text with a sentence that says what is wrong with it. */
export const invalidTemplate = (source: string, sentence: string): never => {
  throw new EdgetableError("schema.invalidModel", `key template ${JSON.stringify(source)}: ${sentence}`, { details: { template: source } });
};
