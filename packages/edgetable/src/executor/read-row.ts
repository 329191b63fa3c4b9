import { isEdgetableError } from "../errors/edgetable-error.ts";
import { decodeItem, driftedFields, type decodeOwn } from "../requests/decode-item.ts";
import { keyOfItem } from "../requests/item-key.ts";
import type { Shape } from "../schema/shape.ts";
import type { Item } from "../transport/operations.ts";

import type { CallContext, Session } from "./session.ts";

/** What a read needs to make rows of items. */
export interface Reading {
  readonly session: Pick<Session, "catalog">;
  readonly context: CallContext;
}

/**
 * The row of an item; undefined where it cannot be read and the call passes such items over.
 *
 * @throws {keys.unreadable} where the call says so
 */
export const readRow = (
  { session: { catalog }, context }: Reading,
  [shape, item]: readonly [Shape, Item],
  decode: typeof decodeOwn = decodeItem,
): Record<string, unknown> | undefined => {
  let row: Record<string, unknown>;
  try {
    row = decode(catalog, shape, item, context.reading);
  } catch (error) {
    const onStray = context.reading?.onStray;
    if (!isEdgetableError(error) || onStray === "throw") throw error;
    context.meter.strays++;
    if (typeof onStray === "function")
      onStray({ key: keyOfItem(catalog, item), item, reason: `it does not read as "${shape.definition}": ${error.message}` });
    return undefined;
  }
  // Edgetable's own items hold no copies.
  if (!catalog.escapes) for (const one of driftedFields(shape, item, row)) context.meter.drifts({ key: keyOfItem(catalog, item), ...one });
  return row;
};
