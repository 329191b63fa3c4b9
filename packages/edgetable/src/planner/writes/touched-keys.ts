import type { Changes } from "../../ir/logical-write.ts";
import type { Template } from "../../keys/template.ts";
import type { Catalog } from "../../schema/catalog.ts";
import type { Shape } from "../../schema/shape.ts";
import { valueAt } from "../../util/value-at.ts";
import type { Row } from "../../util/row.ts";

/** What is to happen to the fields of an item of a shape. */
export interface Wanted {
  readonly shape: Shape;
  /** What the call says of the row: its id, and the fields that its table key carries. */
  readonly known: Row;
  readonly changes: Changes;
}

// Which fields the computed attributes of a shape hold: most changes touch none of them.
const keyFields = new WeakMap<Shape, ReadonlySet<string>>();

const keyFieldsOf = (shape: Shape): ReadonlySet<string> => {
  let fields = keyFields.get(shape);
  if (!fields) keyFields.set(shape, (fields = new Set(Object.values(shape.keys).flatMap((template) => template.fields))));
  return fields;
};

/** Whether a change touches a field of a computed attribute. */
export const touchesKeys = ({ shape, changes }: Wanted): boolean => {
  const fields = keyFieldsOf(shape);
  for (const field in changes.set) if (fields.has(field)) return true;
  for (const field of changes.remove) if (fields.has(field)) return true;
  for (const field in changes.add) if (fields.has(field)) return true;
  for (const field in changes.append) if (fields.has(field)) return true;
  return false;
};

const NONE: readonly (readonly [string, Template])[] = [];

/** The computed attributes that a change touches. */
export const touched = (wanted: Wanted): readonly (readonly [string, Template])[] => {
  if (!touchesKeys(wanted)) return NONE;
  const { set, remove, add, append } = wanted.changes;
  const isChanged = (field: string): boolean => field in set || remove.includes(field) || field in add || field in append;
  return Object.entries(wanted.shape.keys).filter(([, template]) => template.fields.some(isChanged));
};

/**
 * Fields of a computed attribute that the call does not give. A removed field leaves nothing to compute,
 * but what the attribute carries beside it must not be lost.
 */
export const unread = ({ shape, known, changes }: Wanted, template: Template): readonly string[] => {
  const { set, remove, add, append } = changes;
  if (template.fields.some((field) => remove.includes(field))) {
    return template.fields.filter(
      (field) => shape.carried.includes(field) && !remove.includes(field) && !(field in set) && valueAt(known, field) === undefined,
    );
  }
  return template.fields.filter((field) => field in add || field in append || (!(field in set) && valueAt(known, field) === undefined));
};

/** Whether an attribute is a part of the table's key. */
export const isTableKey = (catalog: Catalog, attribute: string): boolean =>
  attribute === catalog.index.partitionKey || attribute === catalog.index.sortKey;

/** Whether the item must be read before it can be changed: a computed attribute needs a field that the call does not give. */
export const readsImage = (catalog: Catalog, wanted: Wanted): boolean =>
  touched(wanted).some(([attribute, template]) => isTableKey(catalog, attribute) || unread(wanted, template).length > 0);
