import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { Changes } from "../../ir/logical-write.ts";
import type { PathChange } from "../../schema/check-operands.ts";
import type { AttributePathChange, Term } from "../../ir/write-plan.ts";
import type { Shape } from "../../schema/catalog.ts";
import type { AttributeValue, Item } from "../../transport/operations.ts";
import { addDecimals, readDecimal } from "../../util/decimal.ts";
import { defined } from "../../util/invariant.ts";
import { isNumber, own, type Row, setOwn } from "../../util/row.ts";

/** How changes within attributes are planned. */
export interface PathRules {
  /**
   * The row after the changes.
   *
   * @throws {execute.rejected} for a path whose parent is missing or of another type
   */
  readonly apply: (before: Row, changes: readonly PathChange[]) => Row;
  /** Restores all stored digits of numbers in attributes that are written as a whole because of changes within them. */
  readonly keepDigits: (
    shape: Shape,
    set: Record<string, AttributeValue>,
    read: { readonly paths: readonly PathChange[]; readonly image: Item },
  ) => void;
  /** The changes of the item; `attributeOf` returns the attribute that stores a field, if there is one. */
  readonly encode: (changes: readonly PathChange[], attributeOf: (field: string) => string | undefined) => readonly AttributePathChange[];
  /** The conditions under which DynamoDB finds the parents of the paths. */
  readonly terms: (changes: readonly AttributePathChange[]) => readonly Term[];
}

let loaded: PathRules | undefined;

/** Few programs change values within attributes, so the code that plans such changes is loaded before the first one. */
export const usePathRules = (rules: PathRules): void => {
  loaded = rules;
};

export const pathRules = (): PathRules => defined(loaded, "the rules of paths before a change by path is planned");

/** True if a change sets, removes, adds to or appends to a field or a value within it. */
export const isChanged = ({ set, remove, add, append, paths }: Changes, field: string): boolean =>
  field in set || remove.includes(field) || field in add || field in append || (paths?.some(({ steps }) => steps[0] === field) ?? false);

// If the item need not be read first, DynamoDB rejects these, with the same error code.
export const rejectOperand = (field: string): never => {
  throw new EdgetableError(
    "execute.rejected",
    `"${field}" holds a value of another type; overwrite it instead of using add, append or delete.`,
    {
      details: { attribute: field },
    },
  );
};

const memberType = ([member]: ReadonlySet<unknown>): string =>
  isNumber(member) ? "number" : member instanceof Uint8Array ? "bytes" : typeof member;

/** True if two values are sets whose members have the same type: DynamoDB has sets of text, of numbers and of bytes. */
export const haveOneType = (a: unknown, b: unknown): boolean => a instanceof Set && b instanceof Set && memberType(a) === memberType(b);

/** A value after an addition. */
export const added = (field: string, before: unknown, operand: unknown): unknown => {
  if (operand instanceof Set) {
    if (before === undefined) return operand;
    return haveOneType(before, operand) ? new Set([...(before as ReadonlySet<unknown>), ...operand]) : rejectOperand(field);
  }
  const old = before === undefined ? 0 : before;
  return isNumber(old) ? readDecimal(addDecimals(String(old), String(operand))) : rejectOperand(field);
};

/** The row after the changes. */
export const changedRow = (before: Row, changes: Changes): Row => {
  const row: Record<string, unknown> = Object.assign({}, before, changes.set);
  for (const field of changes.remove) delete row[field];
  for (const field in changes.add) row[field] = added(field, own(before, field), changes.add[field]);
  for (const field in changes.append) {
    const list = own(before, field);
    if (list !== undefined && !Array.isArray(list)) rejectOperand(field);
    row[field] = [...((list as readonly unknown[] | undefined) ?? []), ...(changes.append[field] as unknown[])];
  }
  return changes.paths ? pathRules().apply(row, changes.paths) : row;
};

/** The changes if the old row is known: additions become plain values. */
export const resolvedChanges = (changes: Changes, after: Row): Changes => {
  const set: Record<string, unknown> = { ...changes.set };
  for (const field in changes.add) set[field] = after[field];
  for (const field in changes.append) set[field] = after[field];
  const remove = [...changes.remove];
  for (const { steps } of changes.paths ?? []) {
    const value = own(after, steps[0]);
    if (value !== undefined) setOwn(set, steps[0], value);
    else if (!remove.includes(steps[0])) remove.push(steps[0]);
  }
  return { set, remove, add: {}, append: {} };
};
