import type { GetStep } from "../ir/physical-plan.ts";
import { sameValue } from "../keys/template.ts";
import { decodeItem } from "../requests/decode-item.ts";
import { askedKeys, distinctKeys, encodeGet } from "../requests/encode-get.ts";
import { shapeOf } from "../requests/item-shape.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Shape } from "../schema/shape.ts";
import type { Item } from "../transport/operations.ts";
import { valueAt } from "../util/value-at.ts";
import { batchGet } from "./batch-get.ts";
import { shapesOf, type Found, type Reader, type Rows } from "./found.ts";
import { byIdentity, identity } from "./item-identity.ts";
import type { Row } from "../util/row.ts";

const foundOf = (catalog: Catalog, shapes: readonly Shape[], item: Item): readonly Found[] => {
  const shape = shapeOf(catalog, shapes, item);
  return shape ? [{ shape, row: decodeItem(catalog, shape, item), item, source: 0 }] : [];
};

/** Reads the items of rows by their keys, in the order of the rows. */
export const readGets = async (reader: Reader, step: GetStep, rows: readonly Row[]): Promise<Rows> => {
  const { session, context } = reader;
  const { catalog } = session;
  const shapes = shapesOf(catalog, step.shapes);
  const asked = askedKeys(catalog, step, rows);
  const keys = distinctKeys(asked);
  const foundFor = (row: Row, item: Item): Found[] => foundOf(catalog, shapes, item).filter((one) => hasEndsOf(one, row));
  const [only] = keys;
  if (only && keys.length === 1 && !step.many) {
    const { Item: item } = await session.send("GetItem", encodeGet(catalog, only, step), context);
    return { found: item ? asked.flatMap(({ row }) => foundFor(row, item)) : [], next: undefined };
  }
  const items = keys.length === 0 ? [] : await batchGet(session, { keys, consistent: step.consistent }, context);
  const byKey = byIdentity(catalog, items);
  const found = asked.flatMap(({ row, key }) => {
    const item = byKey.get(identity(catalog, key));
    return item ? foundFor(row, item) : [];
  });
  return { found, next: undefined };
};

// Where the key names one end alone, the edge that is there may lead elsewhere.
const hasEndsOf = ({ shape, row }: Found, asked: Row): boolean =>
  shape.unkeyed.every((path) => sameValue(valueAt(row, path), valueAt(asked, path)));
