import { reportOf, type Report, type RunOptions } from "../executor/call.ts";
import { runRead, type ReadRequest } from "../executor/run-read.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { add, isAmount, type Amount } from "../executor/walk/amount.ts";
import type { Driver } from "./driver.ts";
import { own } from "../util/row.ts";

/**
 * The sum of an attribute over the rows of a read; those without it, or with null, add nothing.
 *
 * @throws {plan.invalidOption} when a row holds another value that is not a number
 */
export const sumRows = async (
  driver: Driver,
  { request, attribute }: { readonly request: ReadRequest; readonly attribute: string },
  options: RunOptions,
): Promise<Report<Amount>> => {
  const context = driver.context(options);
  const { found } = await runRead(driver.session, request, context);
  let sum: Amount = 0;
  for (const { row } of found) {
    const value = own(row, attribute);
    if (value === undefined || value === null) continue;
    if (!isAmount(value)) {
      throw new EdgetableError("plan.invalidOption", `"${attribute}" is not a number in every row: sum an attribute of numbers.`, {
        details: { attribute, value },
      });
    }
    sum = add(sum, value);
  }
  return reportOf(sum, context.meter);
};
