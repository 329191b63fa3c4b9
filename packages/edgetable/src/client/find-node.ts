import type { FindNode } from "../executor/run-read.ts";
import { runRead } from "../executor/run-read.ts";
import { lookupForm, lookupPlan } from "../query/reads.ts";
import type { Driver } from "./driver.ts";

/** Finds one node in the way that its key allows: by a GetItem, or by a Query of its partition. */
export const findNode = (driver: Driver): FindNode => {
  const find: FindNode = async (name, id, context) => {
    const state = { of: "node", name, many: false, given: [], consistent: false } as const;
    const plan = driver.plan(lookupForm(state), () => lookupPlan(state));
    const { found } = await runRead(driver.session, { plan, binding: { row: id, values: [] }, limit: 1, findNode: find }, context);
    return found[0]?.row;
  };
  return find;
};
