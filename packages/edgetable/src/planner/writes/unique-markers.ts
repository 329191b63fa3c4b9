import type { Failure, Term, WriteItem } from "../../ir/write-plan.ts";
import { attributeOf } from "../../requests/encode-item.ts";
import { checkLength } from "../../requests/item-key.ts";
import type { Catalog, NodeEntry } from "../../schema/catalog.ts";
import { OWNER, ownerText, systemKeyItem, systemType, UNIQUE_TYPE, uniqueMarker } from "../../schema/system-items.ts";
import type { Item, Key } from "../../transport/operations.ts";
import { STALE } from "./planning.ts";
import type { Row } from "../../util/row.ts";

interface Attribute {
  readonly node: string;
  readonly field: string;
}

const keyFor = (catalog: Catalog, { node, field }: Attribute, row: Row | undefined): Key | undefined => {
  const value = row?.[field];
  if (value === undefined || value === null) return undefined;
  const marker = uniqueMarker(node, field, value);
  checkLength(catalog, catalog.index.partitionKey, marker.partition);
  return systemKeyItem(catalog, marker);
};

const sameKey = (a: Key | undefined, b: Key | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The markers that a row owns. */
export const markerKeys = (catalog: Catalog, entry: NodeEntry, row: Row): readonly Key[] =>
  (entry.definition.unique ?? []).map((field) => keyFor(catalog, { node: entry.name, field }, row)).filter((key) => key !== undefined);

/** The steps that move a node's unique markers from one row to another; undefined: no such row. */
export const markerSteps = (
  catalog: Catalog,
  entry: NodeEntry,
  rows: { readonly before?: Row | undefined; readonly after?: Row | undefined },
): readonly WriteItem[] => {
  const owner = { S: ownerText(entry, rows.after ?? rows.before ?? {}) };
  const mine = (failure: Failure): Term => ({ kind: "equals", attribute: OWNER, value: owner, orAbsent: true, failure });
  return (entry.definition.unique ?? []).flatMap((field): readonly WriteItem[] => {
    const old = keyFor(catalog, { node: entry.name, field }, rows.before);
    const now = keyFor(catalog, { node: entry.name, field }, rows.after);
    if (sameKey(old, now)) return [];
    const steps: WriteItem[] = [];
    if (old) steps.push({ kind: "delete", key: old, terms: [mine(STALE)], shape: undefined });
    if (now) {
      const item = { ...now, ...systemType(catalog, UNIQUE_TYPE), [OWNER]: owner };
      steps.push({ kind: "put", key: now, item, terms: [mine({ reason: "notUnique", attribute: field })], shape: undefined });
    }
    return steps;
  });
};

/** Terms by which a node's unique attributes are as they were read: its markers then are the ones to move. */
export const uniqueTerms = (entry: NodeEntry, fields: readonly string[], image: Item): readonly Term[] =>
  fields.flatMap((field) => {
    const attribute = attributeOf(entry.shape, field);
    return attribute === undefined ? [] : [{ kind: "equals", attribute, value: image[attribute], failure: STALE }];
  });
