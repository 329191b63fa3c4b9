import { createCall, reportOf, type Report, type RunOptions } from "../executor/call.ts";
import type { Found } from "../executor/read-rows.ts";
import { missingOf, runCount, runRead, type ReadRequest } from "../executor/run-read.ts";
import type { Driver } from "./driver.ts";
import type { ReadExplanation } from "./explanation.ts";
import type { Read } from "./read-types.ts";
import { loadOnce } from "../util/load-once.ts";

const loadExplanation = loadOnce(async () => import("./explanation.ts"));

/** Explains a read request as the call would send it now. */
export const explainRequest = async (driver: Driver, request: ReadRequest): Promise<ReadExplanation> => {
  const { explainRead } = await loadExplanation();
  return explainRead(driver.catalog, { ...request, livingAt: driver.context({}).livingAt });
};

/** A call over a read request and what to make of the rows. */
export const readCall = <T>(driver: Driver, request: ReadRequest, give: (found: readonly Found[]) => T): Read<T> => {
  const make = async (options: RunOptions): Promise<Report<T>> => {
    const context = driver.context(options);
    const { found } = await runRead(driver.session, request, context);
    return reportOf(give(found), context.meter, missingOf(request.plan, found));
  };
  return createCall(() => explainRequest(driver, request), make);
};

/** A call that counts what a request would read. */
export const countCall = (driver: Driver, request: ReadRequest): Read<number> =>
  createCall(
    () => explainRequest(driver, request),
    async (options) => {
      const context = driver.context(options);
      return reportOf(await runCount(driver.session, request, context), context.meter);
    },
  );
