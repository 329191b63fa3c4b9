import type { CheckStep, Failure, Term } from "../../ir/write-plan.ts";
import type { Catalog, NodeEntry } from "../../schema/catalog.ts";
import { DELETING } from "../../schema/system-items.ts";
import type { Key } from "../../transport/operations.ts";
import { cascades } from "./cascade-ends.ts";

/**
 * Checks that a node is there and stays: nothing new is tied to one that a job deletes, or the job
 * would never see it.
 */
export const existsStep = (
  catalog: Catalog,
  { node, key }: { readonly node: NodeEntry; readonly key: Key },
  failure: Failure,
): CheckStep => {
  const terms: Term[] = [{ kind: "present", failure }];
  if (cascades(catalog, node.name)) terms.push({ kind: "equals", attribute: DELETING, value: undefined, failure });
  return { kind: "check", key, terms, shape: node.shape };
};
