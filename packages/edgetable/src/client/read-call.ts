import { createCall, reportOf, type Report, type RunOptions } from "../executor/call.ts";
import type { Found } from "../executor/read-rows.ts";
import { missingOf } from "../executor/hydrate.ts";
import { runCount, runRead, type ReadRequest } from "../executor/run-read.ts";
import type { Driver } from "./driver.ts";
import { explainRead, type ReadExplanation } from "./explanation.ts";
import type { Read } from "./read-types.ts";

/** A call over a read request and what to make of the rows. */
export const readCall = <T>(driver: Driver, request: ReadRequest, give: (found: readonly Found[]) => T): Read<T> => {
  const make = async (options: RunOptions): Promise<Report<T>> => {
    const context = driver.context(options);
    const { found } = await runRead(driver.session, request, context);
    return reportOf(give(found), context.meter, missingOf(request.plan, found));
  };
  const explain = (): ReadExplanation => explainRead(driver.catalog, { ...request, livingAt: driver.context({}).livingAt });
  return createCall(explain, make);
};

/** A call that counts what a request would read. */
export const countCall = (driver: Driver, request: ReadRequest): Read<number> =>
  createCall(
    () => explainRead(driver.catalog, { ...request, livingAt: driver.context({}).livingAt }),
    async (options) => {
      const context = driver.context(options);
      return reportOf(await runCount(driver.session, request, context), context.meter);
    },
  );
