import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { LogicalWrite } from "../../ir/logical-write.ts";
import { keyId, type PutStep, type WriteItem } from "../../ir/write-plan.ts";
import { planWrite } from "../../planner/writes/plan-write.ts";
import { edgeCopies } from "../../planner/writes/rules/edge-copies.ts";
import { derive } from "../../planner/writes/rules/index.ts";
import { subjectOf } from "../../planner/writes/working-set.ts";
import { attributeOf, encodeField, encodeItem, keyOf } from "../../requests/encode-item.ts";
import type { Catalog, Shape } from "../../schema/catalog.ts";
import { derivedNames } from "../../schema/facts.ts";
import { timeNames } from "../../schema/timestamps.ts";
import type { AttributeValue, Item, Key } from "../../transport/operations.ts";
import type { Row } from "../../util/row.ts";
import type { RowItem } from "./collisions.ts";

/** How a row is written: in a batch, or by a write of its own, which no other write of the same keys may overlap. */
export type PlannedRow =
  | { readonly kind: "batch"; readonly items: readonly RowItem[] }
  | {
      readonly kind: "alone";
      readonly items: readonly RowItem[];
      readonly write: LogicalWrite;
      readonly keys: readonly string[];
      /** Of a row that counts somewhere: all items that it concerns, so that rows can share a transaction. */
      readonly concerns: readonly string[] | undefined;
    };

const isUnconditionalPut = (item: WriteItem): item is PutStep & { readonly shape: Shape } =>
  item.kind === "put" && item.terms.length === 0 && item.shape !== undefined;

/** An item as far as its row is given: index keys may need what follows from other rows. */
const givenItem = (key: Key, shape: Shape, row: Row): Item => {
  const item: Record<string, AttributeValue> = { ...key };
  for (const field in row) {
    // What only keys hold has no attribute of its own.
    const attribute = field === "from" || field === "to" ? undefined : attributeOf(shape, field);
    if (attribute !== undefined && row[field] !== undefined) item[attribute] = encodeField(shape, field, row[field]);
  }
  return item;
};

/** Plans one row's write; it goes into a batch if its plan consists of puts without conditions. */
export const planRow = (catalog: Catalog, write: LogicalWrite, now: number): PlannedRow => {
  if (write.kind !== "put" && write.kind !== "putEdge")
    throw new EdgetableError("invariant", `a load puts, it does not ${write.kind}: a defect of edgetable`);
  const items: RowItem[] = [];
  const plan = planWrite(catalog, write, {}, { now });
  if (plan.kind === "ready" && plan.items.length > 0 && plan.items.every(({ item }) => isUnconditionalPut(item))) {
    for (const { item } of plan.items as readonly { readonly item: PutStep & { readonly shape: Shape } }[])
      items.push({ id: keyId(item.key), shape: item.shape, item: item.item });
    return { kind: "batch", items };
  }
  const subject = subjectOf(catalog, write);
  const reverse = write.kind === "putEdge" ? write.reverse : {};
  const places = subject.kind === "edge" ? edgeCopies(subject, write.row, reverse) : [{ shape: subject.entry.shape, row: write.row }];
  const isFilled = [...derivedNames(subject.entry.definition), ...timeNames(subject.entry.definition)].length > 0;
  for (const { shape, row } of places) {
    const key = keyOf(catalog, shape, row);
    items.push({ id: keyId(key), shape, item: isFilled ? givenItem(key, shape, row) : encodeItem(catalog, shape, row) });
  }
  const keys = items.map(({ id }) => id);
  // Writes that share a marker or a guard go one after the other, so that they do not cancel each other's transactions.
  const concerns = [...keys];
  for (const { rule, key } of derive(catalog, { subject, before: null, after: write.row })) {
    concerns.push(keyId(key));
    if (rule.shared) keys.push(keyId(key));
  }
  const isCounted = subject.kind !== "node" && keys.length > items.length;
  return { kind: "alone", items, write, keys, concerns: isCounted ? concerns : undefined };
};
