import { EdgetableError } from "../errors/edgetable-error.ts";
import { sameValue } from "../keys/template.ts";
import type { Shape } from "../schema/catalog.ts";
import type { Retyping } from "../schema/former.ts";
import { own } from "../util/row.ts";
import { shown } from "../util/check-options.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import { decodeValue, encodeValue, sameAttribute } from "./attribute-value.ts";

interface Held {
  readonly shape: Shape;
  readonly field: string;
  readonly value: unknown;
  /** True for a stored value, which neither the message nor the JSON of an error may show. */
  readonly isStored?: boolean;
}

const shownOf = ({ value, isStored }: Held): string => (isStored ? `a stored ${typeof value}` : shown(value));

const fail = ({ shape, field, value, isStored }: Held, says: string, cause?: unknown): never => {
  throw new EdgetableError("migrate.notConvertible", `"${field}" of "${shape.definition}": ${says}`, {
    details: { definition: shape.definition, attribute: field, ...(isStored ? { row: { [field]: value } } : { value }) },
    ...(cause === undefined ? {} : { cause }),
  });
};

const accepts = (shape: Shape, field: string, { from }: Retyping, value: unknown): boolean => {
  const result = from["~standard"].validate(value);
  return "then" in result ? fail({ shape, field, value }, "the schema in `from` is asynchronous. Give one that is not.") : !result.issues;
};

const call = (shape: Shape, field: string, value: unknown, convert: "with" | "back"): unknown => {
  const retyping = shape.former?.[field]?.retyping;
  const held: Held = { shape, field, value, isStored: convert === "with" };
  let made: unknown;
  try {
    made = retyping?.[convert]?.(value);
  } catch (cause) {
    return fail(held, `\`${convert}\` failed for ${shownOf(held)}: ${String(cause)}.`, cause);
  }
  return made === undefined || Number.isNaN(made) ? fail(held, `\`${convert}\` makes no value of ${shownOf(held)}.`) : made;
};

/**
 * Replaces values that an item has in old forms by the forms of the schema.
 *
 * @throws {migrate.notConvertible}
 */
export const renewFields = (shape: Shape, item: Item, row: Record<string, unknown>): void => {
  for (const field in shape.former) {
    const { old, now, retyping } = shape.former[field]!;
    const stored = own(item, old);
    if (stored === undefined || (!retyping && old === now)) continue;
    const value = decodeValue(stored);
    row[field] = value;
    if (!retyping || value === null) continue;
    const isOld = accepts(shape, field, retyping, value);
    if (isOld) row[field] = call(shape, field, value, "with");
    else if (old !== now)
      fail(
        { shape, field, value, isStored: true },
        `\`from\` refuses a ${typeof value} that an item holds. Correct the item or the schema.`,
      );
  }
};

/**
 * The value of a field in its old form.
 *
 * @throws {migrate.notConvertible} for a value that would be read as another
 */
export const oldValue = (shape: Shape, field: string, value: unknown): unknown => {
  const { retyping } = shape.former![field]!;
  if (!retyping || value === null) return value;
  const back = call(shape, field, value, "back");
  let isReversible = accepts(shape, field, retyping, back);
  if (isReversible) {
    const again = call(shape, field, back, "with");
    const isDate = value instanceof Date || again instanceof Date;
    isReversible = isDate ? sameValue(again, value) : sameAttribute(encodeValue(again, field), encodeValue(value, field));
  }
  if (!isReversible)
    fail({ shape, field, value }, `\`back\` converts ${shown(value)} to ${shown(back)}, which \`with\` does not convert back.`);
  return back;
};

/** @throws {migrate.notConvertible} for a value in its new form that would be taken for one in the old form */
export const checkNewForm = (shape: Shape, field: string, value: AttributeValue): AttributeValue => {
  const { old, now, retyping } = shape.former![field]!;
  if (old === now && retyping && !("NULL" in value) && accepts(shape, field, retyping, decodeValue(value)))
    fail(
      { shape, field, value },
      `\`from\` accepts ${shown(decodeValue(value))} too, so it would be converted again. Make \`from\` stricter, or rename the attribute.`,
    );
  return value;
};
