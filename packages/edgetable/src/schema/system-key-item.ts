import { createHash } from "node:crypto";
import type { Catalog } from "./catalog.ts";
import { CURSOR_SECRET, CURSORS, hasTextSort, MODEL_RECORD, ZEROS } from "./system-items.ts";

type SystemKeyItem = Record<string, { readonly S: string } | { readonly N: string }>;

/** The key of one of Edgetable's own items. */
export interface SystemKey {
  readonly partition: string;
  readonly sort: string;
}

/** The sort key of an item that is alone in its partition. */
export const OWN = "#";

/** The key of the secret that seals cursors. */
export const cursorSecret: SystemKey = { partition: CURSOR_SECRET, sort: OWN };

/** The key of the model's record. */
export const modelRecord: SystemKey = { partition: MODEL_RECORD, sort: OWN };

/** The key of one piece of a stored cursor. Each has its own partition, so that many writes do not throttle one partition. */
export const storedCursor = (id: string, piece: number): SystemKey => ({ partition: `${CURSORS}${id}#${piece}`, sort: OWN });

const numberFor = (text: string): string =>
  `9${String(BigInt(`0x${createHash("sha256").update(text).digest("hex")}`) % 10n ** 37n).padStart(37, "0")}${ZEROS}`;

/** A system key as the table's own key attributes. */
export const systemKeyItem = ({ index, layout }: Catalog, { partition, sort }: SystemKey): SystemKeyItem => {
  const { partitionKey, sortKey } = index;
  const numeric = layout.types?.[partitionKey] === "N";
  if (sortKey !== undefined && hasTextSort(layout) && !numeric) return { [partitionKey]: { S: partition }, [sortKey]: { S: sort } };
  // A degree guard is in its node's partition, so its distinguishing text comes first.
  const text = sort === OWN ? partition : partition.startsWith("~") ? `${partition}#${sort}` : `${sort}#${partition}`;
  const item: SystemKeyItem = { [partitionKey]: numeric ? { N: numberFor(text) } : { S: text } };
  if (sortKey !== undefined) item[sortKey] = hasTextSort(layout) ? { S: OWN } : { N: "0" };
  return item;
};

/** {@link systemKeyItem} of a node's facts or memos: one partition of the table for all of them, wherever its sort key is text. */
export const factKeyItem = (catalog: Catalog, key: SystemKey): SystemKeyItem => {
  const { index, layout } = catalog;
  if (index.sortKey === undefined || !hasTextSort(layout) || layout.types?.[index.partitionKey] !== "N") return systemKeyItem(catalog, key);
  return { [index.partitionKey]: { N: numberFor(key.partition) }, [index.sortKey]: { S: key.sort } };
};

/** The type attribute of a system item, if the table has one. */
export const systemType = (
  { typeAttribute, typeForm }: Catalog,
  type: string,
): Record<string, { readonly S: string } | { readonly SS: readonly string[] }> =>
  typeAttribute === undefined ? {} : { [typeAttribute]: typeForm === "SS" ? { SS: [type] } : { S: type } };
