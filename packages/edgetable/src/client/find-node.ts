import { runRead, type FindNode } from "../executor/run-read.ts";
import type { LogicalPlan } from "../ir/logical-plan.ts";
import type { Driver } from "./driver.ts";

/** The lookup of a node by its id and the names of further fields that its key needs. */
export const nodeLookup = (name: string, given: readonly string[], consistent: boolean): LogicalPlan => ({
  kind: "lookup",
  of: "node",
  name,
  many: false,
  given,
  consistent,
});

/** Finds one node in the way that its key allows: by a GetItem, or by a Query of its partition. */
export const findNode = (driver: Driver): FindNode => {
  const find: FindNode = async (name, id, context) => {
    const plan = driver.plan(`node|${name}||0`, () => nodeLookup(name, [], false));
    const { found } = await runRead(driver.session, { plan, binding: { row: id, values: [] }, limit: 1, findNode: find }, context);
    return found[0]?.row;
  };
  return find;
};
