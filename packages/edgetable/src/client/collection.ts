import type { Found } from "../executor/read-rows.ts";
import { sameValue } from "../keys/template.ts";
import type { NodeEntry } from "../schema/catalog.ts";
import type { Row } from "../util/row.ts";

const isItself = (entry: NodeEntry, id: Row, found: Found): boolean =>
  found.shape.kind === "node" &&
  found.shape.definition === entry.name &&
  entry.idFields.every((field) => sameValue(found.row[field], id[field]));

/** Sorts the rows of one partition by what they are. */
export const toCollection = (entry: NodeEntry, id: Row, found: readonly Found[]): unknown => {
  const edges: Record<string, Row[]> = {};
  const parts: Record<string, Row[]> = {};
  let node: Row | undefined;
  for (const one of found) {
    if (one.shape.kind === "edge") (edges[one.shape.definition] ??= []).push(one.row);
    else if (one.shape.kind === "part") (parts[one.shape.definition] ??= []).push(one.row);
    else if (isItself(entry, id, one)) node = one.row;
  }
  return { node, edges, parts };
};
