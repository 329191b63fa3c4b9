import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { LogicalWrite, PutEdgeWrite, PutWrite } from "../../ir/logical-write.ts";
import { keyId, type PutStep, type WriteItem } from "../../ir/write-plan.ts";
import { edgeCopies } from "../../planner/writes/rules/edge-copies.ts";
import { planWrite } from "../../planner/writes/plan-write.ts";
import { derive } from "../../planner/writes/rules/index.ts";
import { subjectOf } from "../../planner/writes/working-set.ts";
import { encodeItem, keyOf } from "../../requests/encode-item.ts";
import type { Catalog, Shape } from "../../schema/catalog.ts";
import type { Item } from "../../transport/operations.ts";

/** One item that a row makes. */
export interface RowItem {
  readonly id: string;
  readonly shape: Shape;
  readonly item: Item;
}

/** How a row is written: into a batch, or by a write of its own, which holds its keys until it is done. */
export type PlannedRow =
  | { readonly kind: "batch"; readonly items: readonly RowItem[] }
  | { readonly kind: "alone"; readonly items: readonly RowItem[]; readonly write: LogicalWrite; readonly holds: readonly string[] };

const isFree = (item: WriteItem): item is PutStep & { readonly shape: Shape } =>
  item.kind === "put" && item.terms.length === 0 && item.shape !== undefined;

const placesOf = (
  catalog: Catalog,
  write: PutWrite | PutEdgeWrite,
): readonly { readonly shape: Shape; readonly row: PutWrite["row"] }[] => {
  const subject = subjectOf(catalog, write);
  if (subject.kind === "edge") return edgeCopies(subject, write.row, write.kind === "putEdge" ? write.reverse : {});
  return [{ shape: subject.entry.shape, row: write.row }];
};

// Writes that meet in a marker or a guard go one after the other, so that they do not cancel each other's transactions.
const sharedKeys = (catalog: Catalog, write: PutWrite | PutEdgeWrite): readonly string[] => {
  const keys: string[] = [];
  const change = { subject: subjectOf(catalog, write), before: null, after: write.row };
  for (const { rule, key } of derive(catalog, change)) if (rule.shared) keys.push(keyId(key));
  return keys;
};

/** Plans one row's write; it goes into a batch exactly where its plan is nothing but puts without a condition. */
export const planRow = (catalog: Catalog, write: LogicalWrite): PlannedRow => {
  if (write.kind !== "put" && write.kind !== "putEdge")
    throw new EdgetableError("invariant", `a load puts, it does not ${write.kind}: a defect of edgetable`);
  const plan = planWrite(catalog, write, {});
  const steps = plan.kind === "ready" ? plan.items.map(({ item }) => item) : [];
  if (steps.length > 0 && steps.every(isFree))
    return { kind: "batch", items: steps.map(({ key, shape, item }) => ({ id: keyId(key), shape, item })) };
  const items = placesOf(catalog, write).map(({ shape, row }): RowItem => ({
    id: keyId(keyOf(catalog, shape, row)),
    shape,
    item: encodeItem(catalog, shape, row),
  }));
  return { kind: "alone", items, write, holds: [...items.map(({ id }) => id), ...sharedKeys(catalog, write)] };
};
