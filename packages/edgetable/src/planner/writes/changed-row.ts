import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { Changes } from "../../ir/logical-write.ts";
import { addDecimals } from "./add-decimals.ts";
import { type Row, own } from "../../util/row.ts";
import { isNumber } from "../../util/json-text.ts";

// DynamoDB refuses these by the same code, where the item need not be read first.
const refuseOperand = (field: string): never => {
  throw new EdgetableError("execute.rejected", `"${field}" holds a value of another type, which nothing can be added to: set it.`, {
    details: { attribute: field },
  });
};

const plus = (field: string, before: unknown, delta: unknown): unknown => {
  if (delta instanceof Set)
    return new Set([...(before instanceof Set ? before : before === undefined ? [] : refuseOperand(field)), ...delta]);
  const old = before === undefined ? 0 : before;
  if (!isNumber(old)) return refuseOperand(field);
  return addDecimals(old, delta as number | bigint);
};

const appended = (field: string, before: unknown = [], more: unknown): readonly unknown[] =>
  Array.isArray(before) ? [...before, ...(more as unknown[])] : refuseOperand(field);

/** The row after the changes. */
export const changedRow = (before: Row, changes: Changes): Row => {
  const row: Record<string, unknown> = Object.assign({}, before, changes.set);
  for (const field of changes.remove) delete row[field];
  for (const field in changes.add) row[field] = plus(field, own(before, field), changes.add[field]);
  for (const field in changes.append) row[field] = appended(field, own(before, field), changes.append[field]);
  return row;
};

/** The changes with the old item at hand: what accumulates becomes a plain value. */
export const resolved = (changes: Changes, after: Row): Changes => {
  const values = [...Object.keys(changes.add), ...Object.keys(changes.append)].map((field) => [field, after[field]]);
  return { set: { ...changes.set, ...Object.fromEntries(values) }, remove: changes.remove, add: {}, append: {} };
};
