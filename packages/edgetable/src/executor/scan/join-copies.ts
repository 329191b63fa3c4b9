import { isDeepStrictEqual } from "node:util";
import { keyId } from "../../ir/write-plan.ts";
import { keyOfItem } from "../../requests/item-key.ts";
import { shapeOf } from "../../requests/item-shape.ts";
import type { RowOptions } from "../../requests/decode-item.ts";
import { VERSION } from "../../requests/encode-item.ts";
import type { Shape } from "../../schema/shape.ts";
import type { Item, Key } from "../../transport/operations.ts";
import { batchGet } from "../batch-get.ts";
import type { CallContext, Session } from "../session.ts";
import { attributesOf, dumpedRow, edgeRow, type Copy } from "./read-item.ts";
import type { Row } from "../../util/row.ts";

/** What became of a copy that had to be settled. */
export type Settled =
  | { readonly kind: "row"; readonly row: Row; readonly uneven: boolean }
  /** Its row comes by the other copy, or both are gone. */
  | { readonly kind: "nothing" }
  | { readonly kind: "stray"; readonly reason: string };

const holds = ({ holds: held }: Shape, field: string): boolean => !held || held.includes(field);

const leadFirst = (a: Copy, b: Copy): readonly [Copy, Copy] => (a.leads ? [a, b] : [b, a]);

/** One edge of its two copies: what differs on the other one is its `reverse`. */
export const joinCopies = (a: Copy, b: Copy): Settled & { readonly kind: "row" } => {
  const [lead, other] = leadFirst(a, b);
  const mine = attributesOf(lead.row);
  const theirs = attributesOf(other.row);
  const attributes: Record<string, unknown> = { ...mine };
  const reverse: Record<string, unknown> = {};
  for (const field in theirs) {
    if (!holds(lead.shape, field)) attributes[field] = theirs[field];
    else if (field !== VERSION && !isDeepStrictEqual(mine[field], theirs[field])) reverse[field] = theirs[field];
  }
  const lacks = Object.keys(mine).some((field) => !Object.hasOwn(theirs, field) && holds(other.shape, field));
  const row = edgeRow(lead.entry.name, lead.row, attributes);
  const uneven = lacks || !isDeepStrictEqual(mine[VERSION], theirs[VERSION]);
  return { kind: "row", row: Object.keys(reverse).length > 0 ? { ...row, reverse } : row, uneven };
};

interface Reading {
  readonly session: Session;
  readonly consistent: boolean;
  /** Whether attributes that the model does not know are part of a row. */
  readonly rowOptions: RowOptions;
  readonly context: () => CallContext;
}

const readByKey = async ({ session, consistent, context }: Reading, keys: readonly Key[]): Promise<ReadonlyMap<string, Item>> => {
  if (keys.length === 0) return new Map();
  const items = await batchGet(session, { keys, consistent }, context());
  return new Map(items.map((item) => [keyId(keyOfItem(session.catalog, item)), item]));
};

const asOther = ({ session: { catalog }, rowOptions }: Reading, copy: Copy, item: Item): Copy | undefined => {
  const { entry, otherKey, key } = copy;
  const shape = shapeOf(catalog, [...entry.mirrors, ...entry.shapes], item);
  return (
    shape && {
      ...copy,
      shape,
      item,
      row: dumpedRow(catalog, [shape, item], rowOptions),
      leads: !copy.leads,
      key: otherKey,
      otherKey: key,
    }
  );
};

/**
 * What becomes of copies whose other one was not met, at most 100: the others are read by their keys,
 * and where there is none, the copies themselves again.
 */
export const settleCopies = async (reading: Reading, copies: readonly Copy[]): Promise<readonly Settled[]> => {
  const others = await readByKey(
    reading,
    copies.map(({ otherKey }) => otherKey),
  );
  const alone = copies.filter(({ otherKey }) => !others.has(keyId(otherKey)));
  const still = await readByKey(
    reading,
    alone.map(({ key }) => key),
  );
  return copies.map((copy): Settled => {
    const item = others.get(keyId(copy.otherKey));
    const other = item && asOther(reading, copy, item);
    if (other) return copy.leads ? joinCopies(copy, other) : { kind: "nothing" };
    if (!item && !still.has(keyId(copy.key))) return { kind: "nothing" };
    if (copy.leads) return { kind: "row", row: edgeRow(copy.entry.name, copy.row), uneven: true };
    return { kind: "stray", reason: `it is the second copy of "${copy.entry.name}", and the first is not there` };
  });
};
