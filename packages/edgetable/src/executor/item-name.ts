import { createHash } from "node:crypto";
import type { Catalog } from "../schema/catalog.ts";
import type { Item, Key } from "../transport/operations.ts";
import { identity } from "./read-rows.ts";

/** The length of a SHA-256 in base64. */
const HASH_LENGTH = 43;

/**
 * A short name for an item, whichever partition of an index it is in: its whole table key, or the SHA-256 of a long one,
 * which no two keys share.
 */
export const nameOf = (catalog: Catalog, item: Item): string => {
  const key = identity(catalog, item);
  return key.length < HASH_LENGTH ? key : createHash("sha256").update(key).digest("base64url");
};

/** The values of an item's table key, in a message. */
export const keyAsText = (key: Key): string => JSON.stringify(Object.values(key).map((value) => Object.values(value)[0] as unknown));
