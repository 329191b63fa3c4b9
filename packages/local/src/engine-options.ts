import { EdgetableError } from "edgetable";

/** How to start an engine. */
export interface EngineOptions {
  /** Path of the database file, made when missing. @default in memory, gone when the engine stops */
  readonly file?: string | undefined;
  /** Port on 127.0.0.1, 1 to 65,535. @default a free one */
  readonly port?: number | undefined;
  /** Ends the start, and later the engine, when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the engine must answer a request, 1 to 600,000. @default 10000 */
  readonly startTimeout?: number | undefined;
  /** Path of a dynoxide binary. @default EDGETABLE_ENGINE, the platform package, `dynoxide` on PATH */
  readonly binary?: string | undefined;
}

const check = (option: string, value: number | undefined, most: number): void => {
  if (value === undefined || (Number.isInteger(value) && value >= 1 && value <= most)) return;
  throw new EdgetableError("plan.invalidOption", `${option} is ${value}: give a whole number from 1 to ${most}.`, {
    details: { option, value },
  });
};

/** @throws {plan.invalidOption} when a number is out of its range or the file has no name. */
export const checkOptions = ({ port, startTimeout, file }: EngineOptions): void => {
  check("port", port, 65_535);
  check("startTimeout", startTimeout, 600_000);
  if (file === "")
    throw new EdgetableError("plan.invalidOption", 'file is "": give the path of a database file, or leave it out for one in memory.', {
      details: { option: "file", value: file },
    });
};
