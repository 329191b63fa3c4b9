import { reportOf, type Report, type RunOptions } from "../executor/call.ts";
import { runRead, type ReadRequest } from "../executor/run-read.ts";
import { add, amountIn, type Amount } from "../executor/amount.ts";
import type { Driver } from "./driver.ts";

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
  for (const { row } of found) sum = add(sum, amountIn(row, attribute) ?? 0);
  return reportOf(sum, context.meter);
};
