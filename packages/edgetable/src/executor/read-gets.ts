import type { GetStep } from "../ir/physical-plan.ts";
import { sameValue } from "../keys/template.ts";
import { askedKeys, distinctKeys, encodeGet, isExpired } from "../requests/encode-read.ts";
import { shapeOf } from "../requests/decode-item.ts";
import type { Shape } from "../schema/catalog.ts";
import type { Item } from "../transport/operations.ts";
import { valueAt, type Row } from "../util/row.ts";
import { batchGet } from "./batch.ts";
import { type Found, type Reader, readRow, type Rows, shapesOf } from "./read-rows.ts";
import { byIdentity, checkedItem, identity } from "./item-identity.ts";

const foundOf = (reader: Reader, shapes: readonly Shape[], item: Item): readonly Found[] => {
  const shape = shapeOf(reader.session.catalog, shapes, item);
  const row = shape && readRow(reader, [shape, item]);
  return row ? [{ shape, row, item, source: 0 }] : [];
};

/** Reads the items of rows by their keys, in the order of the rows. */
export const readGets = async (reader: Reader, step: GetStep, rows: readonly Row[]): Promise<Rows> => {
  const { session, context } = reader;
  const { catalog } = session;
  const shapes = shapesOf(catalog, step.shapes);
  const asked = askedKeys(catalog, step, rows);
  const keys = distinctKeys(asked);
  const foundFor = (row: Row, item: Item): Found[] =>
    isExpired(catalog, item, context.livingAt) ? [] : foundOf(reader, shapes, item).filter((one) => hasEndsOf(one, row));
  const [only] = keys;
  if (only && keys.length === 1 && !step.many) {
    const output = await session.send("GetItem", encodeGet(catalog, only, step), context);
    const item = checkedItem(catalog, only, output.Item);
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
