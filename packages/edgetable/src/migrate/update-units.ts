import { itemBytes, writeUnits } from "../ir/capacity.ts";
import { type Catalog, keyAttributes, projectedAttributes, type Shape } from "../schema/catalog.ts";
import { derivedNames, HIDDEN } from "../schema/facts.ts";
import type { AttributeValue, IndexDescription, Item, TableDescription } from "../transport/operations.ts";
import { own } from "../util/row.ts";

/** An index, as an update of an item pays for it. */
export interface PaidIndex {
  readonly keys: readonly string[];
  /** True if an entry holds the attribute. */
  readonly holds: (attribute: string) => boolean;
}

const describedIndex = ({ KeySchema = [], Projection = {} }: IndexDescription, tableKeys: readonly string[]): PaidIndex => {
  const keys = KeySchema.map(({ AttributeName }) => AttributeName ?? "");
  const held = new Set([...tableKeys, ...keys, ...(Projection.NonKeyAttributes ?? [])]);
  return { keys, holds: (attribute) => Projection.ProjectionType === "ALL" || held.has(attribute) };
};

/** The indexes that a table has, and those that a migration creates. */
export const paidIndexes = (
  catalog: Catalog,
  table: TableDescription,
): { readonly there: readonly PaidIndex[]; readonly all: readonly PaidIndex[] } => {
  const described = [...(table.GlobalSecondaryIndexes ?? []), ...(table.LocalSecondaryIndexes ?? [])];
  const names = new Set(described.map(({ IndexName }) => IndexName));
  const there = described.map((one) => describedIndex(one, keyAttributes(catalog.index)));
  const created = catalog.indexes
    .filter(({ name }) => !names.has(name))
    .map((index): PaidIndex => {
      const held = projectedAttributes(catalog, index);
      return { keys: keyAttributes(index), holds: (attribute) => held?.has(attribute) ?? true };
    });
  return { there, all: [...there, ...created] };
};

const entryOf = ({ keys, holds }: PaidIndex, item: Item): Item | undefined => {
  if (!keys.every((key) => Object.hasOwn(item, key))) return undefined;
  return Object.fromEntries(Object.entries(item).filter(([attribute]) => holds(attribute)));
};

const unitsOf = (one: Item, other: Item = {}): number => writeUnits(Math.max(itemBytes(one), itemBytes(other)));

const isSame = (one: Item, other: Item, attributes: readonly string[]): boolean =>
  attributes.every((attribute) => JSON.stringify(own(one, attribute)) === JSON.stringify(own(other, attribute)));

/**
 * The write units of an update, at most: those of the item, and of each index whose entry changes. A changed key deletes the
 * entry and puts another one (GSI.ThroughputConsiderations.Writes).
 */
export const updateUnits = (indexes: readonly PaidIndex[], before: Item, after: Item): number => {
  let units = unitsOf(before, after);
  for (const index of indexes) {
    const [old, now] = [entryOf(index, before), entryOf(index, after)];
    if (!old || !now) units += old || now ? unitsOf(old ?? {}, now) : 0;
    else if (!isSame(old, now, index.keys)) units += unitsOf(old) + unitsOf(now);
    else if (!isSame(old, now, Object.keys({ ...old, ...now }))) units += unitsOf(old, now);
  }
  return units;
};

/** The item after changes of attributes. */
export const changedItem = (item: Item, { set, remove }: { readonly set: Item; readonly remove: readonly string[] }): Item => {
  const after: Record<string, AttributeValue> = { ...item, ...set };
  for (const attribute of remove) delete after[attribute];
  return after;
};

// As long as a number with all digits.
const OTHER: AttributeValue = { S: "~".repeat(21) };

/** An item of which the values of attributes become others that nobody knows yet. */
export const withOthers = (item: Item, attributes: readonly string[]): Item => ({
  ...item,
  ...Object.fromEntries(attributes.map((attribute) => [attribute, OTHER])),
});

/** The attributes that change where what a row derives from other rows is computed: they, what is kept beside them, and keys of them. */
export const derivedAttributes = (shape: Shape, definition: Parameters<typeof derivedNames>[0]): readonly string[] => {
  const names = derivedNames(definition);
  if (names.length === 0) return [];
  const keys = Object.keys(shape.keys).filter((attribute) => shape.keys[attribute]!.within.some((field) => names.includes(field)));
  return [...names.map((name) => shape.stored[name] ?? name), ...keys, ...HIDDEN];
};
