import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Catalog } from "../schema/catalog.ts";
import { keyTextOf } from "../requests/attribute-value.ts";
import type { AttributeValue, Item, Operation } from "../transport/operations.ts";

const textOf = (value: AttributeValue | undefined): string => keyTextOf(value) ?? JSON.stringify(value ?? null);

/** An item's table key as a text. The first part's length keeps two keys apart that are the same when written in a row. */
export const identity = ({ index: { partitionKey, sortKey } }: Catalog, item: Item): string => {
  const partition = textOf(item[partitionKey]);
  return sortKey === undefined ? partition : `${partition.length}:${partition}${textOf(item[sortKey])}`;
};

/** Items by {@link identity}. */
export const byIdentity = (catalog: Catalog, items: readonly Item[]): ReadonlyMap<string, Item> => {
  const found = new Map<string, Item>();
  for (const item of items) found.set(identity(catalog, item), item);
  return found;
};

/** The error of an answer whose items do not belong to the request: DynamoDB gives no such answer. */
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
