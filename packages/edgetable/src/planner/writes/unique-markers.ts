import { isEdgetableError } from "../../errors/edgetable-error.ts";
import { type Failure, sameKey, type Term, type WriteItem } from "../../ir/write-plan.ts";
import { attributeOf, checkLength } from "../../requests/encode-item.ts";
import type { Catalog, NodeEntry } from "../../schema/catalog.ts";
import { OWNER, ownerText, systemKeyItem, systemType, UNIQUE_TYPE, uniqueMarker } from "../../schema/system-items.ts";
import type { AttributeValue, Item, Key } from "../../transport/operations.ts";
import { imageOf, type Planning, seen, STALE } from "./planning.ts";
import { type Row, own } from "../../util/row.ts";

interface Attribute {
  readonly node: string;
  readonly field: string;
}

const keyFor = (catalog: Catalog, { node, field }: Attribute, row: Row | undefined): Key | undefined => {
  const value = row && own(row, field);
  if (value === undefined || value === null) return undefined;
  const marker = uniqueMarker(node, field, value);
  checkLength(catalog, catalog.index.partitionKey, marker.partition);
  return systemKeyItem(catalog, marker);
};

const textOf = (value: AttributeValue | undefined): string | undefined => (value && "S" in value ? value.S : undefined);

// What an old value cannot have as a marker (it is older than the rule that it is unique), it never had.
const keyBefore = (catalog: Catalog, attribute: Attribute, row: Row | undefined): Key | undefined => {
  try {
    return keyFor(catalog, attribute, row);
  } catch (error) {
    if (isEdgetableError(error) && error.code.startsWith("keys.")) return undefined;
    throw error;
  }
};

/** The markers that a row owns. */
export const markerKeys = (catalog: Catalog, entry: NodeEntry, row: Row): readonly Key[] =>
  (entry.definition.unique ?? []).map((field) => keyFor(catalog, { node: entry.name, field }, row)).filter((key) => key !== undefined);

/** The rows of a node before and after a write, undefined where there is none, and those of its unique attributes that the write touches. */
export interface MarkedRows {
  readonly before?: Row | undefined;
  readonly after?: Row | undefined;
  readonly fields: readonly string[];
}

/**
 * The steps that move a node's unique markers from one row to another; undefined while a marker has to be read. A value
 * that stays is claimed where its marker is missing: the node may be older than the rule. The marker of another node stays.
 */
export const markerSteps = (
  planning: Planning,
  entry: NodeEntry,
  { before, after, fields }: MarkedRows,
): readonly WriteItem[] | undefined => {
  const { catalog } = planning;
  const owner = { S: ownerText(entry, after ?? before ?? {}) };
  const mine = (failure: Failure): Term => ({ kind: "equals", attribute: OWNER, value: owner, orAbsent: true, failure });
  const isOwner = (marker: Item | null | undefined): boolean => textOf(marker?.[OWNER]) === owner.S;
  const steps: WriteItem[] = [];
  let lacks = false;
  for (const field of fields) {
    const attribute = { node: entry.name, field };
    const old = keyBefore(catalog, attribute, before);
    const now = keyFor(catalog, attribute, after);
    const stays = old !== undefined && now !== undefined && sameKey(old, now);
    const marker = stays ? imageOf(planning, { shape: entry.shape, key: now }, `the marker of its unique "${field}" may be missing`) : null;
    lacks ||= marker === undefined;
    const ofOther = old && seen(planning, old);
    if (old && !stays && (!ofOther || isOwner(ofOther))) steps.push({ kind: "delete", key: old, terms: [mine(STALE)], shape: undefined });
    if (!now || isOwner(marker)) continue;
    const item = { ...now, ...systemType(catalog, UNIQUE_TYPE), [OWNER]: owner };
    steps.push({ kind: "put", key: now, item, terms: [mine({ reason: "notUnique", attribute: field })], shape: undefined });
  }
  return lacks ? undefined : steps;
};

/** Terms by which a node's unique attributes are as they were read: its markers then are the ones to move. */
export const uniqueTerms = (entry: NodeEntry, fields: readonly string[], image: Item): readonly Term[] =>
  fields.flatMap((field) => {
    const attribute = attributeOf(entry.shape, field);
    return attribute === undefined ? [] : [{ kind: "equals", attribute, value: own(image, attribute), failure: STALE }];
  });
