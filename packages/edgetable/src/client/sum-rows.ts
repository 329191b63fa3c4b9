import { reportOf, type Report, type RunOptions } from "../executor/call.ts";
import { runRead, type ReadRequest } from "../executor/run-read.ts";
import { add, isAmount, type Amount } from "../executor/walk/amount.ts";
import type { Driver } from "./driver.ts";

/** The sum of an attribute over the rows of a read; those without it add nothing. */
export const sumRows = async (
  driver: Driver,
  { request, attribute }: { readonly request: ReadRequest; readonly attribute: string },
  options: RunOptions,
): Promise<Report<Amount>> => {
  const context = driver.context(options);
  const { found } = await runRead(driver.session, request, context);
  let sum: Amount = 0;
  for (const { row } of found) {
    const value = row[attribute];
    if (isAmount(value)) sum = add(sum, value);
  }
  return reportOf(sum, context.meter);
};
