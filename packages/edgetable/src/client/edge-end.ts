import type { Catalog, EdgeEntry } from "../schema/catalog.ts";
import { checkEnd as readEnd } from "../schema/edge-end.ts";

type Row = Readonly<Record<string, unknown>>;

/** One end of an edge's row: the node's id, with its type where several may stand there. */
export const checkEnd = (catalog: Catalog, entry: EdgeEntry | undefined, end: "from" | "to", given: Row): Row => {
  const types = entry?.[end] ?? [];
  const { type, id } = readEnd(catalog, types, given);
  return types.length > 1 ? { type, ...id } : id;
};
