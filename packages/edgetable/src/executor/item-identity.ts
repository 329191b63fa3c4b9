import { createHash } from "node:crypto";
import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Catalog } from "../schema/catalog.ts";
import { keyTextOf } from "../requests/attribute-value.ts";
import type { AttributeValue, Item, Operation } from "../transport/operations.ts";

const keyTextIn = (value: AttributeValue | undefined): string => keyTextOf(value) ?? JSON.stringify(value ?? null);

/** An item's table key as text. The length of its first part tells apart keys that would read the same when joined. */
export const identity = ({ index: { partitionKey, sortKey } }: Catalog, item: Item): string => {
  const partition = keyTextIn(item[partitionKey]);
  return sortKey === undefined ? partition : `${partition.length}:${partition}${keyTextIn(item[sortKey])}`;
};

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

/** Items by {@link identity}. */
export const byIdentity = (catalog: Catalog, items: readonly Item[]): ReadonlyMap<string, Item> => {
  const found = new Map<string, Item>();
  for (const item of items) found.set(identity(catalog, item), item);
  return found;
};

/** The error for an answer whose items do not belong to the request, which DynamoDB never sends. */
export const foreignAnswer = (operation: Operation, what: string): EdgetableError =>
  new EdgetableError(
    "execute.connection",
    `${operation}: the answer is not DynamoDB's, ${what}. Is there a proxy, or another server, at the endpoint?`,
    { retryable: true, details: { ambiguous: true } },
  );

/**
 * Checks that the item of a GetItem has the key that was asked for.
 *
 * @throws {execute.connection} when it has another key, or none
 */
export const checkedItem = (catalog: Catalog, key: Item, item: Item | undefined): Item | undefined => {
  if (item && identity(catalog, item) !== identity(catalog, key)) throw foreignAnswer("GetItem", "its item has another key");
  return item;
};

/** What a batch sent, and what its answer says of it. */
export interface Unprocessed<Sent> {
  readonly operation: Operation;
  readonly sent: readonly Sent[];
  /** What the answer leaves unprocessed, by table. */
  readonly left: Readonly<Record<string, readonly unknown[]>>;
  /** The item or key that a part of the request holds; undefined where it is no such part. */
  readonly keyIn: (part: Sent) => Item | undefined;
}

/**
 * The parts of a batch that DynamoDB left unprocessed, as they were sent: nothing that an answer holds is sent back.
 *
 * @throws {execute.connection} when the answer names anything that was not sent
 */
export const unprocessedOf = <Sent>(catalog: Catalog, { operation, sent, left, keyIn }: Unprocessed<Sent>): readonly Sent[] => {
  const again = new Set<Sent>();
  let byKey: Map<string, Sent> | undefined;
  for (const table in left) {
    for (const part of left[table] as readonly Sent[]) {
      byKey ??= new Map(sent.map((one) => [identity(catalog, keyIn(one) ?? {}), one]));
      const key = keyIn(part);
      const own = table === catalog.table && key ? byKey.get(identity(catalog, key)) : undefined;
      if (own === undefined) throw foreignAnswer(operation, "it leaves something unprocessed that was not sent");
      again.add(own);
    }
  }
  return [...again];
};
