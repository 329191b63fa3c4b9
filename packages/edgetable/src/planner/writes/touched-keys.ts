import type { Changes } from "../../ir/logical-write.ts";
import type { Template } from "../../keys/template.ts";
import { type Catalog, indexEntries, type Shape } from "../../schema/catalog.ts";
import { valueAt, type Row } from "../../util/row.ts";

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

/** Whether a change says anything of a field. */
export const isChanged = ({ set, remove, add, append }: Changes, field: string): boolean =>
  field in set || remove.includes(field) || field in add || field in append;

/** The computed attributes that hold a changed field. */
const holding = ({ shape, changes }: Wanted): readonly (readonly [string, Template])[] =>
  Object.entries(shape.keys).filter(([, template]) => template.fields.some((field) => isChanged(changes, field)));

/** The computed attributes that a change touches: those that hold a changed field, and what makes an index entry with them. */
export const touched = (catalog: Catalog, wanted: Wanted): readonly (readonly [string, Template])[] => {
  if (!touchesKeys(wanted)) return NONE;
  const changed = holding(wanted);
  const names = new Set(changed.map(([attribute]) => attribute));
  const entries = indexEntries(catalog, wanted.shape);
  let before: number;
  do {
    before = names.size;
    for (const entry of entries) if (entry.some((attribute) => names.has(attribute))) for (const attribute of entry) names.add(attribute);
  } while (names.size > before);
  if (names.size === changed.length) return changed;
  return Object.entries(wanted.shape.keys).filter(([attribute]) => names.has(attribute));
};

/**
 * Fields of a computed attribute that the call does not give. A removed field leaves nothing to compute,
 * but what the attribute carries beside it must not be lost.
 */
export const unread = ({ shape, known, changes }: Wanted, template: Template): readonly string[] => {
  const { set, remove, add, append } = changes;
  if (template.fields.some((field) => remove.includes(field) && !template.optional.includes(field))) {
    return template.fields.filter(
      (field) => shape.carried.includes(field) && !remove.includes(field) && !(field in set) && valueAt(known, field) === undefined,
    );
  }
  return template.fields.filter(
    (field) => field in add || field in append || !(field in set || remove.includes(field) || valueAt(known, field) !== undefined),
  );
};

/** Whether an attribute is a part of the table's key. */
export const isTableKey = (catalog: Catalog, attribute: string): boolean =>
  attribute === catalog.index.partitionKey || attribute === catalog.index.sortKey;

/** Whether the item must be read before it can be changed: an attribute that holds a changed field needs another that the call does not give. */
export const readsImage = (catalog: Catalog, wanted: Wanted): boolean =>
  touchesKeys(wanted) &&
  holding(wanted).some(([attribute, template]) => isTableKey(catalog, attribute) || unread(wanted, template).length > 0);
