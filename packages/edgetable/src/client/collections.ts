import type { Found } from "../executor/read-rows.ts";
import { sameValue } from "../keys/template.ts";
import { lowerCollection } from "../planner/lower-collection.ts";
import { collectionForm, collectionPlan, type CollectionState } from "../query/reads.ts";
import type { EndEntry } from "../schema/catalog.ts";
import type { Row } from "../util/row.ts";
import type { Driver } from "./driver.ts";
import { findNode, readCall } from "./read-call.ts";
import type { Read } from "./page-types.ts";

/** Groups the rows of one partition: the node, its edges and its parts by name. */
const toCollection = (entry: EndEntry, id: Row, found: readonly Found[]): unknown => {
  const edges: Record<string, Row[]> = {};
  const parts: Record<string, Row[]> = {};
  let node: Row | undefined;
  for (const one of found) {
    if (one.shape.kind === "edge") (edges[one.shape.definition] ??= []).push(one.row);
    else if (one.shape.kind === "part") (parts[one.shape.definition] ??= []).push(one.row);
    else if (one.shape.definition === entry.name && entry.idFields.every((field) => sameValue(one.row[field], id[field]))) node = one.row;
  }
  return { node, edges, parts };
};

/** A call that reads a node with its edges and parts. */
export const collect = (
  driver: Driver,
  entry: EndEntry,
  { id, ...from }: { readonly id: Row } & Omit<CollectionState, "node">,
): Read<unknown> => {
  const state = { node: entry.name, ...from };
  const plan = driver.plan(collectionForm(state), () => collectionPlan(state), { collecting: lowerCollection });
  const request = { plan, findNode: findNode(driver), binding: { row: id, values: [] } };
  return readCall(driver, request, (found) => toCollection(entry, id, found));
};
