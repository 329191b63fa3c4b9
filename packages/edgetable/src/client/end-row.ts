import type { Catalog } from "../schema/catalog.ts";
import { checkEnd } from "../schema/check-id.ts";
import type { Row } from "../util/row.ts";

/**
 * One end of an edge's row: the node's id, with its type where several may stand there.
 *
 * @param types the node types that may stand at this end
 */
export const endRow = (catalog: Catalog, types: readonly string[], given: Row): Row => {
  const { type, id } = checkEnd(catalog, types, given);
  return types.length > 1 ? { type, ...id } : id;
};
